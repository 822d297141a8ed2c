/** The Graph Kernel: the part of a project's turns that belongs to an anchor, the same for the same graph. */
import type { Db } from '../../store/store.ts';
import { canonicalJson, hashOf } from './canonical.ts';
import { DEFAULT_POLICY, type SlicePolicy } from './policy.ts';
import { createReadNeighbours, findGraphTurn } from './read-graph.ts';
import { type SliceKeys, signSlice } from './slice-token.ts';
import { type GraphTurn, takeTurns } from './take-turns.ts';

export interface SliceEdge {
  parent: string;
  child: string;
}

export interface Slice {
  slice_id: string;
  anchor_turn_id: string;
  /** Ascending. */
  turn_ids: string[];
  /** Only those of which both ends are in the slice. */
  edges: SliceEdge[];
  node_count: number;
  policy_id: string;
  policy_params_hash: string;
  /** Of the slice's turns: their place, phase, salience and content. */
  graph_snapshot_hash: string;
  admissibility_token: string;
}

export interface SliceRequest {
  projectId: string;
  anchorId: string;
  policy?: SlicePolicy;
  keys: SliceKeys;
}

/** `null`: the project has no such turn. */
export async function createSlice(db: Db, request: SliceRequest): Promise<Slice | null> {
  const { projectId, anchorId, policy = DEFAULT_POLICY, keys } = request;
  const anchor = await findGraphTurn(db, projectId, anchorId);
  if (!anchor) return null;
  const turns = await takeTurns(anchor, policy.params, createReadNeighbours(db, projectId));
  return sliceOf(anchor, { turns, policy, keys });
}

/** Each on its own, in one snapshot; those that name no turn are left out. */
export async function createSlices(
  db: Db,
  { anchorIds, ...request }: Omit<SliceRequest, 'anchorId'> & { anchorIds: readonly string[] },
): Promise<Slice[]> {
  const slices: Slice[] = [];
  for (const anchorId of anchorIds) {
    const slice = await createSlice(db, { ...request, anchorId });
    if (slice) slices.push(slice);
  }
  return slices;
}

function sliceOf(
  anchor: GraphTurn,
  { turns, policy, keys }: { turns: readonly GraphTurn[]; policy: SlicePolicy; keys: SliceKeys },
): Slice {
  const ordered = turns.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ids = new Set(ordered.map(({ id }) => id));
  const edges = ordered
    .flatMap(({ id, parentId }) =>
      parentId !== null && ids.has(parentId) ? [{ parent: parentId, child: id }] : [],
    )
    .sort((a, b) => (canonicalJson({ ...a }) < canonicalJson({ ...b }) ? -1 : 1));
  const facts = {
    anchor_turn_id: anchor.id,
    turn_ids: [...ids],
    edges,
    node_count: ids.size,
    policy_id: policy.id,
    policy_params_hash: policy.paramsHash,
    graph_snapshot_hash: hashOf(ordered.map((turn) => ({ ...turn }))),
  };
  const slice_id = hashOf({ ...facts, edges: edges.map((edge) => ({ ...edge })) });
  return { slice_id, ...facts, admissibility_token: signSlice(keys, { slice_id, turn_ids: facts.turn_ids }) };
}
