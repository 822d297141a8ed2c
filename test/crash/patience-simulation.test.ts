/** A service that is away, in virtual time: it costs waiting, and the session only after its patience. */
import { describe, expect, it } from 'vitest';
import { readEvents } from '../../src/store/events.ts';
import { findSession, getControl } from '../../src/store/sessions.ts';
import { type Simulated, simulate, violationsOf } from '../fakes/simulation.ts';
import type { AgentScript } from '../fakes/world.ts';
import { draw, IS_WHOLE, sweep } from '../lanes/lane.ts';
import { pointsOf } from './loop-suite.ts';

const HOUR = 3_600_000;
const AWAY = { class: 'overloaded', message: 'The service is overloaded (529).', resetAt: null } as const;

/** Two iterations' work, while the service is there. */
function awayUntil(ms: number): AgentScript {
  return (iteration, _attempt, _unit, elapsedMs = 0) => {
    if (elapsedMs < ms) return { failure: AWAY };
    return iteration >= 2 ? { finalMessage: 'All of it.\n<signal>COMPLETE</signal>' } : {};
  };
}

async function factsOf({ store, sessionId }: Simulated) {
  const facts = await store.read(async (db) => ({
    session: (await findSession(db, sessionId))!,
    control: await getControl(db, sessionId),
    events: await readEvents(db, sessionId, { limit: 10_000 }),
  }));
  return { ...facts, tries: facts.events.filter(({ type }) => type === 'iteration.started').length };
}

describe('a model service that is away', () => {
  it.runIf(IS_WHOLE)('for an hour costs waiting, not the session, and no iteration', async () => {
    const simulated = await simulate({ script: awayUntil(HOUR), fate: () => null });
    expect(await violationsOf(simulated, 2)).toEqual([]);
    const { session, control, events, tries } = await factsOf(simulated);
    await simulated.store.close();
    expect(session.current_iteration).toBe(2);
    // 2 s doubling to 15 min: an hour is a dozen tries. What they ran for is all the running time there is.
    expect(tries).toBeGreaterThan(10);
    expect(tries).toBeLessThan(16);
    expect(session.running_ms).toBeLessThan(tries * 10_000);
    const first = events.find(({ type }) => type === 'iteration.retried');
    expect(first?.data).toMatchObject({ failureClass: 'overloaded', delayMs: 2_000, patienceMs: 6 * HOUR });
    expect(control.counters).toMatchObject({ service: 0, serviceWaitMs: 0, waiting: null });
  });

  it.runIf(IS_WHOLE)(
    'for an hour is waited for by the next process too when the first dies in the wait',
    async () => {
      for (const killsAtMs of [[20 * 60_000], [1_000, 50_000, 40 * 60_000]]) {
        const simulated = await simulate({ script: awayUntil(HOUR), fate: () => null, killsAtMs });
        expect(await violationsOf(simulated, 2)).toEqual([]);
        const { tries } = await factsOf(simulated);
        await simulated.store.close();
        expect(simulated.processes).toBe(killsAtMs.length + 1);
        // Nobody who comes new begins the pauses from the beginning.
        expect(tries).toBeLessThan(17 + killsAtMs.length);
      }
    },
  );

  it.runIf(IS_WHOLE)('for a day blocks the session after six hours, and says so', async () => {
    const simulated = await simulate({ script: awayUntil(24 * HOUR), fate: () => null });
    const { session, events } = await factsOf(simulated);
    await simulated.store.close();
    expect(simulated.isStuck).toBe(false);
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'service_unavailable' });
    expect(session.blocked_reason).toContain('529');
    const waitedMs = events.reduce((sum, { data }) => sum + Number(data.delayMs ?? 0), 0);
    expect(waitedMs).toBe(6 * HOUR);
  });

  it('wherever its runner dies, is waited for to the end', async () => {
    const script = awayUntil(11_000);
    const { points, store } = await simulate({ script, fate: () => null });
    await store.close();
    const failures = await sweep(draw(pointsOf(points), { of: 'patience', kind: ({ point }) => point }), {
      name: ({ at, point }) => `${at} ${point}`,
      async violationsOf({ at }) {
        const fate = (_: string, index: number) => (index === at ? 'die' : null);
        const simulated = await simulate({ script, fate });
        const violations = await violationsOf(simulated, 2);
        await simulated.store.close();
        return violations;
      },
    });
    expect(failures).toEqual([]);
  });
});
