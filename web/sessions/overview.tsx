/** All sessions by what they ask of a person: what needs you first, what is done last. */
import { useState } from 'react';
import { Link } from 'wouter';
import { pulse } from '../api/pulse.ts';
import { useAnswer, useCards, useFigures } from '../api/queries.ts';
import type { Attention, Card } from '../api/types.ts';
import { useNotLiveSince } from '../live/use-live.ts';
import { useParameter } from '../ui/address.ts';
import { money, plural } from '../ui/format.ts';
import { Button, Empty, Failure, Loading } from '../ui/parts.tsx';
import { SessionRow } from './session-row.tsx';

const GROUPS: { name: Attention; title: string }[] = [
  { name: 'needs_you', title: 'Needs you' },
  { name: 'failed', title: 'Failed' },
  { name: 'no_runner', title: 'No runner' },
  { name: 'running', title: 'Working' },
  { name: 'waiting', title: 'Waiting' },
  { name: 'done', title: 'Done' },
];

export function Overview() {
  const [attention, setAttention] = useParameter('attention', '');
  const [kind, setKind] = useParameter('kind', '');
  const [q, setQ] = useParameter('q', '');
  const { data, error, isPending } = useCards({ q: q || undefined, kind: kind || undefined });
  const sessions = data?.sessions ?? [];
  const shown = GROUPS.filter(
    ({ name }) => attention === '' || name === attention || (attention === 'needs_you' && name === 'failed'),
  );
  return (
    <div className="overview">
      <header className="page-head">
        <h1>Sessions</h1>
        <Summary sessions={sessions} />
        <div className="filters">
          <input
            type="search"
            aria-label="Filter"
            placeholder="Filter by goal, project, branch"
            value={q}
            onChange={(event) => setQ(event.target.value)}
          />
          <select aria-label="Kind" value={kind} onChange={(event) => setKind(event.target.value)}>
            <option value="">All kinds</option>
            <option value="goal">Goals</option>
            <option value="workflow">Workflows</option>
            <option value="research">Research</option>
            <option value="beads">Swarms</option>
          </select>
          {attention !== '' && (
            <button type="button" className="button button-quiet" onClick={() => setAttention('')}>
              Show all
            </button>
          )}
        </div>
      </header>
      <Failure error={error} />
      {isPending && <Loading of="sessions" />}
      {data && sessions.length === 0 && (
        <Empty command={'pulse start "what should be done" --verify "npm test"'}>
          {q || kind ? 'No session fits.' : 'No session yet. Start one here, or in a repository:'}{' '}
          <Link href="/new">New session</Link>
        </Empty>
      )}
      {data && sessions.length > 0 && attention === 'needs_you' && !sessions.some(needsSomebody) && (
        <Empty>Nothing needs you.</Empty>
      )}
      {shown.map(({ name, title }) => (
        <Group
          key={name}
          name={name}
          title={title}
          sessions={sessions.filter((card) => card.attention === name)}
        />
      ))}
      {data?.nextCursor && (
        <Older
          key={data.nextCursor}
          cursor={data.nextCursor}
          filter={{ q: q || undefined, kind: kind || undefined }}
        />
      )}
    </div>
  );
}

/** Page by page, when they are asked for. */
function Older({ cursor, filter }: { cursor: string; filter: { q?: string; kind?: string } }) {
  const [isOpen, setIsOpen] = useState(false);
  const { data, error } = useAnswer(
    ['older', cursor, filter],
    (call) => pulse.listCards({ limit: 200, cursor, ...filter }, call),
    { isEnabled: isOpen },
  );
  if (!isOpen) {
    return (
      <p>
        <Button onClick={() => setIsOpen(true)}>Older sessions</Button>
      </p>
    );
  }
  if (!data) return error ? <Failure error={error} /> : <Loading of="older sessions" />;
  return (
    <>
      <Group name="done" title="Older" sessions={data.sessions} />
      {data.nextCursor && <Older key={data.nextCursor} cursor={data.nextCursor} filter={filter} />}
    </>
  );
}

function needsSomebody({ attention }: Card): boolean {
  return attention === 'needs_you' || attention === 'failed';
}

function Group({ name, title, sessions }: { name: Attention; title: string; sessions: Card[] }) {
  if (sessions.length === 0) return null;
  return (
    <section className={`group group-${name}`}>
      <h2>
        {title} <span className="count">{sessions.length}</span>
      </h2>
      <ul className="session-list" aria-label={title}>
        {sessions.map((card) => (
          <SessionRow key={card.id} card={card} />
        ))}
      </ul>
    </section>
  );
}

/** The morning's first questions, in one line. */
function Summary({ sessions }: { sessions: Card[] }) {
  const { data } = useFigures({ from: startOfDay() });
  const since = useNotLiveSince();
  const of = (...groups: Attention[]): number =>
    sessions.filter((card) => groups.includes(card.attention)).length;
  const needs = of('needs_you', 'failed', 'no_runner');
  const total = data?.total;
  return (
    <p className={`summary ${since === null ? '' : 'is-old'}`}>
      <Link href="/?attention=needs_you" className={needs > 0 ? 'tone-needs' : 'tone-quiet'}>
        {needs === 0 ? 'nothing needs you' : needs === 1 ? '1 needs you' : `${needs} need you`}
      </Link>
      <span>{of('running', 'waiting')} working</span>
      {total && (
        <>
          <span className="figures">{money(total.spentUsd)} today</span>
          {total.complete > 0 && (
            <span>
              {total.complete} done: {total.verified} verified
              {total.unverified > 0 && (
                <span className="tone-unverified">, {total.unverified} UNVERIFIED</span>
              )}
            </span>
          )}
          {total.commits > 0 && total.spentUsd > 0 && (
            <span className="figures">
              {money(total.spentUsd / total.commits)} a commit, {plural(total.commits, 'commit')}
            </span>
          )}
        </>
      )}
    </p>
  );
}

function startOfDay(): string {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
}
