/** The live stream over HTTP, without a port. What it sends is in the store's contract. */
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createApi } from '../../src/api/api.ts';
import { createRedactor } from '../../src/domain/redact.ts';
import { createBells } from '../../src/engine/wake/bells.ts';
import { followLive } from '../../src/operations/dashboard/live.ts';
import { appendEvents } from '../../src/store/events.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { admit } from '../fakes/admit.ts';
import { runsOf } from '../lanes/lane.ts';
import { LiveReader } from './live-reader.ts';
import { makeApiScene, TOKEN } from './scene.ts';

const step = 'echo $PULSE_ITERATION >> steps; echo "Step. <signal>CONTINUE</signal>"';

describe('GET /api/live', () => {
  it('tells cards by name and events as they are, each with the vector', async () => {
    const { app, post, run, events } = await makeApiScene();
    const session = await post(step, { maxIterations: 2 });
    const reader = new LiveReader(await app.request(`/api/live?watch=${session.id}:0`));
    await reader.until(({ event }) => event === 'ready');
    const [ended] = await Promise.all([
      reader.until(({ event, data }) => event === 'card' && data.session.status === 'blocked'),
      run(session),
    ]);
    const all = (await events(session)).map(({ seq }) => seq);
    while (reader.events(session.id).length < all.length) await reader.next();
    expect(reader.events(session.id)).toEqual(all);
    expect(ended.data).toMatchObject({
      type: 'card',
      session: { attention: 'needs_you', current_iteration: 2 },
    });
    expect(reader.messages.at(-1)!.id).toMatch(new RegExp(`^${session.id}:\\d+,cards:\\d+$`));
    expect(reader.contentType).toContain('text/event-stream');
    await reader.drop();
  });

  it('continues in another server where the one before was cut off', async () => {
    const scene = await makeApiScene();
    const session = await scene.post(step, { maxIterations: 3 });
    const running = scene.run(session);
    const seen: number[] = [];
    let vector: string | undefined;
    for (let server = 0; seen.length === 0 || server < 6; server++) {
      const app = createApi({ pulse: scene.pulse, token: TOKEN, runSession: () => undefined });
      const headers: Record<string, string> = vector === undefined ? {} : { 'last-event-id': vector };
      // A page repeats the address it began with.
      const reader = new LiveReader(await app.request(`/api/live?watch=${session.id}:0`, { headers }));
      await reader.until(({ event }) => reader.messages.length >= 5 + server || event === 'ready');
      await reader.drop();
      seen.push(...reader.events(session.id));
      vector = reader.messages.at(-1)!.id;
      if (server === 4) await running;
    }
    const all = (await scene.events(session)).map(({ seq }) => seq);
    const last = new LiveReader(
      await scene.app.request('/api/live', { headers: { 'last-event-id': vector! } }),
    );
    await last.until(({ event }) => event === 'ready');
    expect([...seen, ...last.events(session.id)]).toEqual(all);
    await last.drop();
  });

  it('sends a comment while nothing happens, and ends with the server or with its key', async () => {
    const stop = new AbortController();
    const { app, ask } = await makeApiScene({ heartbeatMs: 20, signal: stop.signal });
    const reader = new LiveReader(await app.request('/api/live'));
    await reader.until(({ event }) => event === 'ready');
    const { key, device } = (await ask('POST', '/api/login', { body: { token: TOKEN } })).json;
    const headers = { authorization: `Bearer ${key}` };
    const ofDevice = new LiveReader(await app.request('/api/live', { headers }));
    await ofDevice.until(({ event }) => event === 'ready');
    await ask('DELETE', `/api/keys/${device.id}`);
    await ofDevice.toEnd();
    expect((await app.request('/api/live', { headers })).status).toBe(401);
    const ended = reader.toEnd();
    while (reader.comments === 0) await delay(5);
    stop.abort();
    await ended;
  });

  it.each([
    'watch=x',
    'watch=ses_1:2',
    'watch=ses_00000000-0000-7000-8000-000000000001:-1',
    `watch=${Array.from({ length: 21 }, (_, n) => `ses_00000000-0000-7000-8000-0000000000${10 + n}:0`).join(',')}`,
  ])('refuses %s', async (query) => {
    const { ask } = await makeApiScene();
    expect(await ask('GET', `/api/live?${query}`)).toMatchObject({
      status: 422,
      json: { error: { code: 'invalid_input' } },
    });
  });

  it('needs a token or a key where reading does', async () => {
    const { ask } = await makeApiScene({ reads: 'token' });
    expect((await ask('GET', '/api/live')).status).toBe(401);
  });
});

describe('the memory of a stream', () => {
  const ROUNDS = runsOf(60, 1_500);
  const EVENTS = 1_000;

  it(`does not grow with ${ROUNDS * EVENTS} events, taken or not`, { timeout: 300_000 }, async () => {
    const store = await openSqlite({ path: ':memory:' });
    const id = await admit(store, { status: 'running' });
    const bell = createBells();
    const reading = { engine: { store, owners: () => 'alive' as const }, redactor: createRedactor([]), bell };
    const from = { seqs: new Map([[id, 1]]), cardsMs: null };
    const taken = followLive(reading, { from });
    const idle = followLive(reading, { from });
    await idle.next();
    const event = { type: 'agent.text', data: { text: 'x'.repeat(200) } } as const;
    const batch = Array(EVENTS).fill(event);
    let count = 0;
    let before = 0;
    for (let round = 0; round < ROUNDS; round++) {
      // What is stored is not what a stream keeps: earlier rounds are dropped here.
      await store.tx('test', async (db) => {
        await db.deleteFrom('pulse_events').execute();
        await appendEvents(db, id, batch);
      });
      bell.ring(id);
      for (const until = count + EVENTS; count < until; ) {
        const { value } = await taken.next();
        expect(value.type).not.toBe('gap');
        if (value.type === 'event') count += 1;
      }
      if (round === 20) before = await heapUsed();
    }
    expect(count).toBe(ROUNDS * EVENTS);
    expect((await heapUsed()) - before).toBeLessThan(10 * 1024 * 1024);
    await taken.return(undefined);
    await idle.return(undefined);
    await store.close();
  });
});

/** After the garbage is gone. */
async function heapUsed(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  await delay(20);
  collect();
  return process.memoryUsage().heapUsed;
}
