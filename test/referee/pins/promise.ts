/** What every protected part promises, for texts that nobody has thought of. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Part } from '../../../src/referee/pins/parts/part.ts';

/** The pieces are put together at random: what is protected, what is not, and what breaks the file. */
export function describePromise(name: string, part: Part, pieces: readonly string[]): void {
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((all) => all.join(''));
  const file = fc.option(fc.oneof({ arbitrary: text, weight: 5 }, fc.string()), { nil: null, freq: 10 });

  describe(`the protected part of ${name}`, () => {
    it('is the base’s after it was put back, always', () => {
      fc.assert(
        fc.property(file, file, (base, claim) => {
          expect(part.extract(part.restore(base, claim))).toBe(part.extract(base));
        }),
        { numRuns: 400 },
      );
    });

    it('leaves a file alone in which it is unchanged', () => {
      fc.assert(
        fc.property(file, (base) => {
          expect(part.restore(base, base)).toBe(base);
        }),
      );
    });
  });
}
