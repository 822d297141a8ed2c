/** A run without a signal is asked for it once, wherever the process dies, and nothing it does then stays. */
import { describe, expect, it } from 'vitest';
import { findSession } from '../../src/store/sessions.ts';
import { simulate, violationsOf } from '../fakes/simulation.ts';
import type { AgentScript } from '../fakes/world.ts';

/** The first run forgets its signal; the second does not. */
const FORGETFUL: AgentScript = (iteration) => ({
  finalMessage:
    iteration === 1 ? 'I have made some progress on it.' : 'All of it.\n<signal>COMPLETE</signal>',
});

describe('a run that forgets its signal', () => {
  it('is asked, and the session goes on; its spending counts, what it changed does not stay', async () => {
    const simulated = await simulate({ script: FORGETFUL, fate: () => null });
    expect(await violationsOf(simulated, 2)).toEqual([]);
    const { world, store, sessionId } = simulated;
    const session = (await store.read((db) => findSession(db, sessionId)))!;
    await store.close();
    expect([world.finishedRuns, world.nudges]).toEqual([[1, 2], [1]]);
    expect(session.spent_usd).toBeCloseTo(0.3);
    // Two runs of 5 s, a check of a millisecond, and the second that the question took.
    expect(session.running_ms).toBeGreaterThanOrEqual(11_000);
  });

  it('is asked at most once, and its run never done again, wherever the process dies', async () => {
    const { points, store } = await simulate({ script: FORGETFUL, fate: () => null });
    await store.close();
    const [recorded, settled] = [points.indexOf('record_run:after'), points.indexOf('settle:after')];
    for (let index = recorded; index < settled; index++) {
      const simulated = await simulate({ script: FORGETFUL, fate: (_, at) => (at === index ? 'die' : null) });
      const { world } = simulated;
      const row = (await simulated.store.read((db) => findSession(db, simulated.sessionId)))!;
      const isAnswered = row.status === 'complete';
      const violations = isAnswered ? await violationsOf(simulated, 2) : world.violations;
      await simulated.store.close();
      const told = `${index} ${points[index]}`;
      expect(violations, told).toEqual([]);
      expect(world.nudges.length, told).toBeLessThanOrEqual(1);
      expect(
        world.finishedRuns.filter((number) => number === 1),
        told,
      ).toEqual([1]);
      // Died while it was asked: it is not asked again, and has said nothing.
      if (!isAnswered) expect([row.status, row.stop_reason], told).toEqual(['blocked', 'no_signal']);
      const head = world.commits.get(world.branches.get(row.branch_name)!);
      expect(head?.content, told).toBe(isAnswered ? '1,2,' : '1,');
    }
  });
});
