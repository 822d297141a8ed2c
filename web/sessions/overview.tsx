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
import { Pill, useStill } from '../ui/still.tsx';
import { countWords, doneParts, groupsShown, needsPerson } from './counts.ts';
import { SessionRow } from './session-row.tsx';

export function Overview() {
  const [attention, setAttention] = useParameter('attention', '');
  const [kind, setKind] = useParameter('kind', '');
  const [q, setQ] = useParameter('q', '');
  const { data, error, isPending } = useCards({ q: q || undefined, kind: kind || undefined });
  const sessions = data?.sessions ?? [];
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
      {data && sessions.length > 0 && attention === 'needs_you' && !sessions.some(needsPerson) && (
        <Empty>Nothing needs you.</Empty>
      )}
      <Groups sessions={sessions} attention={attention} subject={`${attention} ${kind} ${q}`} />
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
      <Group name="older" title="Older" sessions={data.sessions} />
      {data.nextCursor && <Older key={data.nextCursor} cursor={data.nextCursor} filter={filter} />}
    </>
  );
}

interface GroupsProps {
  sessions: readonly Card[];
  attention: string;
  subject: string;
}

type Place = Pick<Card, 'id' | 'attention'>;

/** Each row is what is known of it now; its place waits while the pointer is about to press something. */
function Groups({ sessions, attention, subject }: GroupsProps) {
  const places: Place[] = sessions.map(({ id, attention: group }) => ({ id, attention: group }));
  const { shown, release, handlers } = useStill(places, { isSame: areSame, subject });
  const now = new Map(sessions.map((card) => [card.id, card]));
  const isShown = new Map(shown.map(({ id, attention: group }) => [id, group]));
  const moved = places.filter(({ id, attention: group }) => isShown.get(id) !== group).length;
  return (
    <div className="still" {...handlers}>
      <Pill count={moved} onPress={release} />
      {groupsShown(attention).map(({ name, title }) => (
        <Group
          key={name}
          name={name}
          title={title}
          sessions={shown.flatMap((place) => (place.attention === name ? (now.get(place.id) ?? []) : []))}
        />
      ))}
    </div>
  );
}

function areSame(a: readonly Place[], b: readonly Place[]): boolean {
  return a.length === b.length && a.every(({ id, attention }, at) => isAt(b[at]!, { id, attention }));
}

function isAt(place: Place, { id, attention }: Place): boolean {
  return place.id === id && place.attention === attention;
}

function Group({ name, title, sessions }: { name: Attention | 'older'; title: string; sessions: Card[] }) {
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
  const needs = countWords(sessions, needsPerson);
  const working = countWords(sessions, (card) => !needsPerson(card) && card.attention !== 'done');
  const total = data?.total;
  return (
    <p className={`summary ${since === null ? '' : 'is-old'}`}>
      <Link href="/?attention=needs_you" className={needs ? 'tone-needs' : 'tone-quiet'}>
        {needs || 'nothing needs you'}
      </Link>
      <span>{working || 'nothing works'}</span>
      {total && (
        <>
          <span className="figures">{money(total.spentUsd)} today</span>
          {total.complete > 0 && (
            <span>
              {total.complete} done:{' '}
              {doneParts(total).map(({ text, isUnverified }, index) => (
                <span key={text} className={isUnverified ? 'tone-unverified' : undefined}>
                  {index > 0 && ', '}
                  {text}
                </span>
              ))}
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
