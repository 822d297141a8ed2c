/**
 * Agents at once on a host. An attempt that is executed has a slot; one that finds none free has a place in line, by the
 * time at which it first asked. Both are columns of the attempt itself, so that all that ends or takes back an attempt
 * gives back its slot or its place, and a holder that is dead counts for nothing.
 */
import { type RawBuilder, sql } from 'kysely';
import { type Db, isPostgres, storeNow, WAITING } from './store.ts';

export interface Host {
  name: string;
  /** On its own host a dead owner is known at once; of another only its lease tells. */
  owners(owner: string): 'alive' | 'dead' | 'elsewhere';
}

export interface FullHost {
  inUse: number;
  maxAgents: number;
  /** Who waits and asked earlier. */
  ahead: number;
}

/**
 * `null`: the attempt may begin; who takes the slot says so with `holdSlot`, in the same transaction. Asked in a
 * transaction, nobody else of this host gets an answer before that has ended.
 */
export async function findSlot(
  db: Db,
  { host, taskId, maxAgents }: { host: Host; taskId: string; maxAgents: number },
): Promise<FullHost | null> {
  const inUse = await countInUse(db, host, taskId);
  const line = await listWaiting(db, host, taskId);
  const place = line.findIndex(({ id }) => id === taskId);
  const ahead = place === -1 ? line.length : place;
  return inUse + ahead < maxAgents ? null : { inUse, maxAgents, ahead };
}

/** One after the other: SQLite has one writer, PostgreSQL is asked for a lock. */
export async function lockSlots(db: Db, { name }: Host): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`agents of ${name}`}, 0))`.execute(db);
}

export async function holdSlot(db: Db, id: string, host: string): Promise<void> {
  await db
    .updateTable('inbox_tasks')
    .set({ slot_host: host, queued_at: null })
    .where('id', '=', id)
    .execute();
}

/** It needs none, or waits for something else first. */
export async function leaveLine(db: Db, id: string): Promise<void> {
  await db
    .updateTable('inbox_tasks')
    .set({ slot_host: null, queued_at: null })
    .where('id', '=', id)
    .where('slot_host', 'is not', null)
    .execute();
}

/** `false`: it has its place already. */
export async function joinLine(db: Db, id: string, host: string): Promise<boolean> {
  const joined = await db
    .updateTable('inbox_tasks')
    .set({ slot_host: host, queued_at: storeNow() })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('queued_at', 'is', null), eb('slot_host', '!=', host)]))
    .returning('id')
    .executeTakeFirst();
  return joined !== undefined;
}

export interface InLine {
  id: string;
  sessionId: string;
}

/**
 * First come, first served. One whose runner is gone has its place again when somebody runs it. `asker`: the attempt that
 * is claimed in this very transaction.
 */
export async function listWaiting(db: Db, { name, owners }: Host, asker = ''): Promise<InLine[]> {
  const rows = await db
    .selectFrom('inbox_tasks as task')
    .innerJoin('pulse_sessions as session', 'session.id', 'task.session_id')
    .innerJoin('session_controls as control', 'control.session_id', 'task.session_id')
    .select(['task.id', 'task.session_id as sessionId', 'control.lease_owner as owner'])
    .where('task.slot_host', '=', name)
    .where('task.queued_at', 'is not', null)
    .where((eb) => eb.or([eb('task.status', '=', WAITING), eb('task.id', '=', asker)]))
    .where('session.status', '=', 'running')
    .where('control.lease_until', '>=', storeNow())
    .orderBy('task.queued_at')
    .orderBy('task.id')
    .execute();
  return rows
    .filter(({ owner }) => owner !== null && owners(owner) !== 'dead')
    .map(({ id, sessionId }) => ({ id, sessionId }));
}

/** Those whose result is reported have no agent left. */
async function countInUse(db: Db, { name, owners }: Host, asker: string): Promise<number> {
  const rows = await db
    .selectFrom('inbox_tasks')
    .select(['lease_owner', sql<number>`lease_until < ${storeNow()}`.as('over')])
    .where('slot_host', '=', name)
    .where('status', '=', 'running')
    .where('lease_owner', 'is not', null)
    .where('id', '!=', asker)
    .where(sql`coalesce(result ->> 'stage', '')`, '!=', 'reported')
    .execute();
  return rows.filter(({ lease_owner, over }) => {
    const state = owners(lease_owner!);
    return state === 'alive' || (state === 'elsewhere' && !over);
  }).length;
}

/** Since when the session's attempt has waited for a slot; null where it does not. `id`: the column of the session's id. */
export function queuedSince(id: string): RawBuilder<string | null> {
  return sql<string | null>`(SELECT queued.queued_at FROM inbox_tasks queued
    WHERE queued.session_id = ${sql.ref(id)} AND queued.status = 'pending' AND queued.queued_at IS NOT NULL)`;
}
