import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  nextBaselineStep,
  type Reference,
  variance,
  withNewBest,
} from '../../src/loops/research/measure/reference.ts';
import { mean, median, squaresAround } from '../../src/loops/research/measure/statistics.ts';

describe('the arithmetic', () => {
  it('has the same result to the last bit in whatever order', () => {
    const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 12 });
    const shuffled = values.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        expect(mean(other)).toBe(mean(one));
        expect(squaresAround(other)).toBe(squaresAround(one));
        expect(mean(one.map((value) => -value)) + mean(one)).toBe(0);
      }),
    );
  });

  it('knows the middle of what there is', () => {
    expect(median([])).toBeNull();
    expect(median([3, 1, 2])).toBe(2);
    expect(median([10, 9, 1, 2])).toBe(5.5);
    expect(squaresAround([5])).toBe(0);
    expect(mean([])).toBeNaN();
  });
});

describe('noise after a step', () => {
  const swing = (level: number, by: number): number[] =>
    Array.from({ length: 12 }, (_, index) => level + (index % 2 === 0 ? by : -by));
  function begun(values: number[]): Reference {
    const step = nextBaselineStep(values);
    if (step.do !== 'begin') throw new Error('a full window begins');
    return step.reference;
  }

  it('is that of the new level, where it clearly differs from the old', () => {
    const reference = withNewBest(begun(swing(1000, 50)), swing(30, 1));
    expect(Math.sqrt(variance(reference))).toBeCloseTo(1.04, 1);
  });

  it('is pooled where it is alike', () => {
    const reference = withNewBest(begun(swing(1000, 50)), swing(950, 40));
    expect(Math.sqrt(variance(reference))).toBeCloseTo(47.3, 0);
  });
});
