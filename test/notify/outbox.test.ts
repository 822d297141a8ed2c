/** The outbox on both stores, and the courier against services on loopback. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { forgetNotifications, recordFate, takeAccount } from '../../src/notify/outbox.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import { appendEvents } from '../../src/store/events.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { courier, deliver, hurry, routed, rows, say, service } from './outbox-scene.ts';

onBothStores((open) => {
  describe('a notification', () => {
    it('is written with its event, once for each route, or not at all', async () => {
      const store = await open();
      const { url } = await service();
      const hooks = [1, 2].map((n) => ({ url: `${url}/${n}`, secretEnv: 'SECRET' }));
      const id = await routed(store, { webhooks: hooks });
      await say(store, id, 'one');
      await store.tx('say', (db) => appendEvents(db, id, [{ type: 'agent.text', data: { text: 'x' } }]));
      await expect(
        store.tx('say', async (db) => {
          await appendEvents(db, id, [{ type: 'session.failed' }]);
          throw new Error('rolled back');
        }),
      ).rejects.toThrow('rolled back');
      const written = (await rows(store)).map(({ destination, type, status }) => [destination, type, status]);
      expect(written.toSorted()).toEqual([1, 2].map((n) => [`${url}/${n}`, 'session.blocked', 'waiting']));
    });

    it('goes out in order, and waits for those before it', async () => {
      const store = await open();
      const telegram = await service({ ok: true, result: { message_id: 7 } });
      const settings = { telegram: { tokenEnv: 'TOKEN', apiUrl: telegram.url, allow: [] } };
      const id = await routed(store, settings, { chat_id: '42' });
      await say(store, id, 'one', 'two', 'three');
      const means = courier(store, { TOKEN: '1:abc' });
      telegram.replies.push({ status: 500 }, 'hang up', {
        status: 429,
        body: { ok: false, parameters: { retry_after: 9 } },
      });
      for (const waits of [3_000, 6_000, 9_000]) {
        expect(await deliver(means)).toBe(0);
        const [first] = await rows(store);
        expect(Date.parse(first!.run_at) - Date.now()).toBeGreaterThan(waits - 3_000);
        expect(Date.parse(first!.run_at) - Date.now()).toBeLessThan(waits + 4_000);
        await hurry(store);
      }
      expect(await deliver(means)).toBe(3);
      const texts = telegram.got.map(({ body }) => (JSON.parse(body) as { text: string }).text);
      expect(texts).toEqual(['one', 'one', 'one', 'one', 'two', 'three'].map((what) => `⏸️ Blocked: ${what}`));
      expect(telegram.got[0]).toMatchObject({ path: '/bot1:abc/sendMessage' });
      expect(JSON.parse(telegram.got[0]!.body)).toMatchObject({ chat_id: '42', disable_notification: false });
      expect(await rows(store)).toMatchObject(
        [1, 2, 3].map(() => ({ status: 'sent', provider_id: '7', error: null })),
      );
    });

    it('that is refused is told so, and holds up nobody', async () => {
      const store = await open();
      const telegram = await service({ ok: true, result: { message_id: 7 } });
      const settings = { telegram: { tokenEnv: 'TOKEN', apiUrl: telegram.url, allow: [], chat: '42' } };
      const id = await routed(store, settings);
      await say(store, id, 'one', 'two');
      const description = 'chat not found for bot1:abcdef';
      telegram.replies.push({ status: 400, body: { ok: false, description } });
      expect(await deliver(courier(store, { TOKEN: '1:abcdef' }))).toBe(1);
      expect(await rows(store)).toMatchObject([
        { status: 'failed', error: 'HTTP 400: chat not found for bot[redacted]' },
        { status: 'sent' },
      ]);
    });

    it('is left to a process that has the secret, and to one at a time', async () => {
      const store = await open();
      const hook = await service();
      const id = await routed(store, { webhooks: [{ url: hook.url, secretEnv: 'SECRET' }] });
      await say(store, id, 'one');
      expect(await deliver(courier(store))).toBe(0);
      const { account_id: account } = (await rows(store))[0]!;
      const isGone = () => false;
      const token = await store.tx('take', (db) => takeAccount(db, account, { owner: 'other', isGone }));
      expect(await deliver(courier(store, { SECRET: 's' }))).toBe(0);
      expect(await deliver({ ...courier(store, { SECRET: 's' }), isGone: () => true })).toBe(1);
      const { number } = (await rows(store))[0]!;
      const late = {
        number,
        accountId: account,
        token: token!,
        fate: { status: 'failed', error: 'late' },
      } as const;
      expect(await store.tx('late', (db) => recordFate(db, late))).toBe(false);
      expect(hook.got).toHaveLength(1);
    });

    it('that was sent and not recorded has the same name the second time', async () => {
      const store = await open();
      const [hook, discord] = [await service(), await service({ id: '9' })];
      const id = await routed(
        store,
        {
          webhooks: [{ url: hook.url, secretEnv: 'SECRET' }],
          discord: { tokenEnv: 'TOKEN', apiUrl: discord.url, allow: [] },
        },
        { discord_thread_id: '77' },
      );
      await say(store, id, 'one @everyone');
      const means = courier(store, { SECRET: 'whsec_c2VjcmV0', TOKEN: 't' });
      // The process dies in the moment in which the service has taken it.
      const dying = {
        ...means,
        store: {
          ...store,
          tx: (label: string, ...more: [never]) =>
            label === 'notify_sent' ? Promise.reject(new Error('dead')) : store.tx(label, ...more),
        } as Store,
      };
      await expect(deliver(dying)).rejects.toThrow('dead');
      expect(await deliver({ ...means, owner: 'next', isGone: () => true })).toBe(2);
      const [first, second] = hook.got;
      expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
      const { 'webhook-id': name, 'webhook-timestamp': at, 'webhook-signature': signature } = first!.headers;
      const signed = createHmac('sha256', 'secret').update(`${name}.${at}.${first!.body}`).digest('base64');
      expect(signature).toBe(`v1,${signed}`);
      expect(JSON.parse(first!.body)).toEqual({
        type: 'session.blocked',
        sessionId: id,
        text: '⏸️ Blocked: one @everyone',
      });
      const bodies = discord.got.map(({ body }) => JSON.parse(body) as { nonce: string });
      expect(bodies[0]).toMatchObject({ enforce_nonce: true, allowed_mentions: { parse: [] } });
      expect(bodies[0]!.nonce).toBe(bodies[1]!.nonce);
      expect(discord.got[0]!.path).toBe('/v10/channels/77/messages');
    });
  });
});

describe('a phone', () => {
  onBothStores((open) => {
    it('gets what needs a person and the end, in two parts at most', async () => {
      const store = await open();
      const twilio = await service({ sid: 'SM1' });
      const settings = { accountSid: 'AC1', authTokenEnv: 'AUTH', from: '+1', apiUrl: twilio.url, allow: [] };
      const id = await routed(store, { sms: settings }, { phone_number: '+2' });
      await say(store, id, 'why '.repeat(200));
      await store.tx('say', (db) => appendEvents(db, id, [{ type: 'session.paused' }]));
      expect(await deliver(courier(store, { AUTH: 'secret' }))).toBe(1);
      expect(await rows(store)).toMatchObject([
        { status: 'sent', provider_id: 'SM1' },
        { status: 'skipped' },
      ]);
      const [got] = twilio.got;
      expect(got!.path).toBe('/2010-04-01/Accounts/AC1/Messages.json');
      expect(got!.headers.authorization).toBe(`Basic ${Buffer.from('AC1:secret').toString('base64')}`);
      const form = new URLSearchParams(got!.body);
      expect([form.get('To'), form.get('From')]).toEqual(['+2', '+1']);
      expect(form.get('Body')).toMatch(/^⏸️ Blocked: why .*… #\d{4}$/);
      expect(form.get('Body')!.length).toBeLessThanOrEqual(134);
    });
  });
});

onBothStores((open) => {
  it('forgets what was told long ago, and nothing that waits', async () => {
    const store = await open();
    const hook = await service();
    const means = courier(store, { SECRET: 'sssh-be-quiet' });
    const id = await routed(store, { webhooks: [{ url: hook.url, secretEnv: 'SECRET' }] });
    await say(store, id, 'one');
    await deliver(means);
    await say(store, id, 'two');
    const age = () =>
      store.tx('age', (db) =>
        withNotifyTables(db)
          .updateTable('notifications')
          .set({ created_at: '2020-01-01T00:00:00.000Z' })
          .execute(),
      );
    await store.tx('forget', (db) => forgetNotifications(db, 1_000_000));
    expect(await rows(store)).toHaveLength(2);
    await age();
    await store.tx('forget', (db) => forgetNotifications(db, 1_000_000));
    expect(await rows(store)).toMatchObject([{ status: 'waiting' }]);
  });

  it('forgets what was told with others when that is over, and not before', async () => {
    const store = await open();
    const id = await routed(store, { ntfy: { url: 'http://127.0.0.1:9/x' } });
    await say(store, id, 'carries', 'is carried', 'carries, too', 'is carried, too', 'is carried by none');
    const numbers = (await rows(store)).map(({ number }) => number);
    const set = (at: number, values: object) =>
      store.tx('set', (db) =>
        withNotifyTables(db)
          .updateTable('notifications')
          .set({ created_at: '2020-01-01T00:00:00.000Z', ...values })
          .where('number', '=', numbers[at]!)
          .execute(),
      );
    await set(0, { status: 'planned', gathers: 'digest' });
    await set(1, { status: 'gathered', gathered_in: numbers[0] });
    await set(2, { status: 'waiting', gathers: 'rollup' });
    await set(3, { status: 'gathered', gathered_in: numbers[2] });
    await set(4, { status: 'gathered', gathered_in: 999_999 });
    const forget = () => store.tx('forget', (db) => forgetNotifications(db, 1_000_000));
    await forget();
    expect((await rows(store)).map(({ number }) => number)).toEqual(numbers.slice(0, 4));
    await set(0, { status: 'sent' });
    await set(2, { status: 'failed' });
    await forget();
    expect(await rows(store)).toEqual([]);
  });
});
