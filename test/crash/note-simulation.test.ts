/** A note is in the brief of exactly one iteration, wherever the process dies after it was left. */
import { expect, it } from 'vitest';
import { listIterations } from '../../src/store/iterations.ts';
import { simulate, violationsOf } from '../fakes/simulation.ts';
import type { AgentScript } from '../fakes/world.ts';

const script: AgentScript = (iteration) =>
  iteration >= 3 ? { finalMessage: 'All of it.\n<signal>COMPLETE</signal>' } : {};

it('is neither lost nor quoted twice, wherever the process dies', async () => {
  const noteAt = 'agent-started';
  const { points, store } = await simulate({ script, noteAt, fate: () => null });
  await store.close();
  const failures: string[] = [];
  for (let index = points.indexOf(noteAt); index < points.length; index++) {
    const simulated = await simulate({ script, noteAt, fate: (_, at) => (at === index ? 'die' : null) });
    const rows = await simulated.store.read((db) => listIterations(db, simulated.sessionId));
    const quoted = rows.filter(({ task_content: brief }) => brief.includes('Mind the gap.'));
    const violations = await violationsOf(simulated, 3);
    await simulated.store.close();
    if (quoted.length !== 1) violations.push(`quoted in ${quoted.map((row) => row.iteration_number)}`);
    if (violations.length > 0) failures.push(`${index} ${points[index]}: ${violations.join('; ')}`);
  }
  expect(failures).toEqual([]);
});
