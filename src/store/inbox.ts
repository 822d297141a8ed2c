/** `inbox_tasks`: the attempts. Every write of a worker carries its token; a stale token is refused. */
import { type Selectable, sql } from 'kysely';
import { type AttemptResult, type AttemptSpec, attemptSpecSchema } from '../domain/attempt.ts';
import { PulseError } from '../domain/errors.ts';
import type { SessionStatus } from '../domain/status.ts';
import { readResult, shortenResult } from './attempt-result.ts';
import type { InboxTasksTable } from './schema.ts';
import { type Db, fromJson, isPostgres, storeNow, toJson, WAITING } from './store.ts';

/** An attempt that is not under way has no agent, and none that it waits for. */
const NO_SLOT = { slot_host: null, queued_at: null };

export interface MediaContext {
  pulseSessionId: string;
  iterationNumber: number;
  projectId: string;
  branchName: string;
  sliceId: string | null;
}

type TaskColumns = Omit<Selectable<InboxTasksTable>, 'labels' | 'media_context' | 'spec' | 'result'>;
export interface Task extends TaskColumns {
  labels: string[];
  media_context: MediaContext;
  spec: AttemptSpec;
  result: AttemptResult | null;
}

export interface NewTask {
  id: string;
  content: string;
  spec: AttemptSpec;
  context: MediaContext;
  attempt: number;
  labels: readonly string[];
  delayMs?: number;
}

export async function insertTask(db: Db, task: NewTask): Promise<void> {
  const { pulseSessionId, iterationNumber } = task.context;
  await db
    .insertInto('inbox_tasks')
    .values({
      id: task.id,
      source: 'pulse',
      status: 'pending',
      task_content: task.content,
      project_path: task.spec.projectPath,
      agent: task.spec.agent,
      labels: toJson(task.labels),
      priority: 0,
      media_context: toJson(task.context),
      session_id: pulseSessionId,
      iteration_number: iterationNumber,
      spec: toJson(task.spec),
      run_at: storeNow(task.delayMs ?? 0),
      attempt: task.attempt,
      max_attempts: 100,
      lease_owner: null,
      lease_until: null,
      token: 0,
      reserved_usd: 0,
      idempotency_key: `${pulseSessionId}:${iterationNumber}`,
      result: null,
      created_at: storeNow(),
    })
    .execute();
}

export async function findTask(db: Db, id: string): Promise<Task | null> {
  const row = await db.selectFrom('inbox_tasks').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? decodeTask(row) : null;
}

export interface AttemptGlance {
  sessionStatus: SessionStatus;
  request: string | null;
  status: Task['status'];
  token: number;
  lease_owner: string | null;
  stage: string | null;
}

/** What of an attempt and its session can change while it is executed, without the texts. */
export async function glanceAtAttempt(db: Db, id: string): Promise<AttemptGlance | null> {
  const row = await db
    .selectFrom('inbox_tasks as task')
    .innerJoin('pulse_sessions as session', 'session.id', 'task.session_id')
    .innerJoin('session_controls as control', 'control.session_id', 'task.session_id')
    .select([
      'session.status as sessionStatus',
      'control.request',
      'task.status',
      'task.token',
      'task.lease_owner',
      sql<string | null>`task.result ->> 'stage'`.as('stage'),
    ])
    .where('task.id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

/** Those of these attempts that are over: settled, given up or cancelled. An id that is none is not among them. */
export async function endedTasks(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('inbox_tasks')
    .select('id')
    .where('id', 'in', ids)
    .where('status', 'in', ['complete', 'failed', 'cancelled'])
    .execute();
  return rows.map(({ id }) => id);
}

export interface ClaimOptions {
  owner: string;
  leaseMs: number;
  /** A session's own runner takes only that session's attempts: they run with its caller's environment. */
  sessionId: string;
}

/**
 * The next due attempt, leased to `owner` under a new token; `null` when there is none. One that another process is
 * claiming in this moment is passed over: SQLite has one writer and cannot meet that.
 */
export async function claimTask(db: Db, { owner, leaseMs, sessionId }: ClaimOptions): Promise<Task | null> {
  const row = await db
    .updateTable('inbox_tasks')
    .set({
      status: 'running',
      lease_owner: owner,
      lease_until: storeNow(leaseMs),
      token: sql<number>`token + 1`,
    })
    .where('status', '=', WAITING)
    .where('id', '=', (eb) =>
      eb
        .selectFrom('inbox_tasks as due')
        .select('due.id')
        .where('due.status', '=', WAITING)
        .where('due.session_id', '=', sessionId)
        .where('due.run_at', '<=', storeNow())
        .orderBy('due.priority', 'desc')
        .orderBy('due.run_at')
        .orderBy('due.id')
        .limit(1)
        .$if(isPostgres(db), (due) => due.forUpdate().skipLocked()),
    )
    .returningAll()
    .executeTakeFirst();
  return row ? decodeTask(row) : null;
}

export interface DueTask {
  id: string;
  /** Milliseconds until it is due. */
  inMs: number;
  /** It was due before, and waits for the slot of an agent. */
  isQueued: boolean;
}

/** The session's next attempt; `null` when none is waiting. */
export async function nextDue(db: Db, sessionId: string, nowMs: number): Promise<DueTask | null> {
  const row = await db
    .selectFrom('inbox_tasks')
    .select(['id', 'run_at', 'queued_at', storeNow().as('now')])
    .where('status', '=', WAITING)
    .where('session_id', '=', sessionId)
    .orderBy('run_at')
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const inMs = Math.max(0, Date.parse(row.run_at) - (row.now ? Date.parse(row.now) : nowMs));
  return { id: row.id, inMs, isQueued: row.queued_at !== null };
}

/** Gives a claim back inside the transaction that made it, its token too: nobody has seen that. */
export async function unclaimTask(db: Db, { id }: Pick<Task, 'id'>): Promise<void> {
  await db
    .updateTable('inbox_tasks')
    .set({ status: 'pending', lease_owner: null, lease_until: null, token: sql<number>`token - 1` })
    .where('id', '=', id)
    .execute();
}

/** Gives a claim back as `unclaimTask` does; it is due again at `until`, a time of the store. */
export async function postponeTask(db: Db, { id }: Pick<Task, 'id'>, until: string): Promise<void> {
  await unclaimTask(db, { id });
  await db.updateTable('inbox_tasks').set({ run_at: until }).where('id', '=', id).execute();
}

export async function setTaskReservation(db: Db, { id }: Pick<Task, 'id'>, usd: number): Promise<void> {
  await db.updateTable('inbox_tasks').set({ reserved_usd: usd }).where('id', '=', id).execute();
}

/** Only for an attempt whose agent has not run yet. It no longer waits: it is due now. */
export async function amendTask(
  db: Db,
  id: string,
  { spec, content }: { spec: AttemptSpec; content: string },
): Promise<void> {
  await db
    .updateTable('inbox_tasks')
    .set({ spec: toJson(spec), task_content: content, agent: spec.agent, run_at: storeNow() })
    .where('id', '=', id)
    .execute();
}

/** Prolongs the lease. `false`: it is no longer ours, and the agent must end. */
export async function renewTask(
  db: Db,
  { id, token }: Pick<Task, 'id' | 'token'>,
  leaseMs: number,
): Promise<boolean> {
  const row = await db
    .updateTable('inbox_tasks')
    .set({ lease_until: storeNow(leaseMs) })
    .where('id', '=', id)
    .where('token', '=', token)
    .where('status', '=', 'running')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores what the attempt has reached. `fenced` when another daemon owns it by now, or it was cancelled. */
export async function saveResult(
  db: Db,
  { id, token }: Pick<Task, 'id' | 'token'>,
  result: AttemptResult,
): Promise<void> {
  const row = await db
    .updateTable('inbox_tasks')
    .set({ result: toJson(result) })
    .where('id', '=', id)
    .where('token', '=', token)
    .where('status', '=', 'running')
    .returning('id')
    .executeTakeFirst();
  if (!row) throw fencedTask(id);
}

/** Whether the token is still the newest and the attempt still running. */
export async function holdsTask(db: Db, { id, token }: Pick<Task, 'id' | 'token'>): Promise<boolean> {
  const row = await db
    .selectFrom('inbox_tasks')
    .select(['token', 'status'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.token === token && row.status === 'running';
}

/**
 * As `holdsTask`, and nobody takes the attempt away before this transaction has ended. Asked after the events are
 * written: taking one away writes its events first too, so that neither waits for the other.
 */
export async function keepsTask(db: Db, { id, token }: Pick<Task, 'id' | 'token'>): Promise<boolean> {
  const row = await db
    .selectFrom('inbox_tasks')
    .select('id')
    .where('id', '=', id)
    .where('token', '=', token)
    .where('status', '=', 'running')
    .$if(isPostgres(db), (held) => held.forShare())
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether the attempt stands where it was seen. A daemon that was thought dead may have come to its end meanwhile. */
export async function standsAsSeen(
  db: Db,
  seen: Task,
  /** It also stays so until this transaction has ended. Asked after the events are written, as `keepsTask`. */
  { isKept = false } = {},
): Promise<boolean> {
  const row = await db
    .selectFrom('inbox_tasks')
    .select(['token', 'status', 'result'])
    .where('id', '=', seen.id)
    .$if(isKept && isPostgres(db), (held) => held.forUpdate())
    .executeTakeFirst();
  if (row?.token !== seen.token || row.status !== seen.status) return false;
  const result = row.result === null ? null : readResult(row.result);
  return result?.stage === seen.result?.stage;
}

/** Gives the lease back before the attempt is done: the session's runner need not wait for it to run out. */
export async function giveBackTask(db: Db, { id, token }: Pick<Task, 'id' | 'token'>): Promise<void> {
  await db
    .updateTable('inbox_tasks')
    .set({ lease_owner: null, lease_until: null })
    .where('id', '=', id)
    .where('token', '=', token)
    .where('status', '=', 'running')
    .execute();
}

/**
 * Ends the attempt for good. A daemon that still works on it is fenced by the new token. The iteration has its brief and
 * the outcome, so only that part of `result` stays which is stored nowhere else.
 */
export async function closeTask(
  db: Db,
  id: string,
  status: 'complete' | 'failed' | 'cancelled',
  ended?: {
    result: AttemptResult;
    /** What its loop still needs of what the agent reported. */
    keptOwn?: unknown;
  },
): Promise<void> {
  await db
    .updateTable('inbox_tasks')
    .set({
      status,
      token: sql<number>`token + 1`,
      lease_owner: null,
      lease_until: null,
      reserved_usd: 0,
      ...NO_SLOT,
      task_content: '',
      ...(ended ? { result: toJson(shortenResult(ended.result, ended.keptOwn)) } : {}),
    })
    .where('id', '=', id)
    .execute();
}

export interface Requeue {
  attempt: number;
  content: string;
  spec: AttemptSpec;
  delayMs: number;
  /** Kept when the agent had already ended: then only the rest is done again. */
  result: AttemptResult | null;
}

/** Back to pending for another daemon, or for the same one later. The old token is fenced. */
export async function requeueTask(db: Db, id: string, requeue: Requeue): Promise<void> {
  await db
    .updateTable('inbox_tasks')
    .set({
      status: 'pending',
      attempt: requeue.attempt,
      task_content: requeue.content,
      agent: requeue.spec.agent,
      spec: toJson(requeue.spec),
      run_at: storeNow(requeue.delayMs),
      result: requeue.result && toJson(requeue.result),
      token: sql<number>`token + 1`,
      lease_owner: null,
      lease_until: null,
      reserved_usd: 0,
      ...NO_SLOT,
    })
    .where('id', '=', id)
    .execute();
}

/** Whether the store calls the attempt's lease over, and by which moment of its clock. */
export async function readTaskLease(db: Db, id: string): Promise<{ isOver: boolean; storeNowMs: number }> {
  const row = await db
    .selectFrom('inbox_tasks')
    .select([sql<number>`lease_until < ${storeNow()}`.as('over'), storeNow().as('now')])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return { isOver: Boolean(row.over), storeNowMs: Date.parse(row.now) };
}

function decodeTask(row: Selectable<InboxTasksTable>): Task {
  return {
    ...row,
    labels: fromJson<string[]>(row.labels),
    media_context: fromJson<MediaContext>(row.media_context),
    spec: attemptSpecSchema.parse(fromJson(row.spec)),
    result: row.result === null ? null : readResult(row.result),
  };
}

export function fencedTask(id: string): PulseError {
  return new PulseError('fenced', `The attempt ${id} is no longer this daemon's.`, {
    hint: 'Its agent is ended; the attempt continues elsewhere or was cancelled.',
  });
}
