/** `pulse_sessions` and the machinery beside it. Status changes go through `moveSession` alone. */

import { type Insertable, type Selectable, sql, type UpdateObject } from 'kysely';
import { MOST_TOKENS } from '../domain/bounds.ts';
import { PulseError } from '../domain/errors.ts';
import type { FailureClass } from '../domain/failures.ts';
import { type SessionStatus, type StopReason, transition } from '../domain/status.ts';
import { addLateSpending } from './figures.ts';
import type { Schema, SessionControlsTable, SessionsTable } from './schema.ts';
import { findSessionId } from './session-ids.ts';
import type { SessionSettings } from './session-settings.ts';
import { type Db, fromJson, storeNow, toJson } from './store.ts';

export type { SessionChoices, SessionSettings } from './session-settings.ts';

export interface ProgressEntry {
  iteration: number;
  signal: string | null;
  summary: string | null;
  commit: string | null;
  files: string[];
  reason?: string;
  at: string;
}

type SessionColumns = Omit<
  Selectable<SessionsTable>,
  'progress_log' | 'setup' | 'verify' | 'nothing_changed'
>;
export interface Session extends SessionColumns {
  progress_log: ProgressEntry[];
  setup: string[] | null;
  verify: string[];
  /** It is complete, and its tree is its base's. */
  nothing_changed: boolean;
}

/** Retries and waits of the current iteration; settling it clears them. */
export interface RetryCounters {
  crash: number;
  service: number;
  /** Waiting for the service in all, for a breaker too. */
  serviceWaitMs: number;
  overflow: number;
  usageWaits: number;
  usageWaitMs: number;
  /** What is being waited for; `null`: nothing. */
  waiting: WaitingFor | null;
  /** A person asked: so many attempts go through a breaker at once. Settling an iteration leaves it. */
  probes: number;
}

export interface WaitingFor {
  failureClass: FailureClass;
  /** When the first try failed, or a breaker first stood in the way. */
  since: string;
}

export const NO_RETRIES: RetryCounters = {
  crash: 0,
  service: 0,
  serviceWaitMs: 0,
  overflow: 0,
  usageWaits: 0,
  usageWaitMs: 0,
  waiting: null,
  probes: 0,
};
/** Of a session that a person starts or resumes. */
export const ASKED_BY_A_PERSON: RetryCounters = { ...NO_RETRIES, probes: 1 };

export type SessionRequest = 'pause' | 'stop';

type ControlColumns = Omit<Selectable<SessionControlsTable>, 'settings' | 'counters' | 'request'>;
export interface SessionControl extends ControlColumns {
  settings: SessionSettings;
  counters: RetryCounters;
  request: SessionRequest | null;
}

export type NewSession = Omit<
  Insertable<SessionsTable>,
  'progress_log' | 'setup' | 'verify' | 'created_at'
> & {
  setup: string[] | null;
  verify: string[];
};

export async function insertSession(
  db: Db,
  { session, projectId, settings }: { session: NewSession; projectId: string; settings: SessionSettings },
): Promise<void> {
  const counters = session.parent_session_id ? NO_RETRIES : ASKED_BY_A_PERSON;
  await db
    .insertInto('pulse_sessions')
    .values({
      ...session,
      setup: session.setup && toJson(session.setup),
      verify: toJson(session.verify),
      progress_log: '[]',
      created_at: storeNow(),
    })
    .execute();
  await db
    .insertInto('session_controls')
    .values({
      session_id: session.id,
      project_id: projectId,
      settings: toJson(settings),
      lease_owner: null,
      lease_until: null,
      token: 0,
      event_seq: 0,
      request: null,
      request_actor: null,
      answer: null,
      counters: toJson(counters),
      window_from: 0,
      head_sha: null,
      daemon_host: null,
    })
    .execute();
}

export async function findSession(db: Db, id: string): Promise<Session | null> {
  const row = await db.selectFrom('pulse_sessions').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? decodeSession(row) : null;
}

/** The session with this id, or with the one id that begins or ends so. Throws `not_found` or `ambiguous_id`. */
export async function getSession(db: Db, id: string): Promise<Session> {
  return (await findSession(db, id)) ?? (await findSession(db, await findSessionId(db, id)))!;
}

export async function getControl(db: Db, sessionId: string): Promise<SessionControl> {
  const row = await db
    .selectFrom('session_controls')
    .selectAll()
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  return {
    ...row,
    settings: fromJson<SessionSettings>(row.settings),
    counters: { ...NO_RETRIES, ...fromJson<Partial<RetryCounters>>(row.counters) },
    request: row.request as SessionRequest | null,
  };
}

export interface SessionFilter {
  status?: SessionStatus;
  limit?: number;
  /** Only sessions older than this id: ids sort by time. */
  before?: string;
}

/** Newest first; those that work for another are part of that one. */
export async function listSessions(
  db: Db,
  { status, limit = 100, before }: SessionFilter,
): Promise<Session[]> {
  let query = db
    .selectFrom('pulse_sessions')
    .selectAll()
    .where('parent_session_id', 'is', null)
    .orderBy('id', 'desc')
    .limit(limit);
  if (status) query = query.where('status', '=', status);
  if (before) query = query.where('id', '<', before);
  return (await query.execute()).map(decodeSession);
}

export interface SessionStop {
  reason: StopReason;
  /** What a person reads: the agent's question, the limit that was reached, the error. */
  detail: string | null;
}

/**
 * Moves a session by the transition table: the only writer of `status`. A stop records its reason; leaving a stop
 * clears it. Throws `invalid_transition` also when the session is no longer what the caller saw.
 */
export async function moveSession(
  db: Db,
  session: Pick<Session, 'id' | 'status' | 'started_at'>,
  to: SessionStatus,
  stop?: SessionStop,
): Promise<void> {
  const status = transition(session.status, to);
  const isEnd = status === 'complete' || status === 'aborted';
  const moved = await db
    .updateTable('pulse_sessions')
    .set({
      status,
      stop_reason: stop?.reason ?? null,
      blocked_reason: stop?.detail ?? null,
      resume_at: null,
      ...(status === 'running' && session.started_at === null ? { started_at: storeNow() } : {}),
      ended_at: isEnd || stop ? storeNow() : null,
    })
    .where('id', '=', session.id)
    .where('status', '=', session.status)
    .returning('id')
    .executeTakeFirst();
  if (!moved) throw outrun(session);
}

/** For a write that rests on the session's status without changing it. Throws `invalid_transition` as a move does. */
export async function assertStatus(db: Db, session: Pick<Session, 'id' | 'status'>): Promise<void> {
  const now = await findSession(db, session.id);
  if (now?.status !== session.status) throw outrun(session);
}

function outrun({ id, status }: Pick<Session, 'id' | 'status'>): PulseError {
  return new PulseError('invalid_transition', `Session ${id} is no longer ${status}.`, {
    hint: `Another process was faster; pulse status ${id} shows what it is now.`,
  });
}

export async function updateSession(
  db: Db,
  id: string,
  patch: Omit<UpdateObject<Schema, 'pulse_sessions'>, 'status' | 'id'>,
): Promise<void> {
  if (Object.keys(patch).length === 0) return;
  await db.updateTable('pulse_sessions').set(patch).where('id', '=', id).execute();
}

export async function updateControl(
  db: Db,
  sessionId: string,
  patch: Partial<
    Pick<
      SessionControl,
      | 'request'
      | 'request_actor'
      | 'answer'
      | 'counters'
      | 'window_from'
      | 'head_sha'
      | 'settled_iterations'
      | 'settings'
    >
  >,
): Promise<void> {
  if (Object.keys(patch).length === 0) return;
  const { counters, settings, ...rest } = patch;
  await db
    .updateTable('session_controls')
    .set({
      ...rest,
      ...(counters ? { counters: toJson(counters) } : {}),
      ...(settings ? { settings: toJson(settings) } : {}),
    })
    .where('session_id', '=', sessionId)
    .execute();
}

function decodeSession(row: Selectable<SessionsTable>): Session {
  return {
    ...row,
    progress_log: fromJson<ProgressEntry[]>(row.progress_log),
    setup: row.setup === null ? null : fromJson<string[]>(row.setup),
    verify: fromJson<string[]>(row.verify),
    nothing_changed: row.nothing_changed === 1,
  };
}

/** For a run whose attempt is done again: it is settled nowhere else. */
export async function addRunningTime(db: Db, id: string, ms: number): Promise<void> {
  await db
    .updateTable('pulse_sessions')
    .set({ running_ms: sql<number>`running_ms + ${Math.round(ms)}` })
    .where('id', '=', id)
    .execute();
}

/** For a session whose branch another moved for it. */
export async function addCommit(db: Db, id: string): Promise<void> {
  await db
    .updateTable('pulse_sessions')
    .set({ total_commits: sql<number>`total_commits + 1` })
    .where('id', '=', id)
    .execute();
}

/** Adds to what the session has spent, and its parent. Called with the difference since the last call of the same run. */
export async function addSpending(
  db: Db,
  id: string,
  { costUsd, tokens }: { costUsd: number; tokens: number },
): Promise<void> {
  const spenders = await db
    .updateTable('pulse_sessions')
    .set({
      spent_usd: sql<number>`spent_usd + ${costUsd}`,
      total_tokens_used: sql<number>`CASE WHEN total_tokens_used > ${MOST_TOKENS - tokens} THEN ${MOST_TOKENS} ELSE total_tokens_used + ${tokens} END`,
    })
    .where(({ eb, or, selectFrom }) =>
      or([
        eb('id', '=', id),
        eb(
          'id',
          '=',
          selectFrom('pulse_sessions as own').select('own.parent_session_id').where('own.id', '=', id),
        ),
      ]),
    )
    .returning(['id', 'status'])
    .execute();
  const late = spenders.filter(({ status }) => status === 'complete' || status === 'aborted');
  if (late.length > 0)
    await addLateSpending(
      db,
      late.map((session) => session.id),
      { costUsd, tokens },
    );
}

/** Fractions of a dollar do not add up exactly: what is left, put back, may be this much over the limit. */
const ROUNDING_USD = 1e-9;

/** Sets money aside for a run. `false` when it no longer fits under the limit. */
export async function reserveSpending(db: Db, id: string, usd: number): Promise<boolean> {
  const row = await db
    .updateTable('pulse_sessions')
    .set({ reserved_usd: sql<number>`reserved_usd + ${usd}` })
    .where('id', '=', id)
    .where((eb) =>
      eb.or([
        eb('budget_usd', 'is', null),
        eb(sql<number>`spent_usd + reserved_usd + ${usd - ROUNDING_USD}`, '<=', eb.ref('budget_usd')),
      ]),
    )
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives back what was set aside. In SQL: sessions that draw on one budget do so at the same time. */
export async function releaseSpending(db: Db, id: string, usd: number): Promise<void> {
  if (usd === 0) return;
  await db
    .updateTable('pulse_sessions')
    .set({
      reserved_usd: sql<number>`CASE WHEN reserved_usd > ${usd} THEN reserved_usd - ${usd} ELSE 0 END`,
    })
    .where('id', '=', id)
    .execute();
}

/** Whose budget a session draws on: children draw on their parent's. */
export function budgetOwner({ id, parent_session_id }: Pick<Session, 'id' | 'parent_session_id'>): string {
  return parent_session_id ?? id;
}

/** The session with the budget that binds it. */
export async function withSharedBudget(db: Db, session: Session): Promise<Session> {
  if (session.parent_session_id === null) return session;
  const { budget_usd, budget_tokens, spent_usd, reserved_usd, total_tokens_used } = (await findSession(
    db,
    session.parent_session_id,
  ))!;
  return { ...session, budget_usd, budget_tokens, spent_usd, reserved_usd, total_tokens_used };
}

/** The sessions that work for this one, in the order in which they were made. */
export async function listChildren(db: Db, id: string): Promise<Session[]> {
  const rows = await db
    .selectFrom('pulse_sessions')
    .selectAll()
    .where('parent_session_id', '=', id)
    .orderBy('id')
    .execute();
  return rows.map(decodeSession);
}

/** The remotes by way of which the project's sessions have worked. */
export async function listRemotes(db: Db, projectPath: string): Promise<string[]> {
  const rows = await db
    .selectFrom('session_controls as control')
    .innerJoin('pulse_sessions as session', 'session.id', 'control.session_id')
    .select('control.settings')
    .where('session.project_path', '=', projectPath)
    .execute();
  const remotes = rows.map(({ settings }) => fromJson<SessionSettings>(settings).remote);
  return [...new Set(remotes.filter((remote) => remote !== null))];
}
