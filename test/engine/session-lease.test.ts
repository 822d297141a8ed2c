import { describe, expect, it, onTestFinished } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { DEFAULT_TIMING } from '../../src/engine/engine.ts';
import { holdSession } from '../../src/engine/runner/session-lease.ts';
import { readSessionLease, renewSessionLease } from '../../src/store/leases.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { createVirtualTime } from '../fakes/virtual-time.ts';

/** Processes of one host on one store, in virtual time; all of them live. */
async function makeHost() {
  const time = createVirtualTime();
  const store = await openSqlite({ path: ':memory:', nowMs: time.nowMs });
  onTestFinished(() => store.close());
  const id = await admit(store);
  const evicted: string[] = [];
  const engine = (owner: string, using: Store = store) =>
    ({
      store: using,
      owner,
      owners: () => 'alive',
      clock: time.clock(() => false),
      timing: DEFAULT_TIMING,
      bell: { ring: () => undefined },
      evict: async (holder: string) => void evicted.push(holder),
    }) as unknown as Engine;
  /** Lets virtual time pass until the promise is settled. */
  async function settled<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    void promise.finally(() => {
      isSettled = true;
    });
    while (!isSettled) await time.step();
    return promise;
  }
  return { time, store, id, evicted, engine, settled };
}

/** Frozen: its heartbeat does nothing while the others' time passes. */
const mute = (store: Store): Store => ({
  ...store,
  tx: (label, work, scope) => (scope?.isLease ? new Promise(() => undefined) : store.tx(label, work, scope)),
});

describe('holding a session', () => {
  it('is for one at a time, in one process too', async () => {
    const { id, engine } = await makeHost();
    const held = await holdSession(engine('me'), id);
    expect(held).not.toBeNull();
    expect(await holdSession(engine('me'), id)).toBeNull();
    expect(await holdSession(engine('other'), id)).toBeNull();
    await held![Symbol.asyncDispose]();
    expect(await holdSession(engine('other'), id)).not.toBeNull();
  });

  it('is free at once for a process whose own lease could not be given back', async () => {
    const { id, engine, store, evicted } = await makeHost();
    const failing: Store = {
      ...store,
      tx: (label, work) => (label === 'release' ? Promise.reject(new Error('away')) : store.tx(label, work)),
    };
    const held = await holdSession(engine('serve', failing), id);
    await expect(held![Symbol.asyncDispose]()).rejects.toThrow('away');
    expect(await store.read((db) => readSessionLease(db, id))).toMatchObject({
      owner: 'serve',
      isOver: false,
    });
    expect(await holdSession(engine('serve'), id)).toMatchObject({ token: held!.token + 1 });
    expect(evicted).toEqual([]);
  });

  it('is left to a living holder that speaks up after a sleep of the whole machine', async () => {
    const { id, engine, store, time, settled, evicted } = await makeHost();
    const held = await holdSession(engine('sleeper', mute(store)), id);
    time.jump(70_000);
    const taking = settled(holdSession(engine('newcomer'), id));
    await time.step();
    await store.tx('heartbeat', (db) => renewSessionLease(db, id, { token: held!.token, leaseMs: 60_000 }));
    expect(await taking).toBeNull();
    expect(evicted).toEqual([]);
  });

  it('is taken from a holder that lives and stays silent for two heartbeats, and ends it', async () => {
    const { id, engine, store, time, settled, evicted } = await makeHost();
    const held = await holdSession(engine('hung', mute(store)), id);
    time.jump(70_000);
    const began = time.nowMs();
    expect(await settled(holdSession(engine('newcomer'), id))).toMatchObject({ token: held!.token + 1 });
    expect(time.nowMs() - began).toBeGreaterThanOrEqual(2 * DEFAULT_TIMING.heartbeatMs);
    expect(evicted).toEqual(['hung']);
  });
});
