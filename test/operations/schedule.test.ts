/** What starts by itself: each time once, whoever dies; what was missed is told. */
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../src/api/serve.ts';
import {
  findSchedule,
  insertSchedule,
  listSchedules,
  type Schedule,
  takeDueSchedule,
  turnSchedule,
} from '../../src/store/schedules.ts';
import { type Store, storeNow } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { COMPLETE, makeScene, type Scene } from '../engine/scene.ts';

const PLANNED = {
  ...{ id: 'sch_00000000-0000-7000-8000-000000000001', host: 'here', expression: '0 * * * *', zone: 'UTC' },
  ...{
    missed: 'skip' as const,
    operation: 'start',
    input: { goal: 'g' },
    words: ['start', 'g'],
    actor: 'me',
  },
};

onBothStores((open) => {
  async function planned(nextAt = '2020-01-01T00:00:00.000Z'): Promise<Store> {
    const store = await open();
    await store.tx('test', (db) => insertSchedule(db, { ...PLANNED, nextAt }));
    return store;
  }
  const take = (store: Store, owner: string, isGone = (_: string) => false) =>
    store.tx('take', (db) => takeDueSchedule(db, { host: 'here', owner, leaseMs: 60_000, isGone }));

  it('gives a due one to one of many, and to the next only where that one is dead', async () => {
    const store = await planned();
    const given = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => take(store, owner)));
    expect(given.filter(Boolean)).toHaveLength(1);
    expect(await take(store, 'e')).toBeNull();
    const next = await take(store, 'e', () => true);
    expect(next?.schedule).toMatchObject({ operation: 'start', input: { goal: 'g' } });
    const turn = (token: number) =>
      store.tx('turn', (db) => turnSchedule(db, { id: PLANNED.id, token }, { nextAt: null, sessionId: 's' }));
    // The one that was thought dead wakes up: what it started is undone with this.
    await expect(turn(next!.token - 1)).rejects.toMatchObject({ code: 'fenced' });
    await turn(next!.token);
    expect(await take(store, 'f', () => true)).toBeNull();
  });

  it('leaves those of other hosts and of later alone, and finds one by its end', async () => {
    const store = await planned('2999-01-01T00:00:00.000Z');
    expect(await take(store, 'a')).toBeNull();
    const other = { ...PLANNED, id: PLANNED.id.replace(/1$/, '2'), host: 'there' };
    await store.tx('test', (db) => insertSchedule(db, { ...other, nextAt: '2020-01-01T00:00:00.000Z' }));
    expect(await take(store, 'a')).toBeNull();
    expect((await store.read((db) => findSchedule(db, '0001'))).id).toBe(PLANNED.id);
    await expect(store.read((db) => findSchedule(db, '9999'))).rejects.toMatchObject({ code: 'not_found' });
    await expect(store.read((db) => findSchedule(db, '000'))).rejects.toMatchObject({ code: 'not_found' });
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function serving({ pulse }: Scene): Promise<string[]> {
  const said: string[] = [];
  const server = await serve({
    ...{ pulse, host: '127.0.0.1', port: await freePort(), reads: 'open', adopt: [] },
    say: (text) => void said.push(text),
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return said;
}

const add = (scene: Scene, when: string, more: Partial<{ missed: 'run' | 'skip'; zone: string }> = {}) =>
  scene.pulse.schedule.add({
    ...{ when, operation: 'start', words: ['start', 'g'], ...more },
    input: { goal: 'planned', path: scene.root, command: COMPLETE },
  });

const back = (scene: Scene, id: string, ms: number) =>
  scene.store.tx('test', (db) =>
    db
      .updateTable('schedules')
      .set({ next_at: storeNow(-ms) })
      .where('id', '=', id)
      .execute(),
  );

async function storedWhen(scene: Scene, isSo: (schedule: Schedule) => boolean, id = ''): Promise<Schedule> {
  for (let tries = 0; tries < 400; tries++) {
    const found = (await scene.store.read(listSchedules)).find((one) => one.id.startsWith(id) && isSo(one));
    if (found) return found;
    await delay(25);
  }
  throw new Error('not within 10 s');
}

it('serve starts what is due, in the name of the schedule, and it is over after one time', async () => {
  const scene = await makeScene();
  await serving(scene);
  const { schedule } = await add(scene, 'in 100ms');
  expect(schedule).toMatchObject({ missed: 'run', expression: 'in 100ms' });
  const found = await storedWhen(scene, ({ lastSession }) => lastSession !== null);
  expect(found).toMatchObject({ nextAt: null, lastError: null, missedCount: 0 });
  const { session } = await scene.pulse.show(found.lastSession!);
  expect(session).toMatchObject({ goal: 'planned', created_by: 'schedule' });
  await scene.seen(session, 'session.ended');
  expect((await scene.pulse.list({})).sessions).toHaveLength(1);
});

it('tells what was missed; a repeated one waits for its next time, one of one time is run once', async () => {
  const scene = await makeScene();
  const { schedule: hourly } = await add(scene, '0 * * * *', { zone: 'UTC' });
  const { schedule: once } = await add(scene, 'in 5h');
  await back(scene, hourly.id, 3 * 3_600_000);
  await back(scene, once.id, 3_600_000);
  const said = await serving(scene);
  const all = async () => (await scene.pulse.schedule.list()).schedules;
  for (const id of [hourly.id, once.id]) await storedWhen(scene, ({ missedCount }) => missedCount > 0, id);
  expect(said.filter((line) => line.includes('missed'))).toHaveLength(2);
  const [next, over] = await all();
  expect(next).toMatchObject({ id: hourly.id, lastSession: null, lastError: null });
  expect(next!.missedCount).toBeGreaterThanOrEqual(3);
  expect(Date.parse(next!.nextAt!)).toBeGreaterThan(Date.now());
  expect(over).toMatchObject({ id: once.id, nextAt: null, missedCount: 1 });
  expect(over!.lastSession).not.toBeNull();
  expect((await scene.pulse.list({})).sessions).toHaveLength(1);
});

it('refuses an agent that does not exist, and notes one that is not installed', async () => {
  const scene = await makeScene();
  const planned = (agent: string) =>
    scene.pulse.schedule.add({ when: 'in 2h', operation: 'start', input: { goal: 'g', agent } });
  await expect(planned('cluade')).rejects.toMatchObject({
    code: 'usage',
    message: 'There is no agent "cluade".',
  });
  expect((await scene.pulse.schedule.list()).schedules).toEqual([]);
  expect(await planned('qwen')).toMatchObject({ note: expect.stringContaining('qwen cannot be used here.') });
  expect(await planned('demo')).toMatchObject({ note: null });
  expect((await scene.pulse.schedule.list()).schedules).toHaveLength(2);
});

it('says why one could not be started, and tries at its next time', async () => {
  const scene = await makeScene();
  await serving(scene);
  const { schedule } = await scene.pulse.schedule.add({
    ...{ when: '* * * * *', operation: 'start' },
    input: { goal: 'planned', path: `${scene.root}/nowhere`, command: COMPLETE },
  });
  await back(scene, schedule.id, 0);
  await scene.pulse.schedule.add({ when: 'in 5h', operation: 'start', input: {} });
  const found = await storedWhen(scene, ({ lastError }) => lastError !== null, schedule.id);
  expect(found.lastError).toMatch(/nowhere/);
  expect(found.nextAt).not.toBeNull();
  expect((await scene.pulse.list({})).sessions).toEqual([]);
});

it('refuses what is no time, no zone and no start; removes what is there', async () => {
  const scene = await makeScene();
  await expect(add(scene, 'soon')).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(add(scene, 'in 2h', { zone: 'Mars/Olympus' })).rejects.toMatchObject({
    code: 'invalid_input',
  });
  const abort = scene.pulse.schedule.add({ when: 'in 2h', operation: 'abort', input: {} });
  await expect(abort).rejects.toMatchObject({ code: 'invalid_input' });
  expect((await scene.pulse.schedule.list()).schedules).toEqual([]);
  const { schedule } = await add(scene, 'in 2h');
  await scene.pulse.schedule.remove({ scheduleId: schedule.id.slice(-6) });
  expect((await scene.pulse.schedule.list()).schedules).toEqual([]);
});
