/** `commander_outbox`: the calls that a commander elsewhere still has to get, in order. */

import type { Selectable } from 'kysely';
import { PulseError } from '../../../domain/errors.ts';
import { type Db, fromJson, storeNow, toJson, WAITING } from '../../../store/store.ts';
import { withResearchTables } from '../tables.ts';
import type { CommanderOutboxTable } from './tables.ts';

export interface OutboxCall extends Omit<Selectable<CommanderOutboxTable>, 'arguments'> {
  arguments: Record<string, unknown>;
}

export interface NewOutboxCall {
  session_id: string;
  key: string;
  tool: string;
  arguments: Record<string, unknown>;
  task_id: string | null;
}

/** Belongs into the transaction of what it tells. A key that is there already stays one call. */
export async function enqueueCall(db: Db, { arguments: given, ...call }: NewOutboxCall): Promise<void> {
  await lockResearch(db, call.session_id);
  const { last } = await withResearchTables(db)
    .selectFrom('commander_outbox')
    .select(({ fn }) => fn.max('seq').as('last'))
    .where('session_id', '=', call.session_id)
    .executeTakeFirstOrThrow();
  await withResearchTables(db)
    .insertInto('commander_outbox')
    .values({
      ...call,
      arguments: toJson(given),
      seq: Number(last ?? 0) + 1,
      status: 'pending',
      tries: 0,
      note: null,
      created_at: storeNow(),
      ended_at: null,
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
}

/** Several sessions may work for one research: only one at a time numbers the next call. */
async function lockResearch(db: Db, sessionId: string): Promise<void> {
  await withResearchTables(db)
    .updateTable('researches')
    .set({ session_id: sessionId })
    .where('session_id', '=', sessionId)
    .execute();
}

/** For a call that nobody has tried yet: what it says has changed. */
export async function amendCall(db: Db, key: string, given: Record<string, unknown>): Promise<void> {
  await withResearchTables(db)
    .updateTable('commander_outbox')
    .set({ arguments: toJson(given) })
    .where('key', '=', key)
    .where('status', '=', 'pending')
    .where('tries', '=', 0)
    .execute();
}

export async function nextCall(db: Db, sessionId: string): Promise<OutboxCall | null> {
  const row = await withResearchTables(db)
    .selectFrom('commander_outbox')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('status', '=', WAITING)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row ? { ...row, arguments: fromJson<Record<string, unknown>>(row.arguments) } : null;
}

/** Counts the try. Throws `fenced` for a runner that was replaced: its successor tells it. */
export async function beginCall(
  db: Db,
  { session_id, seq }: Pick<OutboxCall, 'session_id' | 'seq'>,
  token: number,
): Promise<void> {
  const holder = await withResearchTables(db)
    .selectFrom('session_controls')
    .select('token')
    .where('session_id', '=', session_id)
    .executeTakeFirst();
  if (holder?.token !== token) {
    throw new PulseError('fenced', `Another runner has taken over session ${session_id}.`);
  }
  await withResearchTables(db)
    .updateTable('commander_outbox')
    .set(({ eb }) => ({ tries: eb('tries', '+', 1) }))
    .where('session_id', '=', session_id)
    .where('seq', '=', seq)
    .execute();
}

export async function endCall(
  db: Db,
  { session_id, seq }: Pick<OutboxCall, 'session_id' | 'seq'>,
  { status, note }: { status: Exclude<OutboxCall['status'], 'pending'>; note: string | null },
): Promise<void> {
  await withResearchTables(db)
    .updateTable('commander_outbox')
    .set({ status, note: note?.slice(0, 500) ?? null, ended_at: storeNow() })
    .where('session_id', '=', session_id)
    .where('seq', '=', seq)
    .where('status', '=', 'pending')
    .execute();
}

/** Of a session that is over: nobody tries again. */
export async function skipCalls(db: Db, sessionId: string, note: string): Promise<void> {
  await withResearchTables(db)
    .updateTable('commander_outbox')
    .set({ status: 'skipped', note, ended_at: storeNow() })
    .where('session_id', '=', sessionId)
    .where('status', '=', 'pending')
    .execute();
}

export async function listCalls(db: Db, sessionId: string): Promise<OutboxCall[]> {
  const rows = await withResearchTables(db)
    .selectFrom('commander_outbox')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('seq')
    .execute();
  return rows.map((row) => ({ ...row, arguments: fromJson<Record<string, unknown>>(row.arguments) }));
}
