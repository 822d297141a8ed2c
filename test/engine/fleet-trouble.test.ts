/** A daemon of a fleet that meets trouble goes on: it takes work as soon as it can, and says that it lives only then. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runFleetDaemon } from '../../src/engine/attempt/fleet.ts';
import { worktreeKept } from '../../src/engine/attempt/notices.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createBells } from '../../src/engine/wake/bells.ts';
import { systemClock } from '../../src/engine/wake/clock.ts';
import { findTask } from '../../src/store/inbox.ts';
import { listIterations } from '../../src/store/iterations.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { dispatchForTest } from '../crash/fixtures/dispatch.ts';
import { until } from '../e2e/scene.ts';
import { admit } from '../fakes/admit.ts';
import { fakeLoops } from '../fakes/loops.ts';
import { createFakeAgents, createFakeWorkspace, createWorld } from '../fakes/world.ts';
import { makeFolder } from '../git/fixture.ts';
import { sessionId } from '../store/rows.ts';

const TIMING = { leaseMs: 60_000, heartbeatMs: 20, pollMs: 20, quietPollMs: 20, absenceMs: 60_000 };

/** `ended`: a session that has ended, and whose worktree is still here. */
async function startDaemon(trouble: { claim: boolean; close: boolean }, ended?: string) {
  const store = await openSqlite({ path: ':memory:' });
  const folder = makeFolder();
  const said: string[] = [];
  const announced: number[] = [];
  const stop = new AbortController();
  const access = {
    world: createWorld(),
    gate: async () => undefined,
    host: 'host',
    sleep: (_: number, signal?: AbortSignal) => systemClock.sleep(1, signal),
    script: () => ({}),
    nowMs: Date.now,
  };
  const workspace = createFakeWorkspace(access);
  const unsteady: Store = {
    ...store,
    read: (work) => (trouble.claim ? Promise.reject(new Error('no sense in this row')) : store.read(work)),
    tx(label, work) {
      if (label === 'announce') announced.push(performance.now());
      return store.tx(label, work);
    },
  };
  const engine = {
    store: unsteady,
    workspace: {
      ...workspace,
      close: async (...args: Parameters<typeof workspace.close>) => {
        if (trouble.close) return [worktreeKept('a worktree', new Error('EPERM: operation not permitted'))];
        return workspace.close(...args);
      },
    },
    agents: createFakeAgents(access),
    bell: createBells(),
    clock: systemClock,
    loops: fakeLoops(),
    ids: { nowMs: Date.now, randomBytes },
    trace: () => undefined,
    owner: 'daemon',
    host: 'far',
    maxAgents: 4,
    owners: () => 'alive',
    timing: TIMING,
  } as unknown as Engine;
  const options = {
    host: 'far',
    labels: ['linux'],
    concurrency: 1,
    clones: join(folder, 'clones'),
    worktrees: join(folder, 'worktrees'),
    say: (text: string) => said.push(text),
  };
  if (ended) {
    await admit(store, { id: ended, status: 'complete' });
    mkdirSync(join(options.worktrees, 'project', ended), { recursive: true });
  }
  const done = runFleetDaemon(engine, options, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await done;
    await store.close();
  });
  return { store, said, announced };
}

async function admitLabelled(store: Store, number: number): Promise<string> {
  const id = await admit(store, { id: sessionId(number), verify: [] });
  await dispatchLabelled(store, id, { breaks: false });
  return id;
}

async function dispatchLabelled(store: Store, id: string, { breaks }: { breaks: boolean }): Promise<void> {
  await store.tx('label', (db) =>
    db
      .updateTable('session_controls')
      .set({ settings: JSON.stringify({ ...SETTINGS, labels: ['linux'] }) })
      .where('session_id', '=', id)
      .execute(),
  );
  if (!breaks) return dispatchForTest(store, id);
  await store.tx('dispatch', async (db) => {
    await dispatchForTest({ ...store, tx: (_, work) => work(db) }, id);
    // As another version of Pulse may have written it.
    await db
      .updateTable('inbox_tasks')
      .set({ spec: '{"agent": 7}', priority: 9 })
      .where('session_id', '=', id)
      .execute();
  });
}

const SETTINGS = {
  contextStrategy: 'none',
  inferredCompletion: 'confirm',
  limitsWait: true,
  environmentPass: [],
  identity: null,
  record: false,
  remote: null,
};

const isReported = (store: Store, id: string): Promise<boolean> =>
  store.read(async (db) => {
    const [iteration] = await listIterations(db, id);
    return (await findTask(db, iteration!.inbox_task_id!))?.result?.stage === 'reported';
  });

describe('a daemon of a fleet', () => {
  it('takes work again after a look that failed, and does not say that it lives meanwhile', async () => {
    const trouble = { claim: true, close: false };
    const { store, said, announced } = await startDaemon(trouble);
    await until('it says so', () => said.length > 0);
    const before = announced.length;
    await delay(200);
    expect(announced.length - before).toBeLessThanOrEqual(1);
    expect(said).toEqual(['cannot take work: no sense in this row; trying again']);
    trouble.claim = false;
    const id = await admitLabelled(store, 1);
    await until('the attempt is done', () => isReported(store, id));
    await until('it says that it lives', () => announced.length > before + 1);
  });

  it('is not kept from other sessions by one whose attempt cannot be read', async () => {
    const { store, said } = await startDaemon({ claim: false, close: false });
    const broken = await admit(store, { id: sessionId(1), verify: [] });
    await dispatchLabelled(store, broken, { breaks: true });
    await until('it says so', () => said.some((line) => line.includes('cannot be taken')));
    const id = await admitLabelled(store, 2);
    await until('the attempt is done', () => isReported(store, id));
  });

  it('leaves a worktree alone that it cannot remove, says so once, and takes the next session', async () => {
    const ended = sessionId(9);
    const { store, said } = await startDaemon({ claim: false, close: true }, ended);
    await until('it says so', () => said.length > 0);
    for (const number of [1, 2]) {
      const id = await admitLabelled(store, number);
      await until('the attempt is done', () => isReported(store, id));
    }
    expect(said.filter((text) => text.includes('cannot be removed'))).toEqual([
      `${ended}: its worktree cannot be removed: EPERM: operation not permitted`,
    ]);
  });
});
