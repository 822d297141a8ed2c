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
