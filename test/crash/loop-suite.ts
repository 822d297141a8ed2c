/** What the simulation of any loop must survive: deaths and stalls at every point, close pairs, random trouble. */
import { describe, expect, it } from 'vitest';
import { createRandom } from '../fakes/random.ts';
import type { Fate } from '../fakes/simulation.ts';
import { draw, seedsOf, sweep } from '../lanes/lane.ts';

export interface LoopSuite {
  name: string;
  /** Runs a whole session under these fates and says what was violated. */
  run(
    fate: (point: string, index: number) => Fate | null,
  ): Promise<{ points: string[]; violations: string[] }>;
  /** What a second death can meet of the first one's repair is over after so many points. */
  near: number;
  /** With random trouble: in a sample, and in all. */
  randomRuns: { few: number; many: number };
  /** A long session is stalled, and killed twice, at every so many points; it is killed once at each. */
  stride?: number;
  /** Points that are alike: of each kind a sample takes one. Default: no two are. */
  kindOf?(point: string): string;
}

/** Half of the kinds are in a sample: what follows a death is the engine's, and the goal loop dies at every point. */
const HALF = { kindShare: 1 / 2 };

export function surviveSuite({
  name,
  run,
  near,
  randomRuns,
  stride = 1,
  kindOf = (point) => point,
}: LoopSuite): void {
  const pointKind = ({ point }: { point: string }) => kindOf(point);
  /** Before and after an action are one kind where a sample has killed at each of them once. */
  const actionKind = ({ point }: { point: string }) => kindOf(point).replace(/:(before|after)$/, '');
  describe(`${name} in trouble`, () => {
    it.each(['die', 'stall', 'nap'] as const)(
      'survives at every point: %s',
      { timeout: 600_000 },
      async (fate) => {
        const { points } = await run(() => null);
        const cases = pointsOf(points).filter(({ at }) => fate === 'die' || at % stride === 0);
        const failures = await sweep(
          draw(cases, { of: `${name} ${fate}`, kind: fate === 'die' ? pointKind : actionKind, ...HALF }),
          {
            name: ({ at, point }) => `${at} ${point}`,
            violationsOf: async ({ at }) =>
              (await run((_, index) => (index === at ? fate : null))).violations,
          },
        );
        expect(failures).toEqual([]);
      },
    );

    it('survives every pair of deaths that are close to each other', { timeout: 600_000 }, async () => {
      const { points } = await run(() => null);
      const pairs = pointsOf(points)
        .filter(({ at }) => at % stride === 0)
        .flatMap((first) =>
          Array.from({ length: near }, (_, index) => ({ ...first, second: first.at + 1 + index })),
        );
      const failures = await sweep(
        draw(pairs, { of: `${name} pairs`, kind: actionKind, ...HALF, restShare: 1 / 3 }),
        {
          name: ({ at, point, second }) => `${at} ${point}, ${second}`,
          violationsOf: async ({ at, second }) =>
            (await run((_, index) => (index === at || index === second ? 'die' : null))).violations,
        },
      );
      expect(failures).toEqual([]);
    });

    it('survives random deaths and stalls', { timeout: 600_000 }, async () => {
      const failures = await sweep(seedsOf(randomRuns.few, randomRuns.many), {
        name: (seed) => `PULSE_TEST_SEED=${seed}`,
        async violationsOf(seed) {
          const random = createRandom(seed);
          let trouble = 10;
          const { violations } = await run(() => {
            if (trouble === 0 || random() > 0.05) return null;
            trouble -= 1;
            return random() < 0.7 ? 'die' : random() < 0.5 ? 'stall' : 'nap';
          });
          return violations;
        },
      });
      expect(failures).toEqual([]);
    });
  });
}

/** A session passes most points several times; a draw takes each at least once. */
export function pointsOf(points: readonly string[]): { at: number; point: string }[] {
  return points.map((point, at) => ({ at, point }));
}
