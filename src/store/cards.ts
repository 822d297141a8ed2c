/** Sessions as lists show them: the row without its log, and who drives it. Bounded, however many there are. */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { SessionStatus } from '../domain/status.ts';
import { queuedSince } from './agent-slots.ts';
import { leaseFrom, type SessionLease } from './leases.ts';
import { BRIEF_COLUMNS, decodeBrief, type SessionBrief } from './overview.ts';
import type { Schema, SessionControlsTable, SessionsTable } from './schema.ts';
import { type Db, storeNow } from './store.ts';

export interface CardRow {
  session: SessionBrief;
  lease: Omit<SessionLease, 'token'>;
  /** It waits for the slot of an agent. */
  isQueued: boolean;
  /** Its newest event. */
  lastSeq: number;
}

export interface CardFilter {
  statuses?: readonly SessionStatus[];
  /** Whether it waits: for a service, a limit or the slot of an agent. */
  isWaiting?: boolean;
  kind?: string;
  /** The id, the name or the path of a project. */
  project?: string;
  /** Only those that work for this one; without it, those that work for no other. */
  parent?: string;
  /** Made or stopped then or later, or not stopped. */
  since?: string;
  /** Each must stand in the goal, the project, the branch or the id. */
  words?: readonly string[];
  /** Only sessions older than this id. */
  before?: string;
  limit: number;
}

/** Newest first. */
export async function listCardRows(db: Db, filter: CardFilter): Promise<CardRow[]> {
  const { statuses, isWaiting, kind, project, parent, since, words = [], before, limit } = filter;
  let query = selectCards(db).orderBy('session.id', 'desc').limit(limit);
  query =
    parent === undefined
      ? query.where('session.parent_session_id', 'is', null)
      : query.where('session.parent_session_id', '=', parent);
  if (statuses) query = query.where('session.status', 'in', statuses);
  if (isWaiting !== undefined) {
    const since = sql<string | null>`coalesce(session.resume_at, ${queuedSince('session.id')})`;
    query = query.where(since, isWaiting ? 'is not' : 'is', null);
  }
  if (kind !== undefined) query = query.where('session.kind', '=', kind);
  if (before !== undefined) query = query.where('session.id', '<', before);
  if (project !== undefined)
    query = query.where(({ eb, or }) =>
      or([
        eb('control.project_id', '=', project),
        eb('session.project_name', '=', project),
        eb('session.project_path', '=', project),
      ]),
    );
  if (since !== undefined)
    query = query.where(({ eb, or }) =>
      or([
        eb('session.created_at', '>=', since),
        eb('session.ended_at', '>=', since),
        eb('session.ended_at', 'is', null),
      ]),
    );
  for (const word of words)
    query = query.where(
      sql<boolean>`lower(session.goal || ' ' || session.project_name || ' ' || session.branch_name || ' ' || session.id)
        LIKE ${`%${word.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`} ESCAPE '\\'`,
    );
  return (await query.execute()).map(decode);
}

/** What tells that a card may have changed. */
export interface Standing {
  id: string;
  mark: string;
}

/** Of all that are open, and of those that ended then or later: one statement, however many there are. */
export async function readStandings(
  db: Db,
  { endedSince, limit }: { endedSince: string; limit: number },
): Promise<Standing[]> {
  const rows = await db
    .selectFrom('pulse_sessions as session')
    .innerJoin('session_controls as control', 'control.session_id', 'session.id')
    .select(['session.id', 'session.status', 'session.spent_usd', 'session.resume_at', 'session.ended_at'])
    .select(['control.event_seq', 'control.lease_owner'])
    .where(({ eb, or }) =>
      or([eb('session.status', 'not in', ['complete', 'aborted']), eb('session.ended_at', '>=', endedSince)]),
    )
    .orderBy('session.id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id, ...row }) => ({ id, mark: Object.values(row).join('|') }));
}

/** The ids of the newest that work for no other. */
export async function newestIds(db: Db, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('pulse_sessions')
    .select('id')
    .where('parent_session_id', 'is', null)
    .orderBy('id', 'desc')
    .limit(count)
    .execute();
  return rows.map(({ id }) => id);
}

/** In no particular order; those that are not there are left out. */
export async function readCardRows(db: Db, ids: readonly string[]): Promise<CardRow[]> {
  if (ids.length === 0) return [];
  return (await selectCards(db).where('session.id', 'in', ids).execute()).map(decode);
}

type CardTables = Schema & { session: SessionsTable; control: SessionControlsTable };

function selectCards(db: Db) {
  const joined: SelectQueryBuilder<CardTables, 'session' | 'control', object> = db
    .selectFrom('pulse_sessions as session')
    .innerJoin('session_controls as control', 'control.session_id', 'session.id');
  return joined
    .select(BRIEF_COLUMNS.map((name) => `session.${name}` as const))
    .select(['control.lease_owner', 'control.lease_until', 'control.event_seq', storeNow().as('now')])
    .select(queuedSince('session.id').as('queued_at'));
}

type SelectedCard = Awaited<ReturnType<ReturnType<typeof selectCards>['execute']>>[number];

function decode({ lease_owner, lease_until, event_seq, now, queued_at, ...row }: SelectedCard): CardRow {
  return {
    session: decodeBrief(row),
    lease: leaseFrom({ lease_owner, lease_until, now }),
    isQueued: queued_at !== null,
    lastSeq: event_seq,
  };
}
