import type { Insertable, Selectable } from 'kysely';
import { findIteration } from './iterations.ts';
import { type Db, storeNow } from './store.ts';
import type { TurnsTable } from './texts-schema.ts';

export type NewTurn = Omit<Insertable<TurnsTable>, 'created_at'>;
export type StoredTurn = Omit<Selectable<TurnsTable>, 'content_from'>;

/** Writing a turn twice writes it once. What is a text of its iteration is not written again: `content_from` names it. */
export async function insertTurn(db: Db, turn: NewTurn): Promise<void> {
  await db
    .insertInto('turns')
    .values({ ...turn, content: turn.content_from ? '' : turn.content, created_at: storeNow() })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

export async function findTurn(db: Db, id: string): Promise<StoredTurn | null> {
  const row = await db.selectFrom('turns').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? withContent(db, row) : null;
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
  const row = await query.executeTakeFirst();
  return row ? withContent(db, row) : null;
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
  const turns: StoredTurn[] = [];
  for (const row of rows.reverse()) turns.push(await withContent(db, row));
  return turns;
}

async function withContent(
  db: Db,
  { content_from: from, ...turn }: Selectable<TurnsTable>,
): Promise<StoredTurn> {
  const { session_id: sessionId, iteration_number: number } = turn;
  if (from === null || sessionId === null || number === null) return turn;
  const iteration = await findIteration(db, sessionId, number);
  const content = from === 'output' ? iteration?.output_full?.trim() : iteration?.task_content;
  return { ...turn, content: content ?? '' };
}
