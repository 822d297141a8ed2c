/** The outbox over HTTP: what waits, what failed, trying again, and one message to try the way. */
import { describe, expect, it } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { insertRoutes } from '../../src/notify/routes.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import { type ApiScene, makeApiScene } from '../api/scene.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { service } from './outbox-scene.ts';
import type { Service } from './stand-in.ts';

const settingsFor = ({ url }: Service) => notifySchema.parse({ ntfy: { url: `${url}/secret-topic` } });
const NOBODY = { chat_id: null, phone_number: null, discord_thread_id: null };

/** A session whose messages a service refuses. */
async function makeRefused(): Promise<{ scene: ApiScene; ntfy: Service; id: string }> {
  const scene = await makeApiScene();
  const ntfy = await service();
  ntfy.replies.push({ status: 410, body: { error: 'forbidden' } });
  const { session } = await scene.pulse.start({
    ...{ goal: 'g', path: scene.root, command: 'echo "<signal>BLOCKED: Why?</signal>"', createdBy: 'api' },
  });
  await scene.store.tx('routes', (db) => insertRoutes(db, { id: session.id, ...NOBODY }, settingsFor(ntfy)));
  await scene.pulse.run(session.id, new AbortController().signal);
  await expect.poll(async () => (await list(scene, 'status=failed')).notifications.length).toBe(1);
  return { scene, ntfy, id: session.id };
}

const list = async ({ ask }: ApiScene, query = '') => (await ask('GET', `/api/notifications?${query}`)).json;

describe('the outbox over HTTP', () => {
  it('shows what did not get through, and tries it again when a person asks', async () => {
    const { scene, ntfy, id } = await makeRefused();
    const { notifications, counts, nextCursor } = await list(scene);
    expect(notifications).toMatchObject([
      {
        ...{ session_id: id, channel: 'ntfy', type: 'session.blocked', status: 'failed', run_at: null },
        ...{ destination: `${ntfy.url}/…`, error: 'HTTP 410: forbidden' },
      },
    ]);
    expect([counts, nextCursor]).toEqual([{ waiting: 0, planned: 0, failed: 1 }, null]);
    const path = `/api/notifications/${notifications[0].id}/retry`;
    expect((await scene.ask('POST', path, { isStranger: true })).status).toBe(401);
    const { status, json } = await scene.ask('POST', path);
    expect([status, json.notification.status]).toEqual([202, 'waiting']);
    await expect.poll(async () => (await list(scene)).notifications[0].status).toBe('sent');
    expect(ntfy.got).toHaveLength(2);
    expect((await scene.ask('POST', path)).status).toBe(409);
    for (const unknown of ['0', '99999', 'x', '1e3'])
      expect((await scene.ask('POST', `/api/notifications/${unknown}/retry`)).status).toBe(404);
  });

  it('comes by pages', async () => {
    const { scene, id } = await makeRefused();
    await scene.store.tx('more', async (db) => {
      const own = withNotifyTables(db);
      const { number: _, ...row } = await own
        .selectFrom('notifications')
        .selectAll()
        .where('status', '=', 'failed')
        .executeTakeFirstOrThrow();
      for (const seq of [101, 102, 103])
        await own
          .insertInto('notifications')
          .values({ ...row, seq } as never)
          .execute();
    });
    const first = await list(scene, 'limit=3');
    const second = await list(scene, `limit=3&cursor=${first.nextCursor}&session=${id}`);
    expect(first.notifications.map(({ seq }: { seq: number }) => seq)).toEqual([103, 102, 101]);
    expect([second.notifications.length, second.nextCursor]).toEqual([1, null]);
    expect((await scene.ask('GET', '/api/notifications?cursor=x')).status).toBe(422);
    expect((await scene.ask('GET', '/api/notifications?status=lost')).status).toBe(422);
  });

  it('tries a channel, and says what the service answered', async () => {
    const scene = await makeApiScene();
    const ntfy = await service({ id: 'm1' });
    await writeTrustedConfig(scene.root, {
      ...{ text: JSON.stringify({ notify: settingsFor(ntfy) }), environment: scene.environment },
    });
    const ask = (body: object, more: object = {}) => scene.ask('POST', '/api/notify/test', { body, ...more });
    const body = { channel: 'ntfy', projectPath: scene.root };
    expect((await ask(body, { isStranger: true })).status).toBe(401);
    expect(await ask(body)).toMatchObject({ status: 200, json: { channel: 'ntfy', providerId: 'm1' } });
    ntfy.replies.push({ status: 403 });
    expect(await ask(body)).toMatchObject({ status: 422, json: { error: { code: 'tool_failed' } } });
    expect(await ask({ channel: 'telegram' })).toMatchObject({ json: { error: { code: 'invalid_config' } } });
    expect((await ask({ channel: 'pigeon' })).status).toBe(422);
    expect(ntfy.got).toHaveLength(2);
  });

  it('tries a channel once for a key, also for two who ask at the same moment', async () => {
    const scene = await makeApiScene();
    const ntfy = await service({ id: 'm1' });
    await writeTrustedConfig(scene.root, {
      ...{ text: JSON.stringify({ notify: settingsFor(ntfy) }), environment: scene.environment },
    });
    const headers = { 'idempotency-key': 'k1' };
    const ask = () =>
      scene.ask('POST', '/api/notify/test', {
        body: { channel: 'ntfy', projectPath: scene.root },
        headers,
      });
    // What was refused is tried by the next one.
    ntfy.replies.push({ status: 503 });
    expect((await ask()).status).toBe(422);
    const { promise, resolve } = Promise.withResolvers<void>();
    ntfy.replies.push({ status: 200, body: { id: 'm1' }, when: promise });
    const [first, second] = [ask(), ask()];
    await expect.poll(() => ntfy.got.length).toBe(2);
    resolve();
    for (const answer of [await first, await second, await ask()])
      expect(answer).toMatchObject({ status: 200, json: { providerId: 'm1' } });
    expect(ntfy.got).toHaveLength(2);
  });
});
