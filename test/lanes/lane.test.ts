import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draw } from './lane.ts';

interface Case {
  kind: string;
  number: number;
}
const cases = fc.array(fc.record<Case>({ kind: fc.constantFrom('a', 'b', 'c'), number: fc.integer() }));
const kind = (one: Case) => one.kind;

describe('a draw', () => {
  it('gives each case to the sample or to the rest, whatever the seed', () => {
    fc.assert(
      fc.property(cases, fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (all, seed, share) => {
        const [sample, rest] = (['sample', 'rest'] as const).map((lane) =>
          draw(all, { of: 'test', kind, share, seed, lane }),
        );
        expect([...sample!, ...rest!].toSorted(byPlace(all))).toEqual(all);
        expect(sample).toEqual(sample!.toSorted(byPlace(all)));
        expect(new Set(sample!.map(kind))).toEqual(new Set(all.map(kind)));
      }),
    );
  });

  it('gives the rest so much of the others as it is to have, and none twice', () => {
    const all = Array.from({ length: 100 }, (_, index) => index);
    const drawn = (lane: 'sample' | 'rest') =>
      draw(all, { of: 'test', share: 0.1, restShare: 0.5, seed: 1, lane });
    expect(drawn('sample')).toHaveLength(10);
    expect(drawn('rest')).toHaveLength(45);
    expect(new Set([...drawn('sample'), ...drawn('rest')]).size).toBe(55);
  });

  it('may leave out kinds, and then gives them to the rest', () => {
    fc.assert(
      fc.property(cases, fc.nat(), (all, seed) => {
        const drawn = (lane: 'sample' | 'rest') =>
          draw(all, { of: 'test', kind, kindShare: 1 / 3, seed, lane });
        expect([...drawn('sample'), ...drawn('rest')].toSorted(byPlace(all))).toEqual(all);
        const kinds = new Set(all.map(kind)).size;
        expect(drawn('sample')).toHaveLength(Math.ceil(kinds / 3));
      }),
    );
  });

  it('may draw none of a few, as often as the share says', () => {
    const drawn = (seed: number, lane: 'sample' | 'rest') =>
      draw([1, 2], { of: 'test', share: 1 / 8, least: 0, seed, lane });
    const seeds = Array.from({ length: 4_000 }, (_, seed) => seed);
    const some = seeds.filter((seed) => drawn(seed, 'sample').length > 0).length;
    expect(some / seeds.length).toBeCloseTo(1 / 4, 1);
    for (const seed of seeds.slice(0, 100))
      expect([...drawn(seed, 'sample'), ...drawn(seed, 'rest')].toSorted()).toEqual([1, 2]);
  });

  it('is the same for the same seed, and another one for another seed or another suite', () => {
    const all = Array.from({ length: 100 }, (_, index) => index);
    const drawn = (seed: number, of = 'one') => draw(all, { of, share: 0.1, seed, lane: 'sample' });
    expect(drawn(1)).toHaveLength(10);
    expect(drawn(1)).toEqual(drawn(1));
    expect(drawn(1)).not.toEqual(drawn(2));
    expect(drawn(1)).not.toEqual(drawn(1, 'two'));
  });

  it('takes everything where everything is asked for', () => {
    expect(draw([1, 2, 3], { of: 'test', lane: 'all' })).toEqual([1, 2, 3]);
  });
});

/** Two cases may look alike, but they are not the same object. */
function byPlace<T>(all: readonly T[]): (a: T, b: T) => number {
  return (a, b) => all.indexOf(a) - all.indexOf(b);
}
