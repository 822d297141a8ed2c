/** Vectors of turns, and the embedders that made them. */
import { type Selectable, sql } from 'kysely';
import { type Db, inPortions, storeNow } from './store.ts';
import type { EmbeddersTable } from './texts-schema.ts';
import { contentsOf, type NumberedTurn } from './turns.ts';

/** The newest so many turns of a project have vectors. */
const MOST_VECTORS = 20_000;

export type EmbedderRow = Pick<
  Selectable<EmbeddersTable>,
  'id' | 'model' | 'asked_dimensions' | 'dimension' | 'failures' | 'error'
> & {
  /** It may not be asked yet. */
  isLeftAlone: boolean;
};

export interface NamedEmbedder {
  id: string;
  service: string;
  url: string;
  model: string;
  askedDimensions: number | null;
}

export async function insertEmbedder(db: Db, named: NamedEmbedder): Promise<void> {
  const { id, service, url, model, askedDimensions } = named;
  await db
    .insertInto('embedders')
    .values({ id, service, url, model, asked_dimensions: askedDimensions, created_at: storeNow() })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** All of a service, the newest first. */
export async function listEmbedders(db: Db, of: { service: string; url: string }): Promise<EmbedderRow[]> {
  const rows = await db
    .selectFrom('embedders')
    .select(['id', 'model', 'asked_dimensions', 'dimension', 'failures', 'error'])
    .select(sql<number>`CASE WHEN retry_at > ${storeNow()} THEN 1 ELSE 0 END`.as('left'))
    .where('service', '=', of.service)
    .where('url', '=', of.url)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map(({ left, ...row }) => ({ ...row, isLeftAlone: Number(left) === 1 }));
}

/** `afterMs`: until then nobody asks it. */
export async function noteEmbedderFailure(
  db: Db,
  { id, error, afterMs }: { id: string; error: string; afterMs: number },
): Promise<void> {
  await db
    .updateTable('embedders')
    .set((eb) => ({ failures: eb('failures', '+', 1), error, retry_at: storeNow(afterMs) }))
    .where('id', '=', id)
    .execute();
}

export async function noteEmbedderAnswer(db: Db, id: string): Promise<void> {
  await db
    .updateTable('embedders')
    .set({ failures: 0, error: null, retry_at: null })
    .where('id', '=', id)
    .where('failures', '>', 0)
    .execute();
}

interface OfProject {
  embedderId: string;
  projectId: string;
}

export interface Coverage {
  count: number;
  /** The newest turn among them; 0 for none. */
  newest: number;
}

export async function vectorCoverage(db: Db, { embedderId, projectId }: OfProject): Promise<Coverage> {
  const row = await db
    .selectFrom('turn_vectors')
    .select(({ fn }) => [fn.countAll().as('count'), fn.max('turn_number').as('newest')])
    .where('embedder_id', '=', embedderId)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return { count: Number(row?.count ?? 0), newest: Number(row?.newest ?? 0) };
}

/** Of the project's turns that can be found at all, as far as they are looked at. */
export async function turnCoverage(db: Db, projectId: string): Promise<Coverage> {
  const { rows } = await sql<{ count: number; newest: number | null }>`
    SELECT count(*) AS count, max(turn_number) AS newest FROM (
      SELECT turn_number FROM turn_terms WHERE project_id = ${projectId}
      ORDER BY turn_number DESC LIMIT ${sql.lit(MOST_VECTORS)}) AS latest`.execute(db);
  return { count: Number(rows[0]?.count ?? 0), newest: Number(rows[0]?.newest ?? 0) };
}

/** Turns that have no vector of this embedder, the newest first. Briefs, which Pulse wrote, come without content. */
export async function turnsWithoutVector(
  db: Db,
  { embedderId, projectId, below, limit }: OfProject & { below: number; limit: number },
): Promise<NumberedTurn[]> {
  const floor = await oldestWithVector(db, projectId);
  const { rows } = await sql<{ number: number }>`
    SELECT t.turn_number AS number FROM turn_terms t
    WHERE t.project_id = ${projectId} AND t.turn_number > ${floor} AND t.turn_number < ${below}
      AND NOT EXISTS (SELECT 1 FROM turn_vectors v
        WHERE v.embedder_id = ${embedderId} AND v.turn_number = t.turn_number)
    ORDER BY t.turn_number DESC LIMIT ${sql.lit(limit)}`.execute(db);
  return contentsOf(
    db,
    rows.map(({ number }) => Number(number)),
  );
}

/** Turns up to this one are too old to have one; 0: there are none. */
async function oldestWithVector(db: Db, projectId: string): Promise<number> {
  const row = await db
    .selectFrom('turn_terms')
    .select('turn_number')
    .where('project_id', '=', projectId)
    .orderBy('turn_number', 'desc')
    .offset(MOST_VECTORS)
    .limit(1)
    .executeTakeFirst();
  return Number(row?.turn_number ?? 0);
}

export interface WrittenVector {
  turnNumber: number;
  scale: number;
  bytes: Uint8Array;
}

export async function insertVectors(
  db: Db,
  {
    embedderId,
    projectId,
    dimension,
    vectors,
  }: OfProject & { dimension: number | null; vectors: readonly WrittenVector[] },
): Promise<void> {
  if (dimension !== null) await setDimension(db, embedderId, dimension);
  for (const portion of inPortions(vectors))
    await db
      .insertInto('turn_vectors')
      .values(
        portion.map(({ turnNumber, scale, bytes }) => ({
          ...{ embedder_id: embedderId, project_id: projectId, turn_number: turnNumber, scale, bytes },
        })),
      )
      .onConflict((conflict) => conflict.columns(['embedder_id', 'turn_number']).doNothing())
      .execute();
}

/** A service that answers with another dimension has another model: what it said before is worthless. */
export async function setDimension(db: Db, embedderId: string, dimension: number): Promise<void> {
  const row = await db
    .selectFrom('embedders')
    .select('dimension')
    .where('id', '=', embedderId)
    .executeTakeFirst();
  if (!row || row.dimension === dimension) return;
  if (row.dimension !== null)
    await db.deleteFrom('turn_vectors').where('embedder_id', '=', embedderId).execute();
  await db.updateTable('embedders').set({ dimension }).where('id', '=', embedderId).execute();
}

/** In the order in which they were written. */
export async function vectorsAfter(
  db: Db,
  { embedderId, projectId, after, limit }: OfProject & { after: number; limit: number },
): Promise<(WrittenVector & { number: number })[]> {
  const rows = await db
    .selectFrom('turn_vectors')
    .select(['number', 'turn_number', 'scale', 'bytes'])
    .where('embedder_id', '=', embedderId)
    .where('project_id', '=', projectId)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute();
  return rows.map(({ number, turn_number, scale, bytes }) => ({
    ...{ number: Number(number), turnNumber: Number(turn_number), scale, bytes },
  }));
}

/** What other embedders made of the project, and what has become too old. */
export async function dropOldVectors(db: Db, { embedderId, projectId }: OfProject): Promise<void> {
  await db
    .deleteFrom('turn_vectors')
    .where('project_id', '=', projectId)
    .where('embedder_id', '!=', embedderId)
    .execute();
  await db
    .deleteFrom('turn_vectors')
    .where('project_id', '=', projectId)
    .where('turn_number', '<=', await oldestWithVector(db, projectId))
    .execute();
}

/** One process at a time places a project's turns: it costs money. False: another one does. */
export async function leaseProject(
  db: Db,
  { embedderId, projectId, owner, leaseMs }: OfProject & { owner: string; leaseMs: number },
): Promise<boolean> {
  await db
    .insertInto('embedder_projects')
    .values({ embedder_id: embedderId, project_id: projectId, lease_owner: null, lease_until: null })
    .onConflict((conflict) => conflict.columns(['embedder_id', 'project_id']).doNothing())
    .execute();
  const taken = await db
    .updateTable('embedder_projects')
    .set({ lease_owner: owner, lease_until: storeNow(leaseMs) })
    .where('embedder_id', '=', embedderId)
    .where('project_id', '=', projectId)
    .where((eb) =>
      eb.or([
        eb('lease_until', 'is', null),
        eb('lease_until', '<', storeNow()),
        eb('lease_owner', '=', owner),
      ]),
    )
    .returning('project_id')
    .execute();
  return taken.length > 0;
}

export async function releaseProject(
  db: Db,
  { embedderId, projectId, owner }: OfProject & { owner: string },
): Promise<void> {
  await db
    .updateTable('embedder_projects')
    .set({ lease_owner: null, lease_until: null })
    .where('embedder_id', '=', embedderId)
    .where('project_id', '=', projectId)
    .where('lease_owner', '=', owner)
    .execute();
}
