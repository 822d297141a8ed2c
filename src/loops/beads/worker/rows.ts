/** `swarms`, `bead_workers`, `bead_tries`. */
import type { Selectable } from 'kysely';
import { type Db, fromJson, storeNow, toJson } from '../../../store/store.ts';
import {
  type Again,
  againSchema,
  CONFLICTS_OF_A_WORKER,
  type Completion,
  completionSchema,
  type SwarmMode,
} from './model.ts';
import { type BeadTriesTable, type BeadWorkersTable, type SwarmsTable, withWorkerTables } from './tables.ts';

export interface Swarm extends Omit<Selectable<SwarmsTable>, 'mode'> {
  mode: SwarmMode;
}

export type BeadWorker = Selectable<BeadWorkersTable>;

export interface BeadTry extends Omit<Selectable<BeadTriesTable>, 'again' | 'completion' | 'status'> {
  status: 'working' | 'accepted' | 'closed' | 'blocked' | 'released';
  again: Again | null;
  completion: Completion | null;
}

/** It waits for a person's word about the checks that it changed. */
export function isAsked({ status, completion }: BeadTry): boolean {
  return status === 'accepted' && completion?.judgement?.verdict === 'ask';
}

/** The merge queue has it. One that conflicted twice, or asks, is a person's. */
export function isQueued(one: BeadTry): boolean {
  return one.status === 'accepted' && one.conflicts <= CONFLICTS_OF_A_WORKER && !isAsked(one);
}

export async function insertSwarm(db: Db, swarm: Omit<Swarm, 'created_at'>): Promise<void> {
  await withWorkerTables(db)
    .insertInto('swarms')
    .values({ ...swarm, created_at: storeNow() })
    .execute();
}

export async function findSwarm(db: Db, sessionId: string): Promise<Swarm | null> {
  const row = await withWorkerTables(db)
    .selectFrom('swarms')
    .selectAll()
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row ? { ...row, mode: row.mode as SwarmMode } : null;
}

/** Those that were started on this epic, newest first. */
export async function listSwarmsOf(db: Db, projectId: string, epic: string): Promise<string[]> {
  const rows = await withWorkerTables(db)
    .selectFrom('swarms')
    .select('session_id')
    .where('project_id', '=', projectId)
    .where('epic', '=', epic)
    .orderBy('created_at', 'desc')
    .execute();
  return rows.map(({ session_id }) => session_id);
}

export async function insertWorker(
  db: Db,
  worker: Pick<BeadWorker, 'session_id' | 'swarm_id' | 'nickname' | 'mail_name'>,
): Promise<void> {
  const blank = {
    acknowledged_at: null,
    inbox_at: null,
    topic_at: null,
    context_used: null,
    left_for: null,
  };
  await withWorkerTables(db)
    .insertInto('bead_workers')
    .values({ ...worker, ...blank, created_at: storeNow() })
    .execute();
}

export async function findWorker(db: Db, sessionId: string): Promise<BeadWorker | null> {
  const row = await withWorkerTables(db)
    .selectFrom('bead_workers')
    .selectAll()
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row ?? null;
}

export async function listWorkers(db: Db, swarmId: string): Promise<BeadWorker[]> {
  return withWorkerTables(db)
    .selectFrom('bead_workers')
    .selectAll()
    .where('swarm_id', '=', swarmId)
    .orderBy('created_at')
    .orderBy('session_id')
    .execute();
}

/** That it happened now, by the store's clock. */
export async function markWorker(
  db: Db,
  sessionId: string,
  column: 'acknowledged_at' | 'inbox_at' | 'topic_at',
): Promise<void> {
  await withWorkerTables(db)
    .updateTable('bead_workers')
    .set({ [column]: storeNow() })
    .where('session_id', '=', sessionId)
    .execute();
}

export async function updateWorker(
  db: Db,
  sessionId: string,
  patch: Partial<Omit<BeadWorkersTable, 'session_id' | 'swarm_id'>>,
): Promise<void> {
  await withWorkerTables(db)
    .updateTable('bead_workers')
    .set(patch)
    .where('session_id', '=', sessionId)
    .execute();
}

export type NewTry = Pick<
  BeadTry,
  'id' | 'session_id' | 'swarm_id' | 'project_id' | 'bead_id' | 'fence' | 'start_sha'
>;

export async function insertTry(db: Db, one: NewTry): Promise<void> {
  await withWorkerTables(db)
    .insertInto('bead_tries')
    .values({
      ...one,
      status: 'working',
      wip_sha: null,
      ...{ runs: 0, failures: 0, conflicts: 0 },
      ...{ again: null, completion: null, commit_sha: null, red_at: null, reason: null },
      created_at: storeNow(),
      ended_at: null,
    })
    .execute();
}

export async function findTry(db: Db, id: string): Promise<BeadTry | null> {
  const row = await withWorkerTables(db)
    .selectFrom('bead_tries')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row ? toTry(row) : null;
}

/** The bead that the worker is at; `null`: none. */
export async function currentTry(db: Db, sessionId: string): Promise<BeadTry | null> {
  const row = await withWorkerTables(db)
    .selectFrom('bead_tries')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('status', 'in', ['working', 'accepted'])
    .executeTakeFirst();
  return row ? toTry(row) : null;
}

/** The one that works on a bead by this claim. */
export async function findTryOfClaim(
  db: Db,
  { projectId, beadId, fence }: { projectId: string; beadId: string; fence: number },
): Promise<BeadTry | null> {
  const row = await withWorkerTables(db)
    .selectFrom('bead_tries')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('bead_id', '=', beadId)
    .where('fence', '=', fence)
    .where('status', 'in', ['working', 'accepted'])
    .executeTakeFirst();
  return row ? toTry(row) : null;
}

/** The bead that a worker had in flight when it handed over is its successor's, who is told what had happened. */
export async function adoptTry(db: Db, { from, to }: { from: string; to: string }): Promise<void> {
  const one = await currentTry(db, from);
  if (!one) return;
  const again: Again | null = one.again && { ...one.again, kind: 'unfinished' };
  await withWorkerTables(db)
    .updateTable('bead_tries')
    .set({ session_id: to, again: again && toJson(again) })
    .where('id', '=', one.id)
    .execute();
}

/** The sessions of a swarm whose worker has left with a bead in flight. */
export async function listInFlight(db: Db, swarmId: string): Promise<string[]> {
  const rows = await withWorkerTables(db)
    .selectFrom('bead_tries')
    .innerJoin('bead_workers', 'bead_workers.session_id', 'bead_tries.session_id')
    .select('bead_tries.session_id')
    .where('bead_tries.swarm_id', '=', swarmId)
    .where('bead_tries.status', 'in', ['working', 'accepted'])
    .where('bead_workers.left_for', 'is not', null)
    .execute();
  return rows.map(({ session_id }) => session_id);
}

/** When the worker's last bead ended; `null`: none has. */
export async function lastEndOf(db: Db, sessionId: string): Promise<string | null> {
  const row = await withWorkerTables(db)
    .selectFrom('bead_tries')
    .select((eb) => eb.fn.max('ended_at').as('ended_at'))
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row?.ended_at ?? null;
}

/** Oldest first. */
export async function listTries(
  db: Db,
  swarmId: string,
  { status }: { status?: readonly BeadTry['status'][] } = {},
): Promise<BeadTry[]> {
  let query = withWorkerTables(db)
    .selectFrom('bead_tries')
    .selectAll()
    .where('swarm_id', '=', swarmId)
    .orderBy('created_at')
    .orderBy('id');
  if (status) query = query.where('status', 'in', status);
  return (await query.execute()).map(toTry);
}

export type TryPatch = Partial<
  Omit<
    BeadTry,
    'id' | 'session_id' | 'swarm_id' | 'project_id' | 'bead_id' | 'fence' | 'created_at' | 'ended_at'
  >
>;

export async function updateTry(db: Db, id: string, patch: TryPatch): Promise<void> {
  const { again, completion, ...plain } = patch;
  const isOver = patch.status !== undefined && !['working', 'accepted'].includes(patch.status);
  await withWorkerTables(db)
    .updateTable('bead_tries')
    .set({
      ...plain,
      ...(again === undefined ? {} : { again: again && toJson(again) }),
      ...(completion === undefined ? {} : { completion: completion && toJson(completion) }),
      ...(isOver ? { ended_at: storeNow() } : {}),
    })
    .where('id', '=', id)
    .execute();
}

/** The first time counts. */
export async function markRed(db: Db, id: string): Promise<void> {
  await withWorkerTables(db)
    .updateTable('bead_tries')
    .set({ red_at: storeNow() })
    .where('id', '=', id)
    .where('red_at', 'is', null)
    .execute();
}

/** Written while the agent waits. Returns how many verifications have failed by now. */
export async function countFailure(db: Db, id: string): Promise<number> {
  const { failures } = await withWorkerTables(db)
    .updateTable('bead_tries')
    .set((eb) => ({ failures: eb('failures', '+', 1) }))
    .where('id', '=', id)
    .returning('failures')
    .executeTakeFirstOrThrow();
  return failures;
}

function toTry(row: Selectable<BeadTriesTable>): BeadTry {
  return {
    ...row,
    status: row.status as BeadTry['status'],
    again: row.again === null ? null : againSchema.parse(fromJson(row.again)),
    completion: row.completion === null ? null : completionSchema.parse(fromJson(row.completion)),
  };
}
