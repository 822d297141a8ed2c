import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApi } from '../../src/api/api.ts';
import { createBells } from '../../src/engine/wake/bells.ts';
import type { Operations } from '../../src/operations/context.ts';
import { followEvents } from '../../src/operations/view.ts';
import type { Pulse } from '../../src/pulse.ts';
import { appendEvents } from '../../src/store/events.ts';
import { getSession, moveSession } from '../../src/store/sessions.ts';
import { COMPLETE } from '../engine/scene.ts';
import { admit } from '../fakes/admit.ts';
import { EventReader } from './event-reader.ts';
import { type ApiScene, makeApiScene, TOKEN } from './scene.ts';

async function open({ app }: Pick<ApiScene, 'app'>, path: string, headers = {}): Promise<EventReader> {
  const answer = await app.request(path, { headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  return new EventReader(answer.body!);
}

describe('GET /api/pulse/:id/events', () => {
  it('sends every event with its number, while the session runs, and ends with it', async () => {
    const scene = await makeApiScene();
    const session = await scene.post(COMPLETE);
    const reader = await open(scene, `/api/pulse/${session.id}/events`);
    const [messages] = await Promise.all([reader.all(), scene.run(session)]);
    expect(messages.map(({ event }) => event)).toEqual(await scene.events(session));
    expect(messages.map(({ id }) => id)).toEqual(messages.map((_, index) => index + 1));
    expect(messages.at(-1)?.event.type).toBe('session.ended');
  });

  it('goes on after Last-Event-ID, else after ?after=', async () => {
    const scene = await makeApiScene();
    const session = await scene.run(await scene.post(COMPLETE));
    const path = `/api/pulse/${session.id}/events`;
    const all = await (await open(scene, path)).all();
    const ids = async (suffix: string, headers = {}): Promise<number[]> =>
      (await (await open(scene, `${path}${suffix}`, headers)).all()).map(({ id }) => id);
    const from = (first: number): number[] => all.slice(first).map(({ id }) => id);
    expect(await ids('?after=3')).toEqual(from(3));
    expect(await ids('', { 'last-event-id': '2' })).toEqual(from(2));
    expect(await ids('?after=1', { 'last-event-id': '4' })).toEqual(from(4));
    expect(await ids(`?after=${all.length}`)).toEqual([]);
  });

  it('tells a browser that returns to a finished session not to come back', async () => {
    const scene = await makeApiScene();
    const session = await scene.run(await scene.post(COMPLETE));
    const last = String((await scene.events(session)).length);
    const headers = { 'last-event-id': last };
    expect((await scene.app.request(`/api/pulse/${session.id}/events`, { headers })).status).toBe(204);
  });

  it.each([
    ['?after=x', {}],
    ['?after=-1', {}],
    ['', { 'last-event-id': 'x' }],
  ])('refuses %s %o with 422', async (query, headers) => {
    const scene = await makeApiScene();
    const { id } = await scene.post(COMPLETE);
    expect(await scene.ask('GET', `/api/pulse/${id}/events${query}`, { headers })).toMatchObject({
      status: 422,
    });
  });

  it('answers 404 for a session that is not there', async () => {
    const { ask } = await makeApiScene();
    expect(await ask('GET', '/api/pulse/ses_0000/events')).toMatchObject({ status: 404 });
  });

  it('beats while nothing happens', async () => {
    const scene = await makeApiScene({ heartbeatMs: 20 });
    const session = await scene.post(COMPLETE);
    const reader = await open(scene, `/api/pulse/${session.id}/events?after=1`);
    const next = reader.next();
    await delay(200);
    await scene.run(session);
    expect((await next)?.id).toBe(2);
    expect(reader.comments).toBeGreaterThan(2);
    await reader.drop();
  });

  it('stops following when the client goes, and when the server stops', async () => {
    const stop = new AbortController();
    const { pulse, ...scene } = await makeApiScene();
    let following = 0;
    const counting: Pulse = {
      ...pulse,
      async *follow(id, options) {
        following += 1;
        try {
          yield* pulse.follow(id, options);
        } finally {
          following -= 1;
        }
      },
    };
    const app = createApi({
      pulse: counting,
      token: TOKEN,
      runSession: () => undefined,
      signal: stop.signal,
    });
    const { id } = await scene.post(COMPLETE);
    const gone = await open({ app }, `/api/pulse/${id}/events`);
    const stays = await open({ app }, `/api/pulse/${id}/events`);
    await Promise.all([gone.next(), stays.next()]);
    const waiting = gone.next();
    expect(following).toBe(2);
    await gone.drop();
    expect([await waiting, following]).toEqual([null, 1]);
    stop.abort();
    expect([await stays.next(), following]).toEqual([null, 0]);
  });

  it('reads from the store no faster than the client takes', async () => {
    const { pulse, store, ...scene } = await makeApiScene();
    const { id } = await scene.post(COMPLETE);
    const many = Array.from({ length: 2_000 }, () => ({ type: 'agent.text' as const, data: { text: 'x' } }));
    await store.tx('test', (db) => appendEvents(db, id, many));
    let taken = 0;
    const counting: Pulse = {
      ...pulse,
      async *follow(sessionId, options) {
        for await (const event of pulse.follow(sessionId, options)) {
          taken += 1;
          yield event;
        }
      },
    };
    const app = createApi({ pulse: counting, token: TOKEN, runSession: () => undefined });
    const reader = await open({ app }, `/api/pulse/${id}/events`);
    for (let i = 0; i < 3; i++) await reader.next();
    await delay(50);
    expect(taken).toBeLessThanOrEqual(4);
    await reader.drop();
  });

  it('misses and repeats nothing for a client that drops and returns at random', async () => {
    const { pulse, store } = await makeApiScene();
    const bells = createBells();
    const bell = { listen: (id: string) => bells.listen(id), ring: bells.ring };
    const operations = { engine: { store, bell } } as unknown as Operations;
    const follow: Pulse['follow'] = (id, options) => followEvents(operations, id, options);
    const app = createApi({ pulse: { ...pulse, follow }, token: TOKEN, runSession: () => undefined });
    let sessions = 0;

    const writes = fc.array(
      fc.record({ count: fc.integer({ min: 1, max: 600 }), waitMs: fc.constantFrom(0, 0, 1, 3) }),
      {
        maxLength: 8,
      },
    );
    const takes = fc.array(
      fc.record({
        count: fc.nat(200),
        how: fc.constantFrom('header', 'query'),
        waitMs: fc.constantFrom(0, 0, 2),
      }),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(writes, takes, async (batches, visits) => {
        const id = `ses_00000000-0000-7000-8000-${String(++sessions).padStart(12, '0')}`;
        await admit(store, { id });

        const write = async (): Promise<number> => {
          let last = 1;
          for (const { count, waitMs } of batches) {
            const events = Array.from({ length: count }, () => ({
              type: 'agent.text' as const,
              data: { text: 'a\nb' },
            }));
            last = await store.tx('test', (db) => appendEvents(db, id, events));
            bells.ring(id);
            await delay(waitMs);
          }
          await store.tx('test', async (db) => {
            last = await appendEvents(db, id, [{ type: 'session.aborted' }]);
            await moveSession(db, await getSession(db, id), 'aborted', {
              reason: 'aborted_by_user',
              detail: null,
            });
          });
          bells.ring(id);
          return last;
        };

        const read = async (): Promise<number[]> => {
          const seen: number[] = [];
          for (const { count, how, waitMs } of [...visits, { count: Infinity, how: 'query', waitMs: 0 }]) {
            const after = String(seen.at(-1) ?? 0);
            const query = how === 'query' ? `?after=${after}` : '';
            const headers = how === 'header' ? { 'last-event-id': after } : undefined;
            const answer = await app.request(`/api/pulse/${id}/events${query}`, { headers });
            if (answer.status === 204) break;
            const reader = new EventReader(answer.body!);
            for (let taken = 0; taken < count; taken++) {
              const message = await reader.next();
              if (!message) break;
              expect(message.event.seq).toBe(message.id);
              seen.push(message.id);
            }
            await reader.drop();
            await delay(waitMs);
          }
          return seen;
        };

        const [last, seen] = await Promise.all([write(), read()]);
        expect(seen).toEqual(Array.from({ length: last }, (_, index) => index + 1));
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});
