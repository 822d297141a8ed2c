/**
 * Where the beads of a graph stand: in layers by what they wait for, within a layer near to what they are joined with
 * (barycentres, a few sweeps). Edges are straight lines. Ten milliseconds for a thousand beads.
 */
import type { Graph } from '../api/types.ts';

export interface Placed {
  id: string;
  layer: number;
  row: number;
}

export interface Layout {
  nodes: Placed[];
  edges: { from: Placed; to: Placed }[];
  layers: number;
  rows: number;
}

const SWEEPS = 4;

/** What goes in a circle is put as deep as it was found. */
export function layoutOf({ nodes, edges }: Pick<Graph, 'nodes' | 'edges'>): Layout {
  const needs = neighbours(nodes, edges, 'from', 'to');
  const blocks = neighbours(nodes, edges, 'to', 'from');
  const layerOf = new Map<string, number>();
  for (const { id } of nodes) depthOf(id, needs, layerOf);
  const layers: string[][] = [];
  for (const { id } of nodes) {
    const layer = layerOf.get(id)!;
    layers[layer] ??= [];
    layers[layer].push(id);
  }
  const filled = Array.from(layers, (layer) => layer ?? []);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isDown = sweep % 2 === 0;
    const order = isDown ? filled.keys() : [...filled.keys()].toReversed();
    for (const at of order) sortByNeighbours(filled[at]!, isDown ? needs : blocks, rowsOf(filled));
  }
  const placed = new Map(
    filled.flatMap((layer, at) => layer.map((id, row) => [id, { id, layer: at, row }] as const)),
  );
  return {
    nodes: [...placed.values()],
    edges: edges.flatMap(({ from, to }) => {
      const [waiting, needed] = [placed.get(from), placed.get(to)];
      return waiting && needed ? [{ from: needed, to: waiting }] : [];
    }),
    layers: filled.length,
    rows: Math.max(0, ...filled.map(({ length }) => length)),
  };
}

type Joined = Map<string, string[]>;

function neighbours(
  nodes: Graph['nodes'],
  edges: Graph['edges'],
  of: 'from' | 'to',
  to: 'from' | 'to',
): Joined {
  const found: Joined = new Map(nodes.map(({ id }) => [id, []]));
  for (const edge of edges) if (found.has(edge[to])) found.get(edge[of])?.push(edge[to]);
  return found;
}

function depthOf(id: string, needs: Joined, known: Map<string, number>): void {
  const path: { id: string; next: number }[] = [{ id, next: 0 }];
  const onPath = new Set([id]);
  while (path.length > 0) {
    const top = path.at(-1)!;
    const before = needs.get(top.id) ?? [];
    if (known.has(top.id) || top.next >= before.length) {
      if (!known.has(top.id))
        known.set(top.id, Math.max(-1, ...before.map((one) => known.get(one) ?? -1)) + 1);
      onPath.delete(top.id);
      path.pop();
      continue;
    }
    const next = before[top.next]!;
    top.next += 1;
    if (known.has(next) || onPath.has(next)) continue;
    onPath.add(next);
    path.push({ id: next, next: 0 });
  }
}

function rowsOf(layers: readonly string[][]): Map<string, number> {
  return new Map(layers.flatMap((layer) => layer.map((id, row) => [id, row] as const)));
}

function sortByNeighbours(layer: string[], joined: Joined, rows: Map<string, number>): void {
  const centre = new Map(
    layer.map((id, row) => {
      const others = (joined.get(id) ?? []).flatMap((one) => rows.get(one) ?? []);
      const mean = others.length === 0 ? row : others.reduce((sum, one) => sum + one, 0) / others.length;
      return [id, mean] as const;
    }),
  );
  layer.sort((a, b) => centre.get(a)! - centre.get(b)!);
}
