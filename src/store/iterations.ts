import type { Insertable, Selectable, UpdateObject } from 'kysely';
import {
  type IterationOutcome,
  type IterationStatus,
  LIVE_ITERATION_STATUSES,
  transitionIteration,
} from '../domain/status.ts';
import { type IterationTexts, readPackedTexts } from './packs.ts';
import type { IterationsTable, Schema } from './schema.ts';
import { type Db, fromJson, storeNow, toJson } from './store.ts';

export interface Iteration
  extends Omit<Selectable<IterationsTable>, 'files_changed' | 'sections' | 'is_packed'> {
  files_changed: string[];
  sections: { name: string; tokens: number }[] | null;
}

/** An iteration without its two long texts: what decisions and lists need, at a constant cost. */
export type IterationHead = Omit<Iteration, 'task_content' | 'output_full'>;

const HEAD_COLUMNS = [
  'id',
  'session_id',
  'iteration_number',
  'unit',
  'attempt',
  'inbox_task_id',
  'status',
  'signal',
  'signal_source',
  'signal_rule',
  'output_summary',
  'commit_hash',
  'files_changed',
  'anchor_turn_id',
  'anchor_strategy',
  'anchor_resolution_ms',
  'anchor_hint_next',
  'salience',
  'depth',
  'context_tokens',
  'slice_id',
  'sections',
  'start_sha',
  'tree_hash',
  'new_tree',
  'cost_usd',
  'input_tokens',
  'output_tokens',
  'cache_tokens',
  'failure_class',
  'outcome',
  'started_at',
  'ended_at',
] as const;

/** A second live iteration of one session breaks the unique index: the store's own guard. */
export async function insertIteration(
  db: Db,
  {
    sections = null,
    ...iteration
  }: Omit<Insertable<IterationsTable>, 'files_changed' | 'new_tree' | 'sections'> & {
    sections?: string | null;
  },
): Promise<void> {
  await db
    .insertInto('pulse_iterations')
    .values({ ...iteration, sections, files_changed: '[]', new_tree: 0 })
    .execute();
}

/** Ascending, whole. */
export async function listIterations(db: Db, sessionId: string): Promise<Iteration[]> {
  const rows = await db
    .selectFrom('pulse_iterations')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('iteration_number')
    .execute();
  const isPacked = rows.some((row) => row.is_packed === 1);
  const packed = isPacked ? await readPackedTexts(db, sessionId) : null;
  return rows.map((row) => decodeIteration(row, packed?.get(row.iteration_number)));
}

function decodeIteration(
  { is_packed: _, ...row }: Selectable<IterationsTable>,
  packed: IterationTexts | undefined,
): Iteration {
  const texts = packed ? { task_content: packed.task, output_full: packed.output } : {};
  return {
    ...row,
    ...texts,
    ...decodeJson(row),
  };
}

function decodeJson({
  files_changed,
  sections,
}: Pick<Selectable<IterationsTable>, 'files_changed' | 'sections'>) {
  return {
    files_changed: fromJson<string[]>(files_changed),
    sections: sections === null ? null : fromJson<Iteration['sections']>(sections),
  };
}

export async function findIteration(db: Db, sessionId: string, number: number): Promise<Iteration | null> {
  const row = await db
    .selectFrom('pulse_iterations')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('iteration_number', '=', number)
    .executeTakeFirst();
  if (!row) return null;
  const packed =
    row.is_packed === 1 ? await readPackedTexts(db, sessionId, { first: number, last: number }) : null;
  return decodeIteration(row, packed?.get(number));
}

/** What these iterations ended with, by number. */
export async function readOutputs(
  db: Db,
  sessionId: string,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const rows = await db
    .selectFrom('pulse_iterations')
    .select(['iteration_number', 'output_full', 'is_packed'])
    .where('session_id', '=', sessionId)
    .where('iteration_number', '>=', first)
    .where('iteration_number', '<=', last)
    .execute();
  const isPacked = rows.some((row) => row.is_packed === 1);
  const packed = isPacked ? await readPackedTexts(db, sessionId, { first, last }) : null;
  return new Map(
    rows.map((row) => {
      const output = packed?.get(row.iteration_number)?.output ?? row.output_full;
      return [row.iteration_number, output ?? ''];
    }),
  );
}

/** Whole; `null` before the first. */
export async function newestIteration(db: Db, sessionId: string): Promise<Iteration | null> {
  const [head] = await recentIterations(db, sessionId, 1);
  return head ? findIteration(db, sessionId, head.iteration_number) : null;
}

/** The newest `count`, newest first. */
export async function recentIterations(db: Db, sessionId: string, count: number): Promise<IterationHead[]> {
  const rows = await db
    .selectFrom('pulse_iterations')
    .select(HEAD_COLUMNS)
    .where('session_id', '=', sessionId)
    .orderBy('iteration_number', 'desc')
    .limit(count)
    .execute();
  return rows.map((row) => ({ ...row, ...decodeJson(row) }));
}

export interface IterationFilter {
  /** Only those with a lower number. */
  before?: number;
  outcome?: IterationOutcome;
  limit: number;
}

/** Newest first, without their long texts. */
export async function pageIterations(
  db: Db,
  sessionId: string,
  { before, outcome, limit }: IterationFilter,
): Promise<IterationHead[]> {
  let query = db
    .selectFrom('pulse_iterations')
    .select(HEAD_COLUMNS)
    .where('session_id', '=', sessionId)
    .orderBy('iteration_number', 'desc')
    .limit(limit);
  if (before !== undefined) query = query.where('iteration_number', '<', before);
  if (outcome !== undefined) query = query.where('outcome', '=', outcome);
  const rows = await query.execute();
  return rows.map((row) => ({ ...row, ...decodeJson(row) }));
}

export async function countIterations(db: Db, sessionId: string): Promise<number> {
  const row = await db
    .selectFrom('pulse_iterations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** What the newest `count` cost, newest first. */
export async function recentCosts(
  db: Db,
  sessionId: string,
  count: number,
): Promise<Pick<Iteration, 'cost_usd'>[]> {
  return db
    .selectFrom('pulse_iterations')
    .select('cost_usd')
    .where('session_id', '=', sessionId)
    .orderBy('iteration_number', 'desc')
    .limit(count)
    .execute();
}

/** Its attempt begins; an earlier one may have begun it. */
export async function startIteration(
  db: Db,
  { sessionId, number }: { sessionId: string; number: number },
): Promise<void> {
  const iteration = await db
    .selectFrom('pulse_iterations')
    .select(['id', 'status', 'started_at'])
    .where('session_id', '=', sessionId)
    .where('iteration_number', '=', number)
    .executeTakeFirstOrThrow();
  const isFirst = iteration.started_at === null;
  await moveIteration(db, iteration, 'running', isFirst ? { started_at: storeNow() } : {});
}

export function isLive(iteration: Pick<Iteration, 'status'>): boolean {
  return LIVE_ITERATION_STATUSES.includes(iteration.status);
}

export async function moveIteration(
  db: Db,
  { id, status }: Pick<Iteration, 'id' | 'status'>,
  to: IterationStatus,
  patch: Omit<UpdateObject<Schema, 'pulse_iterations'>, 'id' | 'status' | 'files_changed'> & {
    files_changed?: string[];
  } = {},
): Promise<void> {
  const { files_changed, ...rest } = patch;
  await db
    .updateTable('pulse_iterations')
    .set({
      ...rest,
      status: status === to ? to : transitionIteration(status, to),
      ...(files_changed ? { files_changed: toJson(files_changed) } : {}),
    })
    .where('id', '=', id)
    .execute();
}

/** Whether some earlier iteration of the session already had this tree. */
export async function treeSeen(db: Db, sessionId: string, tree: string): Promise<boolean> {
  const row = await db
    .selectFrom('pulse_iterations')
    .select('id')
    .where('session_id', '=', sessionId)
    .where('tree_hash', '=', tree)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

type AnchorColumn =
  | 'anchor_turn_id'
  | 'anchor_strategy'
  | 'anchor_resolution_ms'
  | 'salience'
  | 'depth'
  | 'slice_id';

/** Only for an iteration whose agent has not run yet: it starts from another commit, or with another brief. */
export async function amendIteration(
  db: Db,
  id: string,
  patch: Partial<Pick<Iteration, 'start_sha' | 'task_content' | 'context_tokens' | AnchorColumn>> & {
    sections?: string | null;
  },
): Promise<void> {
  await db.updateTable('pulse_iterations').set(patch).where('id', '=', id).execute();
}
