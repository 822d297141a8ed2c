/** What has happened, event by event: what `pulse log` prints, the newest first. */
import { useState } from 'react';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import type { PulseEvent } from '../api/types.ts';
import { words } from '../ui/format.ts';
import { Output } from '../ui/output.tsx';
import { Button, Empty, Failure, Loading } from '../ui/parts.tsx';
import { At } from '../ui/time.tsx';
import { eventWords } from './event-words.ts';
import { SAID_BY_PEOPLE } from './persons-word.ts';

const PAGE = 100;

const KINDS: { name: string; label: string; types?: string }[] = [
  { name: 'all', label: 'all' },
  { name: 'session', label: 'of the session', types: 'session.*,note.*,checks.*,budget.*' },
  { name: 'iterations', label: 'of iterations', types: 'iteration.*,signal.*' },
  { name: 'agent', label: 'of the agent', types: 'agent.*' },
  { name: 'people', label: 'of people', types: SAID_BY_PEOPLE.join(',') },
];

/** `iteration`: only what happened in this one. */
export function EventsTab({ id, iteration }: { id: string; iteration: number | null }) {
  const [kind, setKind] = useState('all');
  const [isOwn, setIsOwn] = useState(true);
  const types = KINDS.find(({ name }) => name === kind)?.types;
  const only = isOwn && iteration !== null ? iteration : undefined;
  return (
    <div className="events">
      <p className="row">
        <label className="inline">
          Events{' '}
          <select value={kind} onChange={({ target }) => setKind(target.value)}>
            {KINDS.map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {iteration !== null && (
          <label className="inline">
            <input type="checkbox" checked={isOwn} onChange={() => setIsOwn(!isOwn)} /> of iteration{' '}
            {iteration} alone
          </label>
        )}
      </p>
      <EventPage key={`${kind} ${only}`} id={id} asked={{ types, iteration: only }} before={null} />
    </div>
  );
}

interface EventPageProps {
  id: string;
  asked: { types: string | undefined; iteration: number | undefined };
  /** `null`: the newest, which more may be added to. */
  before: number | null;
}

function EventPage({ id, asked, before }: EventPageProps) {
  const [isMore, setIsMore] = useState(false);
  // Only the newest page is asked for again when something happens: its name has the session's id.
  const name = before === null ? [`events ${id}`, asked] : ['events before', id, before, asked];
  const { data, error } = useAnswer(name, (call) =>
    pulse.history(
      {
        id,
        limit: PAGE,
        ...given(asked),
        ...(before === null ? { before: Number.MAX_SAFE_INTEGER } : { before }),
      },
      call,
    ),
  );
  if (!data) return error ? <Failure error={error} /> : <Loading of="the events" />;
  if (data.events.length === 0 && before === null) return <Empty>Nothing of this kind has happened.</Empty>;
  return (
    <>
      <ol className="rows" aria-label={before === null ? 'Events' : `Events before ${before}`}>
        {data.events.toReversed().map((event) => (
          <EventRow key={event.seq} event={event} />
        ))}
      </ol>
      {data.nextBefore !== null && !isMore && (
        <p>
          <Button onClick={() => setIsMore(true)}>Earlier events</Button>
        </p>
      )}
      {data.nextBefore !== null && isMore && <EventPage id={id} asked={asked} before={data.nextBefore} />}
    </>
  );
}

function given({ types, iteration }: EventPageProps['asked']) {
  return { ...(types ? { types } : {}), ...(iteration ? { iteration } : {}) };
}

function EventRow({ event }: { event: PulseEvent }) {
  const { seq, type, at, iteration, data } = event;
  return (
    <li className="event">
      <details>
        <summary>
          <span className="dim figures">
            {seq} <At at={at} /> {iteration !== undefined && `it. ${iteration}`}
          </span>{' '}
          <b>{words(type)}</b> {eventWords(data)}
        </summary>
        <Output text={JSON.stringify(data, null, 2)} />
      </details>
    </li>
  );
}
