/** `jobs`: work that takes longer than the request that asked for it. A process that dies at it leaves it to the next. */
import type { Selectable } from 'kysely';
import { leaseFrom } from './leases.ts';
import type { JobsTable } from './schema.ts';
import { type Db, fromJson, storeNow, toJson } from './store.ts';

/** What ended longer ago is nobody's question. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

export type JobStatus = 'waiting' | 'running' | 'done' | 'failed';

export interface Job {
  id: string;
  kind: 'verify';
  sessionId: string;
  status: JobStatus;
  answer: unknown;
  error: unknown;
  createdAt: string;
  endedAt: string | null;
}

export async function insertJob(db: Db, job: Pick<Job, 'id' | 'kind' | 'sessionId'>): Promise<void> {
  await db.deleteFrom('jobs').where('ended_at', '<', storeNow(-KEPT_MS)).execute();
  await db
    .insertInto('jobs')
    .values({
      ...{ id: job.id, kind: job.kind, session_id: job.sessionId, status: 'waiting' },
      ...{ answer: null, error: null, lease_owner: null, lease_until: null },
      ...{ created_at: storeNow(), ended_at: null },
    })
    .execute();
}

export async function findJob(db: Db, id: string): Promise<Job | null> {
  const row = await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? decode(row) : null;
}

/** The oldest that nobody is at; it is the owner's from now on. */
export async function takeJob(
  db: Db,
  { owner, leaseMs, isGone }: { owner: string; leaseMs: number; isGone(owner: string): boolean },
): Promise<Job | null> {
  const rows = await db
    .selectFrom('jobs')
    .selectAll()
    .select(storeNow().as('now'))
    .where('ended_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  for (const row of rows) {
    const { owner: holder, isOver } = leaseFrom(row);
    if (!isOver && holder !== null && !isGone(holder)) continue;
    // Another process may have been quicker.
    const taken = await db
      .updateTable('jobs')
      .set({ status: 'running', lease_owner: owner, lease_until: storeNow(leaseMs) })
      .where('id', '=', row.id)
      .where('lease_owner', 'is not distinct from', holder)
      .where('ended_at', 'is', null)
      .returningAll()
      .executeTakeFirst();
    if (taken) return decode(taken);
  }
  return null;
}

/** `false`: it is somebody else's by now. */
export async function renewJob(
  db: Db,
  id: string,
  { owner, leaseMs }: { owner: string; leaseMs: number },
): Promise<boolean> {
  const { numUpdatedRows: count } = await db
    .updateTable('jobs')
    .set({ lease_until: storeNow(leaseMs) })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return count > 0n;
}

/** The first end stands. */
export async function endJob(
  db: Db,
  id: string,
  { owner, ...end }: { owner: string } & ({ answer: unknown } | { error: unknown }),
): Promise<void> {
  const said =
    'answer' in end
      ? { status: 'done' as const, answer: toJson(end.answer) }
      : { status: 'failed' as const, error: toJson(end.error) };
  await db
    .updateTable('jobs')
    .set({ ...said, lease_owner: null, lease_until: null, ended_at: storeNow() })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .where('ended_at', 'is', null)
    .execute();
}

/** It waits for the next that looks. */
export async function leaveJob(db: Db, id: string, owner: string): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ status: 'waiting', lease_owner: null, lease_until: null })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .where('ended_at', 'is', null)
    .execute();
}

function decode(row: Selectable<JobsTable>): Job {
  return {
    ...{ id: row.id, kind: row.kind as Job['kind'], sessionId: row.session_id },
    status: row.status as JobStatus,
    answer: row.answer === null ? null : fromJson(row.answer),
    error: row.error === null ? null : fromJson(row.error),
    ...{ createdAt: row.created_at, endedAt: row.ended_at },
  };
}
