/** What happened, newest first, and beside it one iteration closely. */
import { useSearchParams } from 'wouter';
import { useIterations } from '../api/queries.ts';
import type { Head } from '../api/types.ts';
import { useActions } from '../shell/actions.ts';
import { useGo } from '../ui/address.ts';
import { Empty, Failure } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { BriefTab } from './brief-tab.tsx';
import { DiffTab } from './diff-tab.tsx';
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
] as const;

interface IterationsProps {
  head: Head;
  iteration: number | undefined;
  tab: string | undefined;
}

export function Iterations({ head, iteration, tab }: IterationsProps) {
  const { session } = head;
  const { id } = session;
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage } = useIterations(id);
  const [parameters] = useSearchParams();
  const go = useGo();
  const newest = session.current_iteration;
  const isAsked = iteration !== undefined && Number.isInteger(iteration);
  const chosen = isAsked ? iteration : newest;
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
  const items = data?.pages.flatMap((page) => page.iterations) ?? [];
  return (
    <div className="columns">
      <section className="column-list">
        <h2>Timeline</h2>
        <Failure error={error} />
        {data && items.length === 0 && <Empty>No iteration has begun.</Empty>}
        <Timeline
          items={items}
          total={head.iterations}
          chosen={chosen}
          addressOf={(number) =>
            `/s/${id}/i/${number}${parameters.get('tab') ? `?tab=${parameters.get('tab')}` : ''}`
          }
          onEnd={() => {
            if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
          }}
        />
      </section>
      <section className="column-detail" aria-label={newest > 0 ? `Iteration ${chosen}` : 'Details'}>
        <Tabs label="Details" tabs={TABS} chosen={chosenTab} onChoose={choose}>
          <TabContent head={head} tab={chosenTab} iteration={newest > 0 ? chosen : null} isAsked={isAsked} />
        </Tabs>
      </section>
    </div>
  );
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
