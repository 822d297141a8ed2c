/** Searching a project's turns, and the slices around them. */
import type { Operations } from '../../operations/context.ts';
import type { InputOf } from '../../operations/fields.ts';
import { findProject } from '../../operations/named-project.ts';
import { findTurns } from '../../store/turns.ts';
import { type FoundTurn, queryRag } from '../search/query-rag.ts';
import { policyOf } from '../slice/policy.ts';
import * as kernel from '../slice/slice.ts';
import { openSliceKeys } from '../slice/slice-keys.ts';
import type * as definitions from './definitions.ts';
import { unknownTurn } from './turns.ts';

type Input<K extends keyof typeof definitions> = InputOf<(typeof definitions)[K]['fields']>;

const EXCERPT = 280;

export interface SearchResult extends FoundTurn {
  role: string;
  phase: string;
  created_at: string;
  excerpt: string;
}

export async function searchTurns(
  operations: Operations,
  { project_key, query, limit }: Input<'searchTurns'>,
): Promise<{ results: SearchResult[] }> {
  const { engine, meaning, redactor } = operations;
  const { id: projectId } = await findProject(operations, project_key);
  const { store } = engine;
  const found = await queryRag({ store, meaning }, { goal: query, projectId, slice: null, limit });
  const turns = await store.read((db) =>
    findTurns(
      db,
      projectId,
      found.map(({ turn_id }) => turn_id),
    ),
  );
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  const results = found.flatMap((each) => {
    const turn = byId.get(each.turn_id);
    if (!turn) return [];
    const { role, phase, created_at } = turn;
    return [{ ...each, role, phase, created_at, excerpt: excerptOf(redactor.redact(turn.content)) }];
  });
  return { results };
}

function excerptOf(content: string): string {
  const line = content.replace(/\s+/g, ' ').trim();
  return line.length <= EXCERPT ? line : `${line.slice(0, EXCERPT).toWellFormed()} …`;
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
