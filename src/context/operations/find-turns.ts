/** Searching a project's turns, and the slices around them. */
import type { Operations } from '../../operations/context.ts';
import type { InputOf } from '../../operations/fields.ts';
import { findProject } from '../../operations/named-project.ts';
import type { EmbedderReport } from '../embedding/turn-embeddings.ts';
import { type SearchResult, searchExcerpts } from '../search/excerpts.ts';
import { policyOf } from '../slice/policy.ts';
import * as kernel from '../slice/slice.ts';
import { openSliceKeys } from '../slice/slice-keys.ts';
import type * as definitions from './definitions.ts';
import { unknownTurn } from './turns.ts';

type Input<K extends keyof typeof definitions> = InputOf<(typeof definitions)[K]['fields']>;

/** A command is over with its answer: it waits a little for what a model that is being fitted would find. */
const PATIENCE_MS = 1_000;

export interface FoundTurns {
  results: SearchResult[];
  /** Words answered alone: the model of the project's turns is still being made. */
  meaning?: 'learning';
  embedder?: EmbedderReport;
}

export async function searchTurns(
  operations: Operations,
  { project_key, query, limit }: Input<'searchTurns'>,
): Promise<FoundTurns> {
  const { engine, meaning, redactor } = operations;
  const { id: projectId } = await findProject(operations, project_key);
  const { store } = engine;
  const { redact } = redactor;
  const results = await searchExcerpts(
    { store, meaning },
    { query, projectId, limit, patienceMs: PATIENCE_MS, redact },
  );
  const embedder = await meaning.embeddings?.report(store, projectId);
  return {
    results,
    ...(meaning.state(projectId) === 'learning' ? { meaning: 'learning' } : {}),
    ...(embedder ? { embedder } : {}),
  };
}

/** Throws `not_found` where the project has no such turn. */
export async function createSlice(
  operations: Operations,
  { turn_id, project_key, policy }: Input<'createSlice'>,
): Promise<kernel.Slice> {
  const [slice] = (await createSlices(operations, { project_key, turn_ids: [turn_id], policy })).slices;
  if (!slice) throw unknownTurn(turn_id);
  return slice;
}

export async function createSlices(
  operations: Operations,
  { project_key, turn_ids, policy = 'default' }: Input<'createSlices'>,
): Promise<{ slices: kernel.Slice[] }> {
  const { store } = operations.engine;
  const { id: projectId } = await findProject(operations, project_key);
  const keys = await openSliceKeys(store);
  const request = { projectId, anchorIds: turn_ids, policy: policyOf(policy), keys };
  return { slices: await store.read((db) => kernel.createSlices(db, request)) };
}
