import type { Insertable, Selectable } from 'kysely';
import type { TurnsTable } from './schema.ts';
import { type Db, storeNow } from './store.ts';

export type NewTurn = Omit<Insertable<TurnsTable>, 'created_at'>;
export type StoredTurn = Selectable<TurnsTable>;

/** Writing a turn twice writes it once. */
export async function insertTurn(db: Db, turn: NewTurn): Promise<void> {
  await db
    .insertInto('turns')
    .values({ ...turn, created_at: storeNow() })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

export async function findTurn(db: Db, id: string): Promise<StoredTurn | null> {
  const row = await db.selectFrom('turns').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

/** The newest turn of a session, or of a whole project. */
export async function newestTurn(
  db: Db,
  where: { sessionId: string } | { projectId: string },
): Promise<StoredTurn | null> {
  let query = db.selectFrom('turns').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').limit(1);
  query =
    'sessionId' in where
      ? query.where('session_id', '=', where.sessionId)
      : query.where('project_id', '=', where.projectId);
  return (await query.executeTakeFirst()) ?? null;
}

/** The newest `count` turns of a session, oldest first. */
export async function sessionTurns(db: Db, sessionId: string, count: number): Promise<StoredTurn[]> {
  const rows = await db
    .selectFrom('turns')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(count)
    .execute();
  return rows.reverse();
}
