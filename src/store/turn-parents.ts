/** Turns of transcripts whose parent lies in another one: linked as soon as both are there, in either order. */
import { sql } from 'kysely';
import { type Db, inPortions, isPostgres } from './store.ts';
import { insertTurns, type NewTurn } from './turns.ts';

/** An entry of a transcript that is no turn. Others may name it as what they stand below. */
export interface TranscriptEntry {
  id: string;
  /** The nearest turn above it in its own file. */
  turnId: string | null;
  /** The entry above, where its own file does not have that. */
  namedParentId: string | null;
}

export interface ImportedPortion {
  projectId: string;
  turns: readonly NewTurn[];
  entries: readonly TranscriptEntry[];
}

/** Answers with how many turns were new. Doing it again changes nothing. */
export async function insertImported(db: Db, portion: ImportedPortion): Promise<number> {
  const { projectId, turns, entries } = portion;
  // Of two imports at the same time one would not see what the other waits for.
  if (isPostgres(db))
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`import into ${projectId}`}, 0))`.execute(db);
  const added = await insertTurns(db, await withDepths(db, portion));
  await insertEntries(db, portion);
  for (const { id, named_parent_id: named } of turns)
    if (named)
      await db
        .updateTable('turns')
        .set({ named_parent_id: named })
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .where('parent_id', 'is', null)
        .where('named_parent_id', 'is', null)
        .execute();
  await linkParents(
    db,
    projectId,
    [...turns, ...entries].map(({ id }) => id),
  );
  return added;
}

/** A turn that is there may stand deeper than its own file tells, and what is new below it as well. */
async function withDepths(db: Db, { projectId, turns }: ImportedPortion): Promise<NewTurn[]> {
  const ids = new Set(turns.flatMap(({ id, parent_id }) => (parent_id ? [id, parent_id] : [id])));
  const depths = new Map<string, number>();
  for (const portion of inPortions([...ids]))
    for (const { id, depth } of await db
      .selectFrom('turns')
      .select(['id', 'depth'])
      .where('project_id', '=', projectId)
      .where('id', 'in', portion)
      .execute())
      depths.set(id, depth);
  return turns.map((turn) => {
    const depth = depths.get(turn.id) ?? (turn.parent_id ? (depths.get(turn.parent_id) ?? -1) + 1 : 0);
    depths.set(turn.id, depth);
    return { ...turn, depth };
  });
}

async function insertEntries(db: Db, { projectId, entries }: ImportedPortion): Promise<void> {
  for (const portion of inPortions(entries))
    await db
      .insertInto('transcript_entries')
      .values(
        portion.map(({ id, turnId, namedParentId }) => ({
          ...{ project_id: projectId, id, turn_id: turnId, named_parent_id: namedParentId },
        })),
      )
      .onConflict((conflict) => conflict.columns(['project_id', 'id']).doNothing())
      .execute();
}

/** `came`: turns and entries that are there now. Those that wait for them, and they themselves, find their parents. */
async function linkParents(db: Db, projectId: string, came: readonly string[]): Promise<void> {
  const waiting = new Map<string, string>();
  for (const column of ['id', 'named_parent_id'] as const) {
    const names = column === 'id' ? came : await namesOf(db, projectId, came);
    for (const portion of inPortions(names))
      for (const { id, named_parent_id: named } of await db
        .selectFrom('turns')
        .select(['id', 'named_parent_id'])
        .where('project_id', '=', projectId)
        .where('named_parent_id', 'is not', null)
        .where(column, 'in', portion)
        .execute())
        waiting.set(id, named!);
  }
  for (const [id, named] of [...waiting].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const parentId = await turnAt(db, projectId, named);
    if (parentId !== null && parentId !== id) await link(db, { projectId, id, parentId });
  }
}

/** Under which names these may be waited for: their own, and those of entries that stand below them. */
async function namesOf(db: Db, projectId: string, came: readonly string[]): Promise<string[]> {
  const names = new Set(came);
  for (let next = [...came]; next.length > 0; ) {
    const below: string[] = [];
    for (const portion of inPortions(next))
      for (const { id } of await db
        .selectFrom('transcript_entries')
        .select('id')
        .where('project_id', '=', projectId)
        .where('named_parent_id', 'in', portion)
        .execute())
        below.push(id);
    next = below.filter((id) => !names.has(id));
    for (const id of next) names.add(id);
  }
  return [...names];
}

/** The turn of this name, or the nearest above the entry of this name. `null`: it is not here yet. */
async function turnAt(db: Db, projectId: string, name: string): Promise<string | null> {
  const seen = new Set<string>();
  let nearest: string | null = null;
  for (let at: string | null = name; at !== null && !seen.has(at); ) {
    seen.add(at);
    const turn = await db
      .selectFrom('turns')
      .select('id')
      .where('project_id', '=', projectId)
      .where('id', '=', at)
      .executeTakeFirst();
    if (turn) return turn.id;
    const entry = await db
      .selectFrom('transcript_entries')
      .select(['turn_id', 'named_parent_id'])
      .where('project_id', '=', projectId)
      .where('id', '=', at)
      .executeTakeFirst();
    nearest = entry?.turn_id ?? nearest;
    at = entry?.named_parent_id ?? null;
  }
  return nearest;
}

interface Link {
  projectId: string;
  id: string;
  parentId: string;
}

/** Files can name each other in a circle: it is opened above the lowest id, in any order of import. */
async function link(db: Db, { projectId, id, parentId }: Link): Promise<void> {
  const above = await db
    .withRecursive('above', (cte) =>
      cte
        .selectFrom('turns')
        .select(['id', 'parent_id', 'named_parent_id'])
        .where('project_id', '=', projectId)
        .where('id', '=', parentId)
        .union((query) =>
          query
            .selectFrom('turns')
            .innerJoin('above', 'turns.id', 'above.parent_id')
            .select(['turns.id', 'turns.parent_id', 'turns.named_parent_id'])
            .where('turns.project_id', '=', projectId)
            // What stands above the turn itself is no part of a circle.
            .where('above.id', '!=', id),
        ),
    )
    .selectFrom('above')
    .select(['id', 'named_parent_id'])
    .execute();
  const isCircle = above.some((each) => each.id === id);
  const linked = above.filter((each) => each.named_parent_id !== null).map((each) => each.id);
  const root = isCircle ? [id, ...linked].sort((a, b) => (a < b ? -1 : 1))[0]! : null;
  if (root !== null) await move(db, { projectId, id: root, parentId: null });
  if (root !== id) await move(db, { projectId, id, parentId });
}

/** All that stands below the turn moves with it. */
async function move(
  db: Db,
  { projectId, id, parentId }: Omit<Link, 'parentId'> & { parentId: string | null },
): Promise<void> {
  await db
    .updateTable('turns')
    .set({ parent_id: parentId })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute();
  await sql`
    WITH RECURSIVE below (id, depth) AS (
      SELECT t.id, COALESCE((SELECT p.depth + 1 FROM turns p
        WHERE p.id = t.parent_id AND p.project_id = ${projectId}), 0)
      FROM turns t WHERE t.id = ${id} AND t.project_id = ${projectId}
      UNION
      SELECT t.id, n.depth + 1 FROM below n CROSS JOIN turns t
      WHERE t.parent_id = n.id AND t.project_id = ${projectId}
    )
    UPDATE turns SET depth = below.depth FROM below
    WHERE turns.id = below.id AND turns.project_id = ${projectId} AND turns.depth <> below.depth
  `.execute(db);
}
