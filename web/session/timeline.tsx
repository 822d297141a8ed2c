/** The iterations, newest first. Only rows in view exist; pages of older ones are asked for at the end. */
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import type { Iteration } from '../api/types.ts';
import { useGo } from '../ui/address.ts';
import { count, duration, money, plural, shortSha, words } from '../ui/format.ts';
import { Rows } from '../ui/rows.tsx';
import { Outcome } from '../ui/status.tsx';
import { useNow } from '../ui/time.tsx';

interface TimelineProps {
  items: readonly Iteration[];
  total: number;
  chosen: number;
  addressOf(number: number): string;
  onEnd(): void;
}

const JUMP_FROM = 20;

export function Timeline({ items, total, chosen, addressOf, onEnd }: TimelineProps) {
  return (
    <>
      {total > JUMP_FROM && <Jump total={total} addressOf={addressOf} />}
      <Rows
        label="Timeline"
        className="timeline"
        items={items}
        total={total}
        keyOf={({ id }) => id}
        onEnd={onEnd}
        render={(item) => (
          <Row
            item={item}
            isChosen={item.iteration_number === chosen}
            address={addressOf(item.iteration_number)}
          />
        )}
      />
    </>
  );
}

function Jump({ total, addressOf }: Pick<TimelineProps, 'total' | 'addressOf'>) {
  const [text, setText] = useState('');
  const go = useGo();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = Number(text);
    if (wanted >= 1 && wanted <= total) go(addressOf(wanted));
  };
  return (
    <form className="jump" onSubmit={submit}>
      <label>
        Go to iteration{' '}
        <input inputMode="numeric" size={6} value={text} onChange={(event) => setText(event.target.value)} />
      </label>{' '}
      <span className="dim">of {total}</span>
    </form>
  );
}

function Row({ item, isChosen, address }: { item: Iteration; isChosen: boolean; address: string }) {
  const files = item.files_changed.length;
  return (
    <Link href={address} className="timeline-row" data-row aria-current={isChosen ? 'true' : undefined}>
      <span className="timeline-top">
        <span className="timeline-number">Iteration {item.iteration_number}</span>
        <Outcome word={item.outcome ?? item.status} />
        {item.unit && <code className="dim">{item.unit}</code>}
        {item.attempt > 1 && <span className="dim">attempt {item.attempt}</span>}
      </span>
      {(item.output_summary ?? item.failure_class) && (
        <span className="timeline-summary">{item.output_summary ?? words(item.failure_class ?? '')}</span>
      )}
      <span className="timeline-facts figures">
        {item.signal && <span>{item.signal}</span>}
        {files > 0 && <span>{plural(files, 'file')}</span>}
        {item.commit_hash && <code>{shortSha(item.commit_hash)}</code>}
        <Took item={item} />
        {item.cost_usd !== null && item.cost_usd > 0 && <span>{money(item.cost_usd)}</span>}
        {item.context_tokens > 0 && <span>ctx {count(item.context_tokens)}</span>}
      </span>
    </Link>
  );
}

function Took({ item: { started_at, ended_at } }: { item: Iteration }) {
  const now = useNow();
  if (!started_at) return null;
  const until = ended_at ? Date.parse(ended_at) : now;
  return <span>{duration(Math.max(0, until - Date.parse(started_at)))}</span>;
}
