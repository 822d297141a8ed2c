/** The database is away for a while, in virtual time: nothing is lost, nothing is done twice, nobody restarts. */
import { describe, expect, it } from 'vitest';
import { simulate, violationsOf } from '../fakes/simulation.ts';
import type { Absence } from '../fakes/unsteady-store.ts';
import type { AgentScript } from '../fakes/world.ts';
import { draw, sweep } from '../lanes/lane.ts';

const COUNT = 2;
const script: AgentScript = (iteration) =>
  iteration === COUNT ? { finalMessage: 'All of it.\n<signal>COMPLETE</signal>', verifies: true } : {};

async function run(absence?: Absence) {
  const simulated = await simulate({ script, fate: () => null, absence });
  const violations = await violationsOf(simulated, COUNT);
  await simulated.store.close();
  if (simulated.processes !== 1) violations.push(`${simulated.processes} processes`);
  if (simulated.world.finishedRuns.join() !== '1,2')
    violations.push(`agents ran for ${simulated.world.finishedRuns}`);
  return { violations, calls: simulated.calls };
}

describe('a database that goes away', () => {
  // Less than a lease, more than one, and an hour.
  for (const seconds of [20, 90, 3_600]) {
    it(`costs nothing but time when it is away for ${seconds} s at any call`, async () => {
      const { calls, violations: none } = await run();
      expect(none).toEqual([]);
      expect(calls).toBeGreaterThan(20);
      const cases = (['call', 'answer'] as const).flatMap((loses) =>
        Array.from({ length: calls }, (_, index) => ({ loses, at: index + 1 })),
      );
      const kind = ({ loses }: (typeof cases)[number]) => loses;
      const failures = await sweep(draw(cases, { of: `away for ${seconds}`, kind, share: 0.2 }), {
        name: ({ loses, at }) => `${loses} ${at}`,
        violationsOf: async ({ loses, at }) => (await run({ at, ms: seconds * 1_000, loses })).violations,
      });
      expect(failures).toEqual([]);
    });
  }
});
