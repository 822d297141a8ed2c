/** The iterations, newest first. Rows exist where they are looked at, and what is in them is asked for there. */
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import type { Iteration } from '../api/types.ts';
import { useGo } from '../ui/address.ts';
import { count, duration, money, plural, shortSha, words } from '../ui/format.ts';
import { Rows } from '../ui/rows.tsx';
import { Outcome } from '../ui/status.tsx';
import { Pill, useStill } from '../ui/still.tsx';
import { useNow } from '../ui/time.tsx';

interface TimelineProps {
  sessionId: string;
  /** As far as they are known. */
  byNumber: ReadonlyMap<number, Iteration>;
  newest: number;
  chosen: number;
  /** It was chosen by its address: it is brought into view. */
  isAsked: boolean;
  addressOf(number: number): string;
  /** A row was pressed. */
  onOpen(): void;
  /** These numbers are in view. */
  onRange(from: number, to: number): void;
}

const JUMP_FROM = 20;

export function Timeline(props: TimelineProps) {
  const { sessionId, byNumber, newest, chosen, isAsked, addressOf, onOpen, onRange } = props;
  const [isTop, setIsTop] = useState(true);
  const still = useStill(newest, { isSame: Object.is, isAway: !isTop, subject: sessionId });
  const first = isAsked ? Math.max(still.shown, Math.min(chosen, newest)) : still.shown;
  const numbers = Array.from({ length: first }, (_, index) => first - index);
  const [isPulled, setIsPulled] = useState(false);
  const toTop = (): void => {
    still.release();
    setIsPulled(true);
  };
  // To the newest where the pill was pressed, else to the one that the address names.
  const at = isPulled ? 0 : isAsked ? first - chosen : undefined;
  return (
    <>
      {newest > JUMP_FROM && <Jump newest={newest} addressOf={addressOf} />}
      <div className="still" {...still.handlers}>
        <Pill count={newest - first} onPress={toTop} />
        <Rows
          label="Timeline"
          className="timeline"
          items={numbers}
          keyOf={(number) => number}
          at={at}
          onRange={(from, to) => onRange(first - to, first - from)}
          onTop={(isThere) => {
            setIsTop(isThere);
            if (!isThere) setIsPulled(false);
          }}
          render={(number) => (
            <Row
              number={number}
              item={byNumber.get(number)}
              isChosen={number === chosen}
              address={addressOf(number)}
              onOpen={onOpen}
            />
          )}
        />
      </div>
    </>
  );
}

function Jump({ newest, addressOf }: Pick<TimelineProps, 'newest' | 'addressOf'>) {
  const [text, setText] = useState('');
  const go = useGo();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = Number(text);
    if (Number.isInteger(wanted) && wanted >= 1 && wanted <= newest) go(addressOf(wanted));
  };
  return (
    <form className="jump" onSubmit={submit}>
      <label>
        Go to iteration{' '}
        <input inputMode="numeric" size={6} value={text} onChange={(event) => setText(event.target.value)} />
      </label>{' '}
      <span className="dim">of {newest}</span>
    </form>
  );
}

interface RowProps {
  number: number;
  item: Iteration | undefined;
  isChosen: boolean;
  address: string;
  onOpen(): void;
}

function Row({ number, item, isChosen, address, onOpen }: RowProps) {
  return (
    <Link
      href={address}
      className="timeline-row"
      data-row
      aria-current={isChosen ? 'true' : undefined}
      onClick={onOpen}
    >
      <span className="timeline-top">
        <span className="timeline-number">Iteration {number}</span>
        {item && <Outcome word={item.outcome ?? item.status} />}
        {item?.unit && <code className="dim">{item.unit}</code>}
        {item && item.attempt > 1 && <span className="dim">attempt {item.attempt}</span>}
      </span>
      {item ? <What item={item} /> : <span className="timeline-summary dim">…</span>}
    </Link>
  );
}

function What({ item }: { item: Iteration }) {
  const files = item.files_changed.length;
  return (
    <>
      <Summary item={item} />
      <span className="timeline-facts figures">
        {item.signal && <span>{item.signal}</span>}
        {files > 0 && <span>{plural(files, 'file')}</span>}
        {item.commit_hash && <code>{shortSha(item.commit_hash)}</code>}
        <Took item={item} />
        {item.cost_usd !== null && item.cost_usd > 0 && <span>{money(item.cost_usd)}</span>}
        {item.context_tokens > 0 && <span>ctx {count(item.context_tokens)}</span>}
      </span>
    </>
  );
}

/** Of a claim that was rejected what rejected it; what the agent says of it proved to be wrong. */
function Summary({ item: { rejection, output_summary: said, failure_class: failure } }: { item: Iteration }) {
  if (rejection?.command) {
    return (
      <span className="timeline-summary">
        <code>{rejection.command}</code> <span aria-hidden="true">→</span>{' '}
        <b className="tone-failed">{rejection.exit === null ? 'no exit' : `exit ${rejection.exit}`}</b>
      </span>
    );
  }
  const text = rejection?.reason ?? said ?? (failure && words(failure));
  return text ? <span className="timeline-summary">{text}</span> : null;
}

function Took({ item: { started_at, ended_at } }: { item: Iteration }) {
  const now = useNow();
  if (!started_at) return null;
  const until = ended_at ? Date.parse(ended_at) : now;
  return <span>{duration(Math.max(0, until - Date.parse(started_at)))}</span>;
}
