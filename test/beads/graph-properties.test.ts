import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCycle } from '../../src/loops/beads/graph/cycles.ts';
import { GraphMetrics } from '../../src/loops/beads/graph/metrics.ts';
import { listBeads } from '../../src/loops/beads/graph/rows.ts';
import { takeBest } from '../../src/loops/beads/graph/take-best.ts';
import { isPostgres, type Store } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { type Beads, beadsOf, PROJECT, READY } from './beads.ts';

/** What is said of a graph before anything is fast: by definition, and by brute force. */
interface Plain {
  id: string;
  priority: number;
  isOpen: boolean;
  needs: string[];
  order: number;
}

function reaches(
  from: string,
  to: string,
  needs: (id: string) => string[],
  seen = new Set<string>(),
): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return needs(from).some((next) => reaches(next, to, needs, seen));
}

function figuresOf(
  beads: readonly Plain[],
): Map<string, { path: number; rank: number; unblocks: number; isReady: boolean }> {
  const open = beads.filter(({ isOpen }) => isOpen);
  const openNeeds = (bead: Plain) => bead.needs.filter((id) => open.some((each) => each.id === id));
  const waiting = (id: string) => open.filter((bead) => openNeeds(bead).includes(id));
  const path = (id: string): number => Math.max(0, ...waiting(id).map((bead) => 1 + path(bead.id)));
  let ranks = new Map(open.map(({ id }) => [id, 1 / open.length]));
  for (let round = 0; round < 300; round++) {
    const dangling = open
      .filter((bead) => openNeeds(bead).length === 0)
      .reduce((sum, { id }) => sum + ranks.get(id)!, 0);
    ranks = new Map(
      open.map(({ id }) => {
        const handed = waiting(id).reduce(
          (sum, bead) => sum + ranks.get(bead.id)! / openNeeds(bead).length,
          0,
        );
        return [id, 0.15 / open.length + 0.85 * (handed + dangling / open.length)];
      }),
    );
  }
  return new Map(
    open.map((bead) => [
      bead.id,
      {
        path: path(bead.id),
        rank: Math.round(ranks.get(bead.id)! * 1e9) / 1e9,
        unblocks: waiting(bead.id).filter((each) => openNeeds(each).length === 1).length,
        isReady: openNeeds(bead).length === 0,
      },
    ]),
  );
}

function nextOf(beads: readonly Plain[]): string | null {
  const figures = figuresOf(beads);
  const ready = beads.filter(({ id }) => figures.get(id)?.isReady);
  const [best] = ready.toSorted((a, b) => {
    const [one, other] = [figures.get(a.id)!, figures.get(b.id)!];
    return (
      a.priority - b.priority ||
      other.path - one.path ||
      other.rank - one.rank ||
      other.unblocks - one.unblocks ||
      a.order - b.order
    );
  });
  return best?.id ?? null;
}

/** Each bead may wait for any, later ones too: half of such wishes would be circles. */
const wishes = fc.array(
  fc.record({ priority: fc.integer({ min: 0, max: 4 }), needs: fc.array(fc.nat(11), { maxLength: 3 }) }),
  { minLength: 1, maxLength: 12 },
);

describe('the figures of a graph', () => {
  it('are those of the definition', () => {
    fc.assert(
      fc.property(wishes, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (asked, closed) => {
        const beads = asked.map(
          ({ priority, needs }, index): Plain => ({
            id: `b${index}`,
            priority,
            isOpen: !closed[index],
            // Only earlier ones: no circle.
            needs: [...new Set(needs.filter((need) => need < index).map((need) => `b${need}`))],
            order: index,
          }),
        );
        const metrics = new GraphMetrics();
        const numbers = new Map(beads.map(({ id }) => [id, metrics.add()]));
        const set = ({ id, isOpen, needs }: Plain) =>
          metrics.set(numbers.get(id)!, { isOpen, needs: needs.map((need) => numbers.get(need)!) });
        // Lists grow and shrink on the way to what they are.
        for (const bead of beads) set({ ...bead, needs: beads.map(({ id }) => id) });
        for (const bead of beads) set({ ...bead, needs: [] });
        for (const bead of beads) set(bead);
        metrics.count();
        for (const [id, { path, rank, unblocks, isReady }] of figuresOf(beads)) {
          const number = numbers.get(id)!;
          expect([
            metrics.criticalPath[number],
            metrics.unblocks[number],
            metrics.openNeeds[number] === 0,
          ]).toEqual([path, unblocks, isReady]);
          expect(metrics.rank[number]).toBeCloseTo(rank, 8);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('finds a circle exactly where there is one', () => {
    fc.assert(
      fc.property(wishes, (asked) => {
        const edges = new Map(
          asked.map(({ needs }, index) => [`b${index}`, needs.map((need) => `b${need}`)]),
        );
        const needs = (id: string) => edges.get(id) ?? [];
        const cycle = findCycle(edges);
        const isCircular = [...edges.keys()].some((id) => needs(id).some((next) => reaches(next, id, needs)));
        expect(cycle !== null).toBe(isCircular);
        for (const [index, id] of (cycle ?? []).entries())
          expect(needs(id)).toContain(cycle![(index + 1) % cycle!.length]);
      }),
      { numRuns: 500 },
    );
  });

  it('finds a circle at the end of a chain of 100,000', () => {
    const edges = new Map(Array.from({ length: 100_000 }, (_, index) => [`b${index}`, [`b${index + 1}`]]));
    expect(findCycle(edges)).toBeNull();
    edges.set('b100000', ['b99999']);
    expect(findCycle(edges)).toEqual(['b99999', 'b100000']);
  });

  it('takes the best few as sorting would', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.integer({ min: 1, max: 10 }), (all, count) => {
        expect(takeBest(all, count, (a, b) => a < b)).toEqual(all.toSorted((a, b) => a - b).slice(0, count));
      }),
    );
  });
});

onBothStores((open) => {
  it('never lets a circle in, and works through any graph in the order of the definition', {
    timeout: 120_000,
  }, async () => {
    const store = await open();
    const isSlow = await store.read(async (db) => isPostgres(db));
    let round = 0;
    await fc.assert(
      fc.asyncProperty(wishes, async (asked) => {
        await workThrough(store, beadsOf(store), { asked, epic: `epic${round++}` });
      }),
      { numRuns: isSlow ? 6 : 25 },
    );
  });
});

/** In an epic of its own, so that all rounds share a store. Beads of rounds before are closed and weigh nothing. */
async function workThrough(
  store: Store,
  beads: Beads,
  { asked, epic }: { asked: readonly { priority: number; needs: number[] }[]; epic: string },
): Promise<void> {
  const name = (index: number) => `${epic}-${String(index).padStart(2, '0')}`;
  const plain = new Map<string, Plain>();
  await beads.create({ id: epic, type: 'epic' });
  for (const [index, { priority }] of asked.entries()) {
    await beads.create({ id: name(index), priority, ...READY });
    plain.set(name(index), { id: name(index), priority, isOpen: true, needs: [], order: index });
  }
  for (const [index, wish] of asked.entries()) {
    const bead = plain.get(name(index))!;
    const needs = [...new Set(wish.needs.filter((need) => need < asked.length).map(name))];
    const isCircle = needs.some((need) => reaches(need, bead.id, (id) => plain.get(id)!.needs));
    const written = beads.update(bead.id, { dependencies: needs });
    if (isCircle) await expect(written).rejects.toMatchObject({ code: 'invalid_input' });
    else {
      await written;
      bead.needs = needs;
    }
  }
  await beads.close(epic);
  for (let left = asked.length; left > 0; left--) {
    const { bead } = await beads.next();
    expect(bead?.id).toBe(nextOf([...plain.values()]));
    plain.get(bead!.id)!.isOpen = false;
    await beads.close(bead!.id);
  }
  expect((await beads.next()).bead).toBeNull();
  const open = await store.read((db) => listBeads(db, PROJECT, { status: 'open' }));
  expect(open).toEqual([]);
}
