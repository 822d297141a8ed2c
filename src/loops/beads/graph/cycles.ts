/** Beads that wait for each other would wait for ever: such a circle is found before it is written. */
import { PulseError } from '../../../domain/errors.ts';

/** Of each bead, what it points to. */
export type Edges = ReadonlyMap<string, readonly string[]>;

/** A circle as ids, each pointing to the next one and the last to the first; `null` where there is none. */
export function findCycle(edges: Edges): string[] | null {
  const done = new Set<string>();
  for (const start of edges.keys()) {
    const cycle = done.has(start) ? null : walk(start, { edges, done });
    if (cycle) return cycle;
  }
  return null;
}

/** Depth first, without recursion: a chain may be as long as the graph. */
function walk(start: string, { edges, done }: { edges: Edges; done: Set<string> }): string[] | null {
  const path: string[] = [];
  const places = new Map<string, number>();
  const open: { id: string; next: number }[] = [{ id: start, next: 0 }];
  while (open.length > 0) {
    const top = open.at(-1)!;
    if (top.next === 0) {
      places.set(top.id, path.length);
      path.push(top.id);
    }
    const to = edges.get(top.id)?.[top.next++];
    if (to === undefined) {
      done.add(top.id);
      places.delete(path.pop()!);
      open.pop();
    } else if (places.has(to)) return path.slice(places.get(to));
    else if (!done.has(to)) open.push({ id: to, next: 0 });
  }
  return null;
}

/** `what`: how its members are connected. */
export function refuseCycle(cycle: readonly string[], what: 'waits for' | 'is a part of'): PulseError {
  const shown = cycle.length > 20 ? [...cycle.slice(0, 19), `… (${cycle.length - 19} more)`] : cycle;
  return new PulseError('invalid_input', `A cycle: ${[...shown, cycle[0]].join(` ${what} `)}.`, {
    hint: 'Take one of these dependencies away. Nothing was changed.',
    data: { cycle },
  });
}
