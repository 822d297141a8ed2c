/** What the simulation of any loop must survive: deaths and stalls at every point, close pairs, random trouble. */
import { describe, expect, it } from 'vitest';
import { createRandom } from '../fakes/random.ts';
import type { Fate } from '../fakes/simulation.ts';

/** `PULSE_SEED=… npm test` repeats a random run; the seed is in the failure's text. */
const SEED = Number(process.env.PULSE_SEED ?? Math.floor(Math.random() * 2 ** 31));

export interface LoopSuite {
  name: string;
  /** Runs a whole session under these fates and says what was violated. */
  run(
    fate: (point: string, index: number) => Fate | null,
  ): Promise<{ points: string[]; violations: string[] }>;
  /** What a second death can meet of the first one's repair is over after so many points. */
  near: number;
  randomRuns: number;
  /** A long session is stalled, and killed twice, at every so many points; it is killed once at each. */
  stride?: number;
}

export function surviveSuite({ name, run, near, randomRuns, stride = 1 }: LoopSuite): void {
  describe(`${name} in trouble`, () => {
    it.each(['die', 'stall', 'nap'] as const)(
      'survives at every point: %s',
      { timeout: 120_000 },
      async (fate) => {
        const { points } = await run(() => null);
        const failures: string[] = [];
        for (const [at, point] of points.entries()) {
          if (fate !== 'die' && at % stride > 0) continue;
          const { violations } = await run((_, index) => (index === at ? fate : null));
          if (violations.length > 0) failures.push(`${at} ${point}: ${violations.join('; ')}`);
        }
        expect(failures).toEqual([]);
      },
    );

    it('survives every pair of deaths that are close to each other', { timeout: 240_000 }, async () => {
      const { points } = await run(() => null);
      const failures: string[] = [];
      for (const [first, point] of points.entries()) {
        if (first % stride > 0) continue;
        for (let second = first + 1; second <= first + near; second++) {
          const { violations } = await run((_, index) =>
            index === first || index === second ? 'die' : null,
          );
          if (violations.length > 0) failures.push(`${first} ${point}, ${second}: ${violations.join('; ')}`);
        }
      }
      expect(failures).toEqual([]);
    });

    it('survives random deaths and stalls', { timeout: 240_000 }, async () => {
      const failures: string[] = [];
      for (let index = 0; index < randomRuns; index++) {
        const random = createRandom(SEED + index);
        let trouble = 10;
        const { violations } = await run(() => {
          if (trouble === 0 || random() > 0.05) return null;
          trouble -= 1;
          return random() < 0.7 ? 'die' : random() < 0.5 ? 'stall' : 'nap';
        });
        if (violations.length > 0) failures.push(`PULSE_SEED=${SEED + index} ${violations.join('; ')}`);
      }
      expect(failures).toEqual([]);
    });
  });
}
