import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVectorPlaces } from '../../../src/context/code-index/vector-places.ts';

const DIMS = 8;

function unit(parts: readonly number[]): Float32Array {
  const length = Math.hypot(...parts) || 1;
  return Float32Array.from(parts, (part) => part / length);
}

const vectors = fc.array(
  fc
    .array(fc.integer({ min: -9, max: 9 }), { minLength: DIMS, maxLength: DIMS })
    .filter((parts) => parts.some(Boolean)),
  { minLength: 1, maxLength: 600 },
);

describe('places of vectors', () => {
  it('finds the nearest, as comparing all of them does', () => {
    fc.assert(
      fc.property(vectors, (all) => {
        const places = createVectorPlaces(DIMS);
        for (const [chunk, parts] of all.entries()) places.place(chunk, unit(parts));
        const asked = unit(all[0]!);
        const found = places.search(asked, 5);
        const dot = (parts: number[]) =>
          unit(parts).reduce((sum, part, axis) => sum + part * asked[axis]!, 0);
        const right = all
          .map(dot)
          .filter((score) => score > 0.15)
          .sort((a, b) => b - a)
          .slice(0, 5);
        // A byte for each axis is not exact.
        for (const [at, score] of right.entries()) expect(found[at]?.score).toBeCloseTo(score, 1);
      }),
      { numRuns: 50 },
    );
  });

  it('looks at most of the same ones where it compares only a part', () => {
    const random = (seed: number) =>
      Math.sin(seed * 12.9898) * 43758.5453 - Math.floor(Math.sin(seed * 12.9898) * 43758.5453) - 0.5;
    const vector = (seed: number) => unit(Array.from({ length: 96 }, (_, axis) => random(seed * 101 + axis)));
    const [whole, part] = [createVectorPlaces(96), createVectorPlaces(96, { comparedInFull: 400 })];
    for (let chunk = 0; chunk < 4_000; chunk++)
      for (const each of [whole, part]) each.place(chunk, vector(chunk));
    const isWanted = (chunk: number) => chunk % 2 === 0;
    let same = 0;
    for (let asked = 0; asked < 20; asked++) {
      // Near to one of them.
      const near = unit([...vector(asked * 7)].map((value, axis) => value + 0.5 * random(axis + asked)));
      const found = new Set(part.search(near, 10, isWanted).map(({ chunk }) => chunk));
      const right = whole.search(near, 10, isWanted);
      expect([...found].every(isWanted)).toBe(true);
      if (asked % 2 === 0) expect(found.has(asked * 7)).toBe(true);
      same += right.filter(({ chunk }) => found.has(chunk)).length / right.length;
    }
    expect(same / 20).toBeGreaterThan(0.7);
  });

  it('never finds what was forgotten, and uses its room again', () => {
    const places = createVectorPlaces(DIMS);
    const here = unit([1, 0, 0, 0, 0, 0, 0, 0]);
    for (let chunk = 0; chunk < 1000; chunk++) places.place(chunk, here);
    for (let chunk = 0; chunk < 1000; chunk++) if (chunk !== 500) places.forget(chunk);
    places.forget(4000);
    expect(places.search(here, 10).map(({ chunk }) => chunk)).toEqual([500]);
    places.place(5000, here);
    expect(
      places
        .search(here, 10)
        .map(({ chunk }) => chunk)
        .sort(),
    ).toEqual([500, 5000]);
  });
});
