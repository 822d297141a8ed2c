/** `notes`: what a person says to a session while it runs, or before it is resumed. */
import type { Selectable } from 'kysely';
import type { NotesTable } from './schema.ts';
import { type Db, storeNow } from './store.ts';

export type Note = Selectable<NotesTable>;

export async function insertNote(
  db: Db,
  note: Pick<Note, 'id' | 'session_id' | 'text' | 'actor'>,
): Promise<void> {
  await db
    .insertInto('notes')
    .values({ ...note, iteration_number: null, delivered_at: null, created_at: storeNow() })
    .execute();
}

/** Those that no brief has quoted, and those that the brief of this iteration has; oldest first. */
export async function notesFor(db: Db, sessionId: string, iteration: number): Promise<Note[]> {
  return db
    .selectFrom('notes')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where((eb) => eb.or([eb('iteration_number', 'is', null), eb('iteration_number', '=', iteration)]))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** From now on they are this iteration's: each of its attempts is told of them, no other iteration is. */
export async function quoteNotes(db: Db, ids: readonly string[], iteration: number): Promise<void> {
  if (ids.length === 0) return;
  await db.updateTable('notes').set({ iteration_number: iteration }).where('id', 'in', ids).execute();
}

/** Nobody got to read the brief of that iteration: what it quoted waits for the next. */
export async function reopenNotes(db: Db, sessionId: string, iteration: number): Promise<void> {
  await db
    .updateTable('notes')
    .set({ iteration_number: null })
    .where('session_id', '=', sessionId)
    .where('iteration_number', '=', iteration)
    .execute();
}

/** Those that came after the brief of the current run, and that its agent has not got. */
export async function untoldNotes(db: Db, sessionId: string): Promise<Note[]> {
  return db
    .selectFrom('notes')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('iteration_number', 'is', null)
    .where('delivered_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** How many notes of each of these sessions nobody has got to read; those with none are left out. */
export async function countUnread(db: Db, sessionIds: readonly string[]): Promise<Map<string, number>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('notes')
    .select(['session_id', ({ fn }) => fn.countAll<number>().as('count')])
    .where('session_id', 'in', sessionIds)
    .where('iteration_number', 'is', null)
    .where('delivered_at', 'is', null)
    .groupBy('session_id')
    .execute();
  return new Map(rows.map(({ session_id, count }) => [session_id, Number(count)]));
}

export async function markTold(db: Db, ids: readonly string[]): Promise<void> {
  await db.updateTable('notes').set({ delivered_at: storeNow() }).where('id', 'in', ids).execute();
}
