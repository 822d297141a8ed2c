/** Best-first from the anchor: which turns belong to a slice. Pure but for the reading of neighbours. */
import type { Phase } from '../turns.ts';
import type { SliceParams } from './policy.ts';

export interface GraphTurn {
  id: string;
  parentId: string | null;
  phase: Phase;
  salience: number;
  contentHash: string;
}

export interface Neighbours {
  parent: GraphTurn | null;
  /** At most as many as were asked for, the best first. */
  children: GraphTurn[];
  /** Those with the lowest ids. */
  siblings: GraphTurn[];
}

/** Of several turns at once: each question costs about as much as reading ten turns. */
export type ReadNeighbours = (
  turns: readonly GraphTurn[],
  limits: { children: number; siblings: number },
) => Promise<ReadonlyMap<string, Neighbours>>;

/** Of the turns that wait to be taken, so many are asked for together. */
const ASKED_TOGETHER = 40;
/** Priorities are compared after rounding to a billionth. */
const ROUNDING = 1e9;

interface Waiting {
  turn: GraphTurn;
  distance: number;
  priority: number;
}

/** In the order in which they were taken, the anchor first. */
export async function takeTurns(
  anchor: GraphTurn,
  params: SliceParams,
  read: ReadNeighbours,
): Promise<GraphTurn[]> {
  const { maxNodes, radius, siblings } = params;
  const priorityOf = createPriority(params);
  const waiting = createHeap(isBefore);
  const taken = new Map<string, GraphTurn>();
  const nearest = new Map<string, number>();
  const known = new Map<string, Neighbours>();
  const offer = (turn: GraphTurn, distance: number): void => {
    if (distance > radius || taken.has(turn.id)) return;
    if (distance >= (nearest.get(turn.id) ?? Number.POSITIVE_INFINITY)) return;
    nearest.set(turn.id, distance);
    waiting.push({ turn, distance, priority: priorityOf(turn, distance) });
  };
  offer(anchor, 0);
  for (let next = waiting.pop(); next && taken.size < maxNodes; next = waiting.pop()) {
    const { turn, distance } = next;
    if (taken.has(turn.id)) continue;
    taken.set(turn.id, turn);
    if (taken.size === maxNodes) break;
    if (!known.has(turn.id)) {
      const others = waiting.first(ASKED_TOGETHER).map((each) => each.turn);
      const unknown = [turn, ...others.filter(({ id }) => !known.has(id) && !taken.has(id))];
      const limits = { children: maxNodes, siblings };
      for (const [id, found] of await read(unknown, limits)) known.set(id, found);
    }
    const found = known.get(turn.id);
    if (!found) continue;
    if (found.parent) offer(found.parent, distance + 1);
    for (const child of found.children) offer(child, distance + 1);
    for (const sibling of found.siblings) offer(sibling, distance);
  }
  return [...taken.values()];
}

function createPriority({ radius, decay, salienceWeight, phaseWeights }: SliceParams) {
  const factors = [1];
  for (let distance = 1; distance <= radius; distance++) factors.push(factors[distance - 1]! * decay);
  return ({ phase, salience }: GraphTurn, distance: number): number =>
    Math.round((phaseWeights[phase] + salience * salienceWeight) * factors[distance]! * ROUNDING);
}

/** The higher priority, then the lower distance, then the lower id. */
function isBefore(a: Waiting, b: Waiting): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.distance !== b.distance) return a.distance < b.distance;
  return a.turn.id < b.turn.id;
}

interface Heap<T> {
  push(value: T): void;
  pop(): T | undefined;
  /** Good ones, not in order: what lies at the top of the heap. */
  first(count: number): T[];
}

function createHeap<T>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  const values: T[] = [];
  const exchange = (a: number, b: number): void => {
    [values[a], values[b]] = [values[b]!, values[a]!];
  };
  return {
    push(value) {
      let at = values.push(value) - 1;
      while (at > 0 && isBefore(values[at]!, values[(at - 1) >> 1]!)) {
        exchange(at, (at - 1) >> 1);
        at = (at - 1) >> 1;
      }
    },
    pop() {
      const top = values[0];
      const last = values.pop();
      if (values.length === 0 || last === undefined) return top;
      values[0] = last;
      for (let at = 0; ; ) {
        let best = at;
        for (const child of [2 * at + 1, 2 * at + 2])
          if (child < values.length && isBefore(values[child]!, values[best]!)) best = child;
        if (best === at) return top;
        exchange(at, best);
        at = best;
      }
    },
    first: (count) => values.slice(0, count),
  };
}
