/** What happened, newest first, and beside it one iteration closely. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { keepPages, useIterationPages } from '../api/iteration-pages.ts';
import type { Head } from '../api/types.ts';
import { useActions } from '../shell/actions.ts';
import { useGo } from '../ui/address.ts';
import { Empty, Failure, Loading } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { BriefTab } from './brief-tab.tsx';
import { DiffTab } from './diff-tab.tsx';
import { EventsTab } from './events-tab.tsx';
import { EvidenceTab } from './evidence-tab.tsx';
import { ResultTab } from './result-tab.tsx';
import { Timeline } from './timeline.tsx';
import { TranscriptTab } from './transcript-tab.tsx';

const TABS = [
  { name: 'result', label: 'Result' },
  { name: 'transcript', label: 'Transcript' },
  { name: 'diff', label: 'Diff' },
  { name: 'evidence', label: 'Evidence' },
  { name: 'brief', label: 'Brief' },
  { name: 'events', label: 'Events' },
] as const;

/** So many beside those in view are asked for with them. */
const NEAR = 50;

interface IterationsProps {
  head: Head;
  iteration: number | undefined;
  tab: string | undefined;
}

export function Iterations({ head, iteration, tab }: IterationsProps) {
  const { session } = head;
  const { id } = session;
  const [parameters] = useSearchParams();
  const go = useGo();
  const newest = Math.max(session.current_iteration, head.iterations);
  const isAsked = iteration !== undefined && Number.isInteger(iteration) && iteration > 0;
  const chosen = isAsked ? iteration : newest;
  const [kept, setKept] = useState<readonly number[]>([]);
  const show = useCallback(
    (from: number, to: number) => setKept((before) => keepPages(before, [from - NEAR, to + NEAR])),
    [],
  );
  // What is chosen is known before it is scrolled to; a newest one that is not looked at is not asked for.
  useEffect(() => show(chosen, chosen), [show, chosen]);
  const { byNumber, error, isThere } = useIterationPages(id, kept);
  const [detail, reveal] = useReveal();
  // The parts of a loop share the parameter.
  const asked = tab ?? TABS.find(({ name }) => name === parameters.get('tab'))?.name;
  const chosenTab = asked ?? (session.now ? 'transcript' : 'result');
  const open = (number: number, name: string): void => go(`/s/${id}/i/${number}?tab=${name}`);
  const choose = (name: string): void =>
    isAsked ? open(chosen, name) : go(`${location.pathname.replace(/\/evidence$/, '')}?tab=${name}`);
  useActions([
    { label: 'Show the diff', key: 'd', run: () => choose('diff') },
    { label: 'Show the evidence', key: 'e', run: () => choose('evidence') },
    { label: 'Show the transcript', run: () => choose('transcript') },
    { label: 'Earlier iteration', key: '[', run: () => chosen > 1 && open(chosen - 1, chosenTab) },
    { label: 'Later iteration', key: ']', run: () => chosen < newest && open(chosen + 1, chosenTab) },
  ]);
  return (
    <div className="columns">
      <section className="column-list">
        <h2>Timeline</h2>
        <Failure error={error} />
        {newest === 0 && <Empty>No iteration has begun.</Empty>}
        {newest > 0 && !isThere && !error && <Loading of="the iterations" />}
        <Timeline
          sessionId={id}
          byNumber={byNumber}
          newest={newest}
          chosen={chosen}
          isAsked={isAsked}
          addressOf={(number) =>
            `/s/${id}/i/${number}${parameters.get('tab') ? `?tab=${parameters.get('tab')}` : ''}`
          }
          onOpen={reveal}
          onRange={show}
        />
      </section>
      <section
        className="column-detail"
        ref={detail}
        tabIndex={-1}
        aria-label={newest > 0 ? `Iteration ${chosen}` : 'Details'}
      >
        <Tabs label="Details" tabs={TABS} chosen={chosenTab} onChoose={choose}>
          <TabContent head={head} tab={chosenTab} iteration={newest > 0 ? chosen : null} isAsked={isAsked} />
        </Tabs>
      </section>
    </div>
  );
}

/** Where one column stands below the other, what was chosen is brought into view, and the focus with it. */
function useReveal(): [React.RefObject<HTMLElement | null>, () => void] {
  const detail = useRef<HTMLElement>(null);
  const reveal = (): void => {
    const element = detail.current;
    if (!element || !isBelow(element)) return;
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: 'start' });
  };
  return [detail, reveal];
}

function isBelow(detail: HTMLElement): boolean {
  const list = detail.previousElementSibling;
  return list !== null && list.getBoundingClientRect().bottom <= detail.getBoundingClientRect().top;
}

interface TabContentProps {
  head: Head;
  tab: string;
  iteration: number | null;
  isAsked: boolean;
}

function TabContent({ head, tab, iteration, isAsked }: TabContentProps) {
  const { id } = head.session;
  if (tab === 'evidence') return <EvidenceTab head={head} />;
  if (tab === 'events') return <EventsTab id={id} iteration={isAsked ? iteration : null} />;
  if (iteration === null) return <Empty>Nothing to show before the first iteration.</Empty>;
  switch (tab) {
    case 'transcript':
      return (
        <TranscriptTab
          key={iteration}
          id={id}
          iteration={iteration}
          isOpen={head.session.current_iteration === iteration}
        />
      );
    case 'diff':
      return <DiffTab id={id} iteration={iteration} isWhole={!isAsked} />;
    case 'brief':
      return <BriefTab id={id} iteration={iteration} />;
    default:
      return <ResultTab id={id} iteration={iteration} judgement={head.judgement} />;
  }
}
