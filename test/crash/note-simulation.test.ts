/** A note is in the brief of exactly one iteration, wherever the process dies after it was left. */
import { expect, it } from 'vitest';
import { listIterations } from '../../src/store/iterations.ts';
import { simulate, violationsOf } from '../fakes/simulation.ts';
import type { AgentScript } from '../fakes/world.ts';
import { draw, sweep } from '../lanes/lane.ts';
import { pointsOf } from './loop-suite.ts';

const script: AgentScript = (iteration) =>
  iteration >= 3 ? { finalMessage: 'All of it.\n<signal>COMPLETE</signal>' } : {};

it('is neither lost nor quoted twice, wherever the process dies', async () => {
  const noteAt = 'agent-started';
  const { points, store } = await simulate({ script, noteAt, fate: () => null });
  await store.close();
  const after = pointsOf(points).slice(points.indexOf(noteAt));
  const failures = await sweep(draw(after, { of: 'note', kind: ({ point }) => point }), {
    name: ({ at, point }) => `${at} ${point}`,
    async violationsOf({ at }) {
      const fate = (_: string, index: number) => (index === at ? 'die' : null);
      const simulated = await simulate({ script, noteAt, fate });
      const rows = await simulated.store.read((db) => listIterations(db, simulated.sessionId));
      const quoted = rows.filter(({ task_content: brief }) => brief.includes('Mind the gap.'));
      const violations = await violationsOf(simulated, 3);
      await simulated.store.close();
      if (quoted.length !== 1) violations.push(`quoted in ${quoted.map((row) => row.iteration_number)}`);
      return violations;
    },
  });
  expect(failures).toEqual([]);
});
