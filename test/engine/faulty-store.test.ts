/** The store fails for a moment (a full disk, a busy database), or the runner is shut down and started again. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PulseError } from '../../src/domain/errors.ts';
import { createLeaseJudge } from '../../src/engine/attempt/lease-judge.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { runSession } from '../../src/engine/runner/runner.ts';
import { systemClock } from '../../src/engine/wake/clock.ts';
import { createDoorbell } from '../../src/engine/wake/doorbell.ts';
import { readEvents } from '../../src/store/events.ts';
import { listIterations } from '../../src/store/iterations.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { getSession } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { fakeLoops } from '../fakes/loops.ts';
import { createFakeReferee } from '../fakes/referee.ts';
import { createFakeAgents, createFakeWorkspace, createWorld } from '../fakes/world.ts';
import { makeFolder } from '../git/fixture.ts';

const TIMING = { leaseMs: 60_000, heartbeatMs: 100, pollMs: 100, quietPollMs: 100, absenceMs: 60_000 };
const COMPLETE = { finalMessage: 'Done.\n<signal>COMPLETE</signal>' };

interface Faults {
  /** How often the transactions of this label fail, after their work, before one succeeds. */
  [label: string]: number;
}

/** Everything real but git and the agent; an agent runs for `runMs`. */
async function makeEngine({
  faults = {},
  forgets = {},
  runMs = 600,
}: {
  faults?: Faults;
  forgets?: Faults;
  runMs?: number;
} = {}) {
  const store = await openSqlite({ path: ':memory:' });
  const world = createWorld();
  const bell = createDoorbell({ directory: makeFolder() });
  onTestFinished(async () => {
    await bell[Symbol.asyncDispose]();
    await store.close();
  });
  const access = {
    world,
    gate: async () => undefined,
    host: 'host',
    sleep: (_: number, signal?: AbortSignal) => systemClock.sleep(runMs, signal),
    nowMs: systemClock.nowMs,
    script: () => COMPLETE,
  };
  const engine: Engine = {
    store: failing(store, faults, forgets),
    workspace: createFakeWorkspace(access),
    referee: createFakeReferee(access),
    agents: createFakeAgents(access),
    bell,
    clock: systemClock,
    ids: { nowMs: Date.now, randomBytes },
    trace: () => undefined,
    loops: fakeLoops({ goal: { compose: async () => BRIEF } }),
    owner: 'me',
    host: 'host',
    maxAgents: 4,
    owners: () => 'alive',
    evict: async () => undefined,
    leases: createLeaseJudge({ clock: systemClock, timing: TIMING }),
    timing: TIMING,
  };
  return { engine, store, world, id: await admit(store, { verify: [] }) };
}

const NO_ANCHOR = { turnId: null, strategy: null, resolutionMs: 0, salience: null, depth: null, invalid: [] };
const BRIEF = { text: 'brief', tokens: 1, anchor: NO_ANCHOR };

/** `forgets`: transactions that are kept although their caller is told that they failed. */
function failing(store: Store, faults: Faults, forgets: Faults): Store {
  const isDue = (due: Faults, label: string): boolean => {
    const left = due[label] ?? 0;
    due[label] = left - 1;
    return left > 0;
  };
  return {
    ...store,
    async tx(label, work) {
      const result = await store.tx(label, async (db) => {
        const done = await work(db);
        if (isDue(faults, label)) throw new PulseError('disk_full', 'The disk is full.', { retryable: true });
        return done;
      });
      if (isDue(forgets, label)) throw new PulseError('store_unavailable', 'Gone.', { retryable: true });
      return result;
    },
  };
}

/** Runs as a supervisor does: again whenever the runner gave up. Returns the errors on the way. */
async function supervise(engine: Engine, id: string): Promise<string[]> {
  const errors: string[] = [];
  for (let starts = 0; starts < 5; starts++) {
    try {
      await runSession(engine, id, new AbortController().signal);
      return errors;
    } catch (error) {
      errors.push((error as PulseError).code);
    }
  }
  return errors;
}

describe('a store that fails for a moment', () => {
  it('while events are written: the agent works on, and every event and what it spent is counted once', async () => {
    const { engine, store, world, id } = await makeEngine({ faults: { 'agent-events': 2 }, runMs: 1_200 });
    expect(await supervise(engine, id)).toEqual([]);
    const { session, iterations } = await read(store, id);
    expect(session.status).toBe('complete');
    expect(iterations).toMatchObject([{ iteration_number: 1, attempt: 1, status: 'complete' }]);
    expect(world.violations).toEqual([]);
    expect(session.spent_usd).toBeCloseTo(0.1);
    expect(session.total_tokens_used).toBe(10);
    const events = await store.read((db) => readEvents(db, id));
    expect(events.filter(({ type }) => type === 'agent.text')).toHaveLength(1);
  }, 10_000);

  it.each([1, 2, 3])(
    'while a lease is prolonged, %i times: the session goes on and ends',
    async (times) => {
      const { engine, store, world, id } = await makeEngine({ faults: { heartbeat: times } });
      await supervise(engine, id);
      const { session } = await read(store, id);
      expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
      expect(world.violations).toEqual([]);
    },
    10_000,
  );

  it.each(['start', 'dispatch', 'claim', 'record_run', 'report', 'settle'])(
    'at %s: the next runner finishes, with one commit',
    async (label) => {
      const { engine, store, world, id } = await makeEngine({ faults: { [label]: 1 }, runMs: 50 });
      const errors = await supervise(engine, id);
      expect(errors).toEqual(['disk_full']);
      const { session } = await read(store, id);
      expect(session).toMatchObject({ status: 'complete', total_commits: 1, reserved_usd: 0 });
      expect(world.violations).toEqual([]);
    },
    10_000,
  );
});

describe('a claim that was kept and never heard of', () => {
  it('is held by nobody: the next runner of the same process takes the attempt up', async () => {
    const { engine, store, world, id } = await makeEngine({ forgets: { claim: 1 }, runMs: 50 });
    expect(await supervise(engine, id)).toEqual(['store_unavailable']);
    const { session, iterations } = await read(store, id);
    expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
    expect(iterations).toMatchObject([{ attempt: 2 }]);
    expect(world.violations).toEqual([]);
  }, 10_000);
});

describe('a runner that is shut down in the middle of a run', () => {
  it('leaves the session running, and the next runner of the same process takes the attempt up at once', async () => {
    const { engine, store, world, id } = await makeEngine();
    const shutdown = new AbortController();
    const running = runSession(engine, id, shutdown.signal);
    while (world.agents.size === 0) await delay(10);
    shutdown.abort();
    expect(await running).toBe('shutdown');
    expect((await read(store, id)).session.status).toBe('running');
    expect([...world.agents].some((agent) => agent.isAlive)).toBe(false);
    expect(await runSession(engine, id, new AbortController().signal)).toBe('left');
    const { session, iterations } = await read(store, id);
    expect(session.status).toBe('complete');
    expect(iterations).toMatchObject([{ attempt: 2 }]);
  }, 10_000);
});

function read(store: Store, id: string) {
  return store.read(async (db) => ({
    session: await getSession(db, id),
    iterations: await listIterations(db, id),
  }));
}
