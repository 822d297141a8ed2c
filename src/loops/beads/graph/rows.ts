/** Beads in the store. Every change is made under the project's lock, which also numbers it. */
import { type Selectable, type SqlBool, sql } from 'kysely';
import { PulseError } from '../../../domain/errors.ts';
import { type Db, fromJson, inPortions, storeNow, toJson } from '../../../store/store.ts';
import { type BeadsTable, withBeadTables } from '../tables.ts';
import { type Bead, type BeadFields, blockersOf, type Dependency, epicOf, missingFields } from './bead.ts';
import { instantMs } from './instant.ts';

/** The project is alone until the transaction ends. */
export interface ProjectLock {
  projectId: string;
  /** Of this change; it rises with each one. */
  revision: number;
  /** By the store's clock. */
  now: string;
}

/** First in every transaction that changes beads: the second to come waits here, and then sees what the first did. */
export async function lockProject(db: Db, projectId: string): Promise<ProjectLock> {
  const { revision, now } = await withBeadTables(db)
    .insertInto('bead_projects')
    .values({ project_id: projectId, revision: 1 })
    .onConflict((conflict) =>
      conflict.column('project_id').doUpdateSet((eb) => ({ revision: eb('bead_projects.revision', '+', 1) })),
    )
    .returning(['revision', storeNow().as('now')])
    .executeTakeFirstOrThrow();
  return { projectId, revision, now };
}

/** 0: the project has no beads. */
export async function readRevision(db: Db, projectId: string): Promise<number> {
  const row = await withBeadTables(db)
    .selectFrom('bead_projects')
    .select('revision')
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return row?.revision ?? 0;
}

export async function findBead(db: Db, projectId: string, id: string): Promise<Bead | null> {
  const [bead = null] = await findBeads(db, projectId, [id]);
  return bead;
}

/** Throws `not_found`. */
export async function getBead(db: Db, projectId: string, id: string): Promise<Bead> {
  const bead = await findBead(db, projectId, id);
  if (bead) return bead;
  throw new PulseError('not_found', `There is no bead ${id.slice(0, 200)}.`, {
    hint: '`pulse bead list` shows the beads of this project.',
  });
}

/** In no order; those that are not there are left out. */
export async function findBeads(db: Db, projectId: string, ids: readonly string[]): Promise<Bead[]> {
  const found: Bead[] = [];
  for (const portion of inPortions(ids)) {
    const rows = await selectBeads(db, projectId).where('beads.id', 'in', portion).execute();
    found.push(...rows.map(toBead));
  }
  return found;
}

export interface BeadFilter {
  status?: string;
  /** Of this epic, and of those within it. */
  epic?: string;
  label?: string;
}

/** Oldest first. */
export async function listBeads(
  db: Db,
  projectId: string,
  { status, epic, label }: BeadFilter = {},
): Promise<Bead[]> {
  let query = selectBeads(db, projectId).orderBy('beads.created_ms').orderBy('beads.id');
  if (status !== undefined) query = query.where('beads.status', '=', status);
  if (epic !== undefined) query = query.where(isBelow(projectId, epic));
  const beads = (await query.execute()).map(toBead);
  return label === undefined ? beads : beads.filter(({ labels }) => labels.includes(label));
}

/** Whether a row of `beads` belongs to the epic, at any depth: what `next` asks of the graph in memory. */
export function isBelow(projectId: string, epic: string) {
  return sql<SqlBool>`beads.id IN (
    WITH RECURSIVE below (id) AS (
      SELECT id FROM beads WHERE project_id = ${projectId} AND epic = ${epic}
      UNION
      SELECT part.id FROM beads AS part JOIN below ON part.epic = below.id WHERE part.project_id = ${projectId})
    SELECT id FROM below)`;
}

function selectBeads(db: Db, projectId: string) {
  return withBeadTables(db)
    .selectFrom('beads')
    .innerJoin('bead_texts as texts', (join) =>
      join.onRef('texts.project_id', '=', 'beads.project_id').onRef('texts.id', '=', 'beads.id'),
    )
    .selectAll('beads')
    .select(['texts.body', 'texts.fields'])
    .where('beads.project_id', '=', projectId);
}

function toBead(row: Selectable<BeadsTable> & { body: string; fields: unknown }): Bead {
  const { claim_worker: worker, claim_fence: fence, claimed_at: at } = row;
  return {
    id: row.id,
    title: row.title,
    type: row.type,
    status: row.status,
    priority: row.priority,
    epic: row.epic,
    body: row.body,
    labels: fromJson<string[]>(row.labels),
    dependencies: fromJson<Dependency[]>(row.dependencies),
    fields: fromJson<BeadFields>(row.fields),
    missing: row.missing === '' ? [] : row.missing.split(' '),
    assignee: row.assignee,
    claim: worker !== null && fence !== null && at !== null ? { worker, fence, at } : null,
    created_at: row.created_at,
    updated_at: row.updated_at,
    closed_at: row.closed_at,
    close_reason: row.close_reason,
    revision: row.revision,
  };
}

/** A bead as it is to be stored; what follows from the rest is found by itself. */
export type BeadContent = Omit<Bead, 'epic' | 'missing' | 'revision'>;

/** Writes whole beads, new ones too. */
export async function writeBeads(
  db: Db,
  { projectId, revision }: ProjectLock,
  beads: readonly BeadContent[],
): Promise<void> {
  const tables = withBeadTables(db);
  for (const portion of inPortions(beads)) {
    await tables
      .insertInto('beads')
      .values(portion.map((bead) => toRow(bead, projectId, revision)))
      .onConflict((conflict) =>
        conflict
          .columns(['project_id', 'id'])
          .doUpdateSet((eb) =>
            Object.fromEntries(CHANGEABLE.map((column) => [column, eb.ref(`excluded.${column}`)])),
          ),
      )
      .execute();
    await tables
      .insertInto('bead_texts')
      .values(
        portion.map(({ id, body, fields }) => ({ project_id: projectId, id, body, fields: toJson(fields) })),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['project_id', 'id'])
          .doUpdateSet((eb) => ({ body: eb.ref('excluded.body'), fields: eb.ref('excluded.fields') })),
      )
      .execute();
  }
}

const CHANGEABLE = [
  ...([
    'type',
    'status',
    'priority',
    'epic',
    'missing',
    'needs',
    'dependencies',
    'created_at',
    'created_ms',
  ] as const),
  ...(['revision', 'title', 'labels', 'assignee', 'claim_worker', 'claim_fence', 'claimed_at'] as const),
  ...(['updated_at', 'closed_at', 'close_reason'] as const),
] as const;

function toRow(bead: BeadContent, projectId: string, revision: number) {
  return {
    project_id: projectId,
    id: bead.id,
    type: bead.type,
    status: bead.status,
    priority: bead.priority,
    epic: epicOf(bead.dependencies),
    missing: missingFields(bead.type, bead.fields).join(' '),
    needs: blockersOf(bead.dependencies).join(' '),
    dependencies: toJson(bead.dependencies),
    created_at: bead.created_at,
    created_ms: instantMs(bead.created_at),
    revision,
    title: bead.title,
    labels: toJson(bead.labels),
    assignee: bead.assignee,
    claim_worker: bead.claim?.worker ?? null,
    claim_fence: bead.claim?.fence ?? null,
    claimed_at: bead.claim?.at ?? null,
    updated_at: bead.updated_at,
    closed_at: bead.closed_at,
    close_reason: bead.close_reason,
  };
}

/** What changes without its texts. */
type StateChange = Partial<
  Pick<
    Selectable<BeadsTable>,
    | 'status'
    | 'assignee'
    | 'claim_worker'
    | 'claim_fence'
    | 'claimed_at'
    | 'updated_at'
    | 'closed_at'
    | 'close_reason'
  >
>;

export async function updateState(
  db: Db,
  { projectId, revision, now }: ProjectLock,
  { id, ...change }: StateChange & { id: string },
): Promise<void> {
  await withBeadTables(db)
    .updateTable('beads')
    .set({ updated_at: now, ...change, revision })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute();
}

/** Which of these ids are beads, and of which type. */
export async function typesOf(
  db: Db,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const types = new Map<string, string>();
  for (const portion of inPortions(ids)) {
    const rows = await withBeadTables(db)
      .selectFrom('beads')
      .select(['id', 'type'])
      .where('project_id', '=', projectId)
      .where('id', 'in', portion)
      .execute();
    for (const { id, type } of rows) types.set(id, type);
  }
  return types;
}

/** Of every bead, what it depends on. */
export async function readDependencies(db: Db, projectId: string): Promise<Map<string, Dependency[]>> {
  const rows = await withBeadTables(db)
    .selectFrom('beads')
    .select(['id', 'dependencies'])
    .where('project_id', '=', projectId)
    .execute();
  return new Map(rows.map(({ id, dependencies }) => [id, fromJson<Dependency[]>(dependencies)]));
}
