/** Sessions for a person who looks at all of them: bounded, however many there are. */
import type { SessionStatus } from '../domain/status.ts';
import { queuedSince } from './agent-slots.ts';
import { leaseFrom, type SessionLease } from './leases.ts';
import type { SessionsTable } from './schema.ts';
import type { Session, SessionRequest } from './sessions.ts';
import { type Db, fromJson, storeNow } from './store.ts';

/** Without its log, which may be long. */
export type SessionBrief = Omit<Session, 'progress_log'>;

export interface LiveSession {
  id: string;
  status: SessionStatus;
  resume_at: string | null;
  isQueued: boolean;
  request: SessionRequest | null;
  lease: Omit<SessionLease, 'token'>;
}

/** All that should be running, newest first: only what tells in which group they belong. */
export async function listLive(db: Db): Promise<LiveSession[]> {
  const rows = await db
    .selectFrom('pulse_sessions as session')
    .innerJoin('session_controls as control', 'control.session_id', 'session.id')
    .select([
      'session.id',
      'session.status',
      'session.resume_at',
      'control.lease_owner',
      'control.lease_until',
      'control.request',
      storeNow().as('now'),
      queuedSince('session.id').as('queued_at'),
    ])
    .where('session.status', 'in', ['running', 'pending'])
    .where('session.parent_session_id', 'is', null)
    .orderBy('session.id', 'desc')
    .execute();
  return rows.map(({ lease_owner, lease_until, now, queued_at, ...row }) => ({
    ...row,
    isQueued: queued_at !== null,
    request: row.request as SessionRequest | null,
    lease: leaseFrom({ lease_owner, lease_until, now }),
  }));
}

export async function briefSessions(db: Db, ids: readonly string[]): Promise<SessionBrief[]> {
  if (ids.length === 0) return [];
  const rows = await db.selectFrom('pulse_sessions').select(BRIEF_COLUMNS).where('id', 'in', ids).execute();
  return rows.map(decodeBrief).sort(newestFirst);
}

/** A group of sessions. */
export interface SomeSessions {
  /** Newest first, at most `limit`. */
  sessions: SessionBrief[];
  /** All there are. */
  count: number;
}

/** `endedWithinMs`: only those that stopped so lately, by the store's clock. */
export async function listStopped(
  db: Db,
  { statuses, limit, endedWithinMs }: { statuses: SessionStatus[]; limit: number; endedWithinMs?: number },
): Promise<SomeSessions> {
  let found = db
    .selectFrom('pulse_sessions')
    .where('status', 'in', statuses)
    .where('parent_session_id', 'is', null);
  if (endedWithinMs !== undefined) found = found.where('ended_at', '>=', storeNow(-endedWithinMs));
  const rows = await found
    .select(BRIEF_COLUMNS)
    .orderBy('ended_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  if (rows.length < limit) return { sessions: rows.map(decodeBrief), count: rows.length };
  const all = await found.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return { sessions: rows.map(decodeBrief), count: Number(all.count) };
}

export const BRIEF_COLUMNS = [
  'id',
  'trust',
  'kind',
  'project_name',
  'project_path',
  'goal',
  'max_iterations',
  'current_iteration',
  'status',
  'last_signal',
  'anchor_turn_id',
  'branch_name',
  'branch_lags_at',
  'branch_of',
  'base_branch',
  'base_sha',
  'worktree_path',
  'agent',
  'command',
  'setup',
  'verify',
  'budget_usd',
  'budget_tokens',
  'time_limit_ms',
  'iteration_timeout_ms',
  'idle_timeout_ms',
  'spent_usd',
  'reserved_usd',
  'running_ms',
  'total_commits',
  'total_tokens_used',
  'stop_reason',
  'blocked_reason',
  'resume_at',
  'chat_id',
  'phone_number',
  'discord_thread_id',
  'parent_session_id',
  'created_by',
  'created_at',
  'started_at',
  'ended_at',
  'nothing_changed',
  'merged_at',
  'merged_by',
  'merged_how',
  'merged_into',
  'merged_sha',
  'pull_request',
  'discarded_at',
  'discarded_by',
  'follows',
] as const satisfies readonly (keyof SessionsTable)[];

export function decodeBrief<Row extends { setup: unknown; verify: unknown; nothing_changed: number }>(
  row: Row,
): Omit<Row, 'setup' | 'verify' | 'nothing_changed'> & Pick<Session, 'setup' | 'verify' | 'nothing_changed'> {
  return {
    ...row,
    setup: row.setup === null ? null : fromJson<string[]>(row.setup),
    verify: fromJson<string[]>(row.verify),
    nothing_changed: row.nothing_changed === 1,
  };
}

function newestFirst(a: SessionBrief, b: SessionBrief): number {
  return a.id < b.id ? 1 : -1;
}
