import { type Insertable, type Selectable, sql } from 'kysely';
import { findIteration } from './iterations.ts';
import { type Db, inPortions, storeNow } from './store.ts';
import type { TurnsTable } from './texts-schema.ts';

/** The store gives it its time, unless it has one of its own. */
export type NewTurn = Omit<Insertable<TurnsTable>, 'created_at'> & { created_at?: string };
export type StoredTurn = Pick<Selectable<TurnsTable>, Exclude<(typeof COLUMNS)[number], 'content_from'>>;
type TurnRow = Pick<Selectable<TurnsTable>, (typeof COLUMNS)[number]>;

const COLUMNS = [
  'id',
  'parent_id',
  'project_id',
  'session_id',
  'iteration_number',
  'role',
  'phase',
  'content',
  'content_hash',
  'salience',
  'depth',
  'created_at',
  'content_from',
] as const;

/** Writing a turn twice writes it once. What is a text of its iteration is not written again: `content_from` names it. */
export async function insertTurn(db: Db, turn: NewTurn): Promise<void> {
  await db
    .insertInto('turns')
    .values(insertable(turn))
    .onConflict((conflict) => conflict.columns(['project_id', 'id']).doNothing())
    .execute();
}

/** As `insertTurn`, for many. Answers with how many were new. */
export async function insertTurns(db: Db, turns: readonly NewTurn[]): Promise<number> {
  let added = 0;
  for (const portion of inPortions(turns)) {
    const rows = await db
      .insertInto('turns')
      .values(portion.map(insertable))
      .onConflict((conflict) => conflict.columns(['project_id', 'id']).doNothing())
      .returning('number')
      .execute();
    added += rows.length;
  }
  return added;
}

function insertable(turn: NewTurn) {
  const { created_at = storeNow(), content_from, content } = turn;
  return { ...turn, content: content_from ? '' : content, created_at };
}

/** An id names a turn within its project alone. */
export async function findTurn(db: Db, projectId: string, id: string): Promise<StoredTurn | null> {
  const rows = await db
    .selectFrom('turns')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', 'in', spellings(id))
    .execute();
  const row = rows.find((each) => each.id === id) ?? rows[0];
  return row ? withContent(db, row) : null;
}

/** A UUID means the same in either case, and an import keeps it as it was written. */
function spellings(id: string): string[] {
  return [...new Set([id, id.toLowerCase(), id.toUpperCase()])];
}

/** These turns with their content, in no order; ids that name none are left out. `isSaid`: without briefs, which Pulse wrote. */
export async function findTurns(
  db: Db,
  projectId: string,
  ids: readonly string[],
  { isSaid = false }: { isSaid?: boolean } = {},
): Promise<StoredTurn[]> {
  const turns: StoredTurn[] = [];
  for (const portion of inPortions(ids)) {
    const rows = await db
      .selectFrom('turns')
      .select(COLUMNS)
      .where('project_id', '=', projectId)
      .where('id', 'in', portion)
      .execute();
    for (const row of rows)
      if (!isSaid || row.content_from !== 'task') turns.push(await withContent(db, row));
  }
  return turns;
}

/** A turn that an anchor hint names is worth more from then on, once. */
export async function markHinted(
  db: Db,
  { projectId, id, raise }: { projectId: string; id: string; raise(salience: number): number },
): Promise<void> {
  const turn = await db
    .selectFrom('turns')
    .select(['number', 'salience'])
    .where('project_id', '=', projectId)
    .where('id', 'in', spellings(id))
    .where('is_hinted', '=', 0)
    .executeTakeFirst();
  if (!turn) return;
  await db
    .updateTable('turns')
    .set({ is_hinted: 1, salience: raise(turn.salience) })
    .where('number', '=', turn.number)
    .execute();
}

/** The turn of the session's own goal: its first. It is nobody's child, or follows what another session said last. */
export async function findGoalTurn(db: Db, sessionId: string): Promise<string | null> {
  const row = await db
    .selectFrom('turns')
    .select('id')
    .where('session_id', '=', sessionId)
    .where('iteration_number', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** The newest turn of a session, or of a whole project without these. */
export async function newestTurn(
  db: Db,
  where: { sessionId: string } | { projectId: string; except?: readonly string[] },
): Promise<StoredTurn | null> {
  let query = db
    .selectFrom('turns')
    .select(COLUMNS)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1);
  query =
    'sessionId' in where
      ? query.where('session_id', '=', where.sessionId)
      : query.where('project_id', '=', where.projectId);
  if ('projectId' in where && where.except?.length) query = query.where('id', 'not in', where.except);
  const row = await query.executeTakeFirst();
  return row ? withContent(db, row) : null;
}

/** The newest `count` turns of a session, oldest first. */
export async function sessionTurns(db: Db, sessionId: string, count: number): Promise<StoredTurn[]> {
  const rows = await db
    .selectFrom('turns')
    .select(COLUMNS)
    .where('session_id', '=', sessionId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(count)
    .execute();
  const turns: StoredTurn[] = [];
  for (const row of rows.reverse()) turns.push(await withContent(db, row));
  return turns;
}

async function withContent(db: Db, { content_from: from, ...turn }: TurnRow): Promise<StoredTurn> {
  const { session_id: sessionId, iteration_number: number } = turn;
  if (from === null || sessionId === null || number === null) return turn;
  const iteration = await findIteration(db, sessionId, number);
  const content = from === 'output' ? iteration?.output_full?.trim() : iteration?.task_content;
  return { ...turn, content: content ?? '' };
}

export type TurnHead = Omit<StoredTurn, 'content' | 'project_id'>;

/** Without their content, oldest first; from the one after `after` on. */
export function listTurnHeads(db: Db, { projectId, after, limit }: ListedTurns): Promise<TurnHead[]> {
  let query = db
    .selectFrom('turns')
    .select(['id', 'parent_id', 'session_id', 'iteration_number', 'role', 'phase'])
    .select(['salience', 'depth', 'content_hash', 'created_at'])
    .where('project_id', '=', projectId)
    .orderBy('created_at')
    .orderBy('id');
  if (after) {
    const { createdAt, id } = after;
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'id'), '>', tuple(createdAt, id)),
    );
  }
  return (limit === undefined ? query : query.limit(limit)).execute();
}

export interface ListedTurns {
  projectId: string;
  after: { createdAt: string; id: string } | null;
  limit: number | undefined;
}

/** Those that have a turn of this id; two are enough to know that it is not one. */
export async function projectsOfTurn(db: Db, id: string): Promise<string[]> {
  const rows = await db
    .selectFrom('turns')
    .select('project_id')
    .where('id', '=', id)
    .orderBy('project_id')
    .limit(2)
    .execute();
  return rows.map(({ project_id }) => project_id);
}

export interface NumberedTurn {
  number: number;
  content: string;
}

/** Turns of the project that cannot be found by their words yet, the oldest first; from now on they can. */
export async function claimUnindexed(db: Db, projectId: string, limit: number): Promise<NumberedTurn[]> {
  const rows = await db
    .selectFrom('turns')
    .select(COLUMNS)
    .select('number')
    .where('project_id', '=', projectId)
    // As a literal: a database finds no partial index by a parameter's value.
    .where('is_indexed', '=', sql.lit(0))
    .orderBy('number')
    .limit(limit)
    .execute();
  if (rows.length === 0) return [];
  // Another process may have been quicker.
  const claimed = await db
    .updateTable('turns')
    .set({ is_indexed: 1 })
    .where(
      'number',
      'in',
      rows.map(({ number }) => number),
    )
    .where('is_indexed', '=', 0)
    .returning('number')
    .execute();
  const mine = new Set(claimed.map(({ number }) => number));
  const turns: NumberedTurn[] = [];
  for (const { number, ...row } of rows)
    if (mine.has(number)) turns.push({ number, content: (await withContent(db, row)).content });
  return turns;
}

/** In the order of the numbers. Of a brief, which Pulse wrote, the content is ''. */
export async function contentsOf(db: Db, numbers: readonly number[]): Promise<NumberedTurn[]> {
  if (numbers.length === 0) return [];
  const rows = await db
    .selectFrom('turns')
    .select(COLUMNS)
    .select('number')
    .where('number', 'in', numbers)
    .execute();
  const turns: NumberedTurn[] = [];
  for (const { number, ...row } of rows) {
    const content = row.content_from === 'task' ? '' : (await withContent(db, row)).content;
    turns.push({ number: Number(number), content });
  }
  return turns.sort((a, b) => numbers.indexOf(a.number) - numbers.indexOf(b.number));
}
