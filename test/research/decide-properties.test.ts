import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextStep } from '../../src/loops/research/measure/decide.ts';
import { decisionSchema, type Reading } from '../../src/loops/research/measure/decision.ts';
import type { Reference } from '../../src/loops/research/measure/reference.ts';
import type { Question } from '../../src/loops/research/measure/trial.ts';
import { cycle, referenceOf, settle } from './scenario.ts';

/** A test of 160 with a best reading for every second, two comparisons of 160, and what may be unreadable or missing. */
const MOST_READINGS = 160 + 80 + 320 + 2 * 13 + 12;

const value = fc.double({ min: 50, max: 150, noNaN: true });
const baseline = fc
  .array(value, { minLength: 12, maxLength: 12 })
  .filter((values) => new Set(values).size > 2);
const minDelta = fc.option(
  fc.record({
    unit: fc.constantFrom('absolute' as const, 'relative' as const),
    value: fc.oneof(fc.constant(0), fc.double({ min: 1e-6, max: 0.3, noNaN: true })),
  }),
);
const question = fc.record({
  direction: fc.constantFrom('higher' as const, 'lower' as const),
  minDelta,
  reference: baseline.map((values) => referenceOf(values)),
  netLines: fc.integer({ min: -30, max: 60 }),
});
const readings = fc.array(fc.record({ of: fc.constantFrom('candidate' as const, 'best' as const), value }), {
  maxLength: 60,
});
const answers = fc.array(value, { minLength: 1, maxLength: 40 });

const map = (reference: Reference, change: (value: number) => number, squared: number): Reference => ({
  ...reference,
  window: reference.window.map(change),
  groups: reference.groups.map((group) => ({ ...group, squares: group.squares * squared })),
});

describe('the decision', () => {
  it('is the same when all readings and an absolute min_delta are scaled', () => {
    fc.assert(
      fc.property(question, readings, fc.integer({ min: -20, max: 20 }), (asked, taken, power) => {
        const factor = 2 ** power;
        const scaled: Question = {
          ...asked,
          minDelta:
            asked.minDelta?.unit === 'absolute'
              ? { ...asked.minDelta, value: asked.minDelta.value * factor }
              : asked.minDelta,
          reference: map(asked.reference, (known) => known * factor, factor ** 2),
        };
        const before = nextStep(asked, taken);
        const after = nextStep(
          scaled,
          taken.map((reading) => ({ ...reading, value: reading.value * factor })),
        );
        expect(essence(after)).toEqual(essence(before));
      }),
      { numRuns: 300 },
    );
  });

  it('is the same for mirrored readings and the mirrored direction', () => {
    fc.assert(
      fc.property(question, readings, (asked, taken) => {
        const mirrored: Question = {
          ...asked,
          direction: asked.direction === 'higher' ? 'lower' : 'higher',
          reference: map(asked.reference, (known) => -known, 1),
        };
        const after = nextStep(
          mirrored,
          taken.map((reading) => ({ ...reading, value: -reading.value })),
        );
        expect(essence(after)).toEqual(essence(nextStep(asked, taken)));
      }),
      { numRuns: 300 },
    );
  });

  it('does not depend on the order in which the best was read', () => {
    const shuffled = baseline.chain((values) =>
      fc.tuple(fc.constant(values), fc.shuffledSubarray(values, { minLength: 12, maxLength: 12 })),
    );
    fc.assert(
      fc.property(
        question,
        shuffled,
        fc.array(value, { maxLength: 2 }),
        (asked, [values, other], candidates) => {
          const taken = candidates.map((read): Reading => ({ of: 'candidate', value: read }));
          const step = (order: number[]) => nextStep({ ...asked, reference: referenceOf(order) }, taken);
          expect(essence(step(other))).toEqual(essence(step(values)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('does not depend on which of two readings came first, where neither alone decides', () => {
    fc.assert(
      fc.property(question, value, value, (asked, first, second) => {
        const [a, b]: Reading[] = [
          { of: 'candidate', value: first },
          { of: 'candidate', value: second },
        ];
        fc.pre([a!, b!].every((reading) => nextStep({ ...asked, netLines: 0 }, [reading]).do === 'read'));
        const forth = nextStep({ ...asked, netLines: 0 }, [a!, b!]);
        expect(essence(nextStep({ ...asked, netLines: 0 }, [b!, a!]))).toEqual(essence(forth));
      }),
      { numRuns: 300 },
    );
  });

  it('comes within the bound, whatever is read, and can always be stored', () => {
    const wild = fc.oneof(
      fc.double(),
      fc.constantFrom(Number.NaN, Infinity, -Infinity, 0, -0, Number.MAX_VALUE, Number.MIN_VALUE, -1e150),
      value,
    );
    fc.assert(
      fc.property(question, fc.array(wild, { minLength: 1, maxLength: 40 }), (asked, values) => {
        const { decision } = settle(asked, cycle(values), MOST_READINGS);
        expect(decisionSchema.parse(JSON.parse(JSON.stringify(decision)))).toEqual(
          JSON.parse(JSON.stringify(decision)),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('comes within the bound for readings that look alike', () => {
    fc.assert(
      fc.property(question, answers, (asked, values) => {
        const { decision } = settle(asked, cycle(values), MOST_READINGS);
        expect(['keep', 'discard']).toContain(decision.verdict);
      }),
      { numRuns: 200 },
    );
  });
});

function essence(step: ReturnType<typeof nextStep>): unknown {
  if (step.do === 'read') return step;
  const { verdict, reason, stage, mode, readings: taken } = step.decision;
  return { verdict, reason, stage, mode, readings: taken.length, sinceBest: step.reference.sinceBest };
}
