/** What wakes a runner while an agent works: its every word does, and most of them change nothing. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_TIMING, type Engine } from '../../src/engine/engine.ts';
import { createLoops } from '../../src/engine/loops.ts';
import { requestPause } from '../../src/engine/runner/control.ts';
import { runSession } from '../../src/engine/runner/runner.ts';
import { createBells } from '../../src/engine/wake/bells.ts';
import { systemClock } from '../../src/engine/wake/clock.ts';
import { createGoalLoop } from '../../src/loops/goal/index.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { getSession } from '../../src/store/sessions.ts';
import { admit } from '../fakes/admit.ts';
import { createFakeReferee } from '../fakes/referee.ts';
import { createFakeWorkspace, createWorld } from '../fakes/world.ts';
import { runReport } from '../store/rows.ts';

const RINGS = 60;

/** A session whose agent does nothing but ring; `decided` counts how often the loop was asked. */
async function ringing(meanwhile: (engine: Engine, id: string, signal: AbortSignal) => Promise<void>) {
  const store = await openSqlite({ path: ':memory:' });
  onTestFinished(() => store.close());
  const id = await admit(store, { verify: [], max_iterations: 1 });
  const bell = { ...createBells(), [Symbol.asyncDispose]: async () => undefined };
  const counts = { decided: 0 };
  const gate = async () => undefined;
  const world = createWorld();
  const access = { world, gate, host: 'host', ...systemClock, script: () => ({}) };
  const engine: Engine = {
    store,
    workspace: createFakeWorkspace(access),
    referee: createFakeReferee(access),
    agents: {
      canBeAsked: () => false,
      async run(_, __, signal) {
        const before = counts.decided;
        for (let rings = 0; rings < RINGS && !signal.aborted; rings++) {
          bell.ring(id);
          await delay(1);
        }
        counts.decided -= before;
        await meanwhile(engine, id, signal);
        return runReport({ finalMessage: '<signal>COMPLETE</signal>' });
      },
    },
    bell,
    clock: systemClock,
    ids: { nowMs: Date.now, randomBytes: (count) => crypto.getRandomValues(Buffer.alloc(count)) },
    trace: gate,
    loops: createLoops([
      {
        ...goalLoop,
        decide(state) {
          counts.decided += 1;
          return goalLoop.decide(state);
        },
      },
    ]),
    owner: 'me',
    host: 'host',
    maxAgents: 4,
    owners: () => 'alive',
    leases: { mayTake: () => true },
    evict: async () => undefined,
    timing: DEFAULT_TIMING,
  };
  await runSession(engine, id, new AbortController().signal);
  return { counts, session: await store.read((db) => getSession(db, id)) };
}

const goalLoop = createGoalLoop({ compose: async () => brief() });

function brief() {
  const anchor = { strategy: null, turnId: null, salience: null, depth: null, resolutionMs: 0, invalid: [] };
  return { text: 'brief', tokens: 1, anchor };
}

describe('a runner whose agent is at work', () => {
  it('does not fold and decide anew for every word of it', async () => {
    const { counts, session } = await ringing(async () => undefined);
    expect(session.status).toBe('complete');
    expect(counts.decided).toBeLessThan(10);
  });

  it('still does what a person asks for meanwhile', async () => {
    const { session } = await ringing(async ({ store, bell }, id, signal) => {
      const told = once(signal, 'abort');
      await store.tx('pause', (db) => requestPause(db, id, { request: 'stop', actor: 'test' }));
      bell.ring(id);
      await told;
    });
    expect(session.status).toBe('paused');
  });
});
