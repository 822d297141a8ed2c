/** What a message is put off by, or given up for, and who may write back. */
import { describe, expect, it } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { listAccounts } from '../../src/notify/inbound/chats.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { courier, deliver, hurry, routed, rows, say, service } from './outbox-scene.ts';

const SECRETS = { TOKEN: '1:abc', SECRET: 'sssh-be-quiet' };
const phone = (apiUrl: string) =>
  notifySchema.parse({
    sms: { accountSid: 'AC1', authTokenEnv: 'TOKEN', from: '+1', apiUrl, allow: [], to: '+2' },
  });

onBothStores((open) => {
  it('a way that is closed is tried for half a minute, and then holds up nobody', async () => {
    const store = await open();
    const telegram = await service({ ok: true, result: { message_id: 7 } });
    const notify = notifySchema.parse({
      telegram: { tokenEnv: 'TOKEN', apiUrl: telegram.url, allow: [], chat: '42' },
    });
    await say(store, await routed(store, notify), 'one', 'two', 'three');
    const means = courier(store, SECRETS);
    // Somebody puts it right in the meantime, and later nobody does.
    telegram.replies.push({ status: 403 }, { status: 200, body: { ok: true, result: { message_id: 7 } } });
    for (let time = 0; time < 5; time++) telegram.replies.push({ status: 403 });
    let sent = await deliver(means);
    for (let time = 0; time < 5; time++) {
      await hurry(store);
      sent += await deliver(means);
    }
    expect([sent, telegram.got.length]).toEqual([2, 8]);
    expect((await rows(store)).map(({ status }) => status)).toEqual(['sent', 'failed', 'sent']);
  });

  it.each([
    ['a webhook', (url: string) => ({ webhooks: [{ url, secretEnv: 'SECRET' }] })],
    ['ntfy', (url: string) => ({ ntfy: { url } })],
  ] as const)('%s loses nothing by any answer but 410, in its order, and later each time', async (_, to) => {
    const store = await open();
    const [hook, elsewhere] = [await service(), await service()];
    const notify = notifySchema.parse(to(hook.url));
    await say(store, await routed(store, notify), 'one', 'two');
    const means = courier(store, SECRETS);
    const refusals = [400, 401, 403, 404, 409, 413, 422, 429, 500];
    for (const status of refusals) hook.replies.push({ status });
    hook.replies.push({ status: 302, headers: { location: elsewhere.url } });
    const waits: number[] = [];
    for (let time = 0; time <= refusals.length; time++) {
      expect(await deliver(means)).toBe(0);
      const [first] = await rows(store);
      expect(first).toMatchObject({ status: 'waiting', attempts: time + 1 });
      waits.push(Date.parse(first!.run_at) - Date.now());
      await hurry(store);
    }
    expect(waits[0]).toBeLessThan(5_000);
    expect(waits).toEqual(waits.toSorted((one, other) => one - other));
    expect(await deliver(means)).toBe(2);
    expect(hook.got.map(({ body }) => /one|two/.exec(body)?.[0])).toEqual([
      ...Array.from({ length: refusals.length + 2 }, () => 'one'),
      'two',
    ]);
    expect(elsewhere.got).toEqual([]);
    // An address that is gone says so once.
    hook.replies.push({ status: 410 });
    await say(store, await routed(store, notify), 'three', 'four');
    const asked = hook.got.length;
    await deliver(means);
    expect((await rows(store)).filter(({ status }) => status === 'failed')).toHaveLength(2);
    expect((await rows(store)).filter(({ error }) => error === 'HTTP 410')).toHaveLength(1);
    expect(hook.got).toHaveLength(asked + 1);
  });

  it('a phone gets twenty texts a day, and the rest as one', async () => {
    const store = await open();
    const twilio = await service({ sid: 'SM1' });
    const id = await routed(store, phone(twilio.url));
    await say(store, id, ...Array.from({ length: 30 }, (_, n) => `Question ${n}?`));
    const means = courier(store, SECRETS);
    expect(await deliver(means)).toBe(20);
    expect(await deliver(means)).toBe(0);
    const planned = (await rows(store)).filter(({ status }) => status === 'planned');
    expect(planned).toHaveLength(1);
    const inMs = Date.parse(planned[0]!.run_at) - Date.now();
    expect(inMs / 3_600_000).toBeGreaterThan(23.9);
    expect(inMs / 3_600_000).toBeLessThan(24.1);
    await change(store, { run_at: '' });
    expect(await deliver(means)).toBe(1);
    expect(new URLSearchParams(twilio.got.at(-1)!.body).get('Body')).toContain('Digest');
    // The day after, there is room again.
    await change(store, { sent_at: new Date(Date.now() - 25 * 3_600_000).toISOString() });
    await say(store, id, 'Another?');
    expect(await deliver(means)).toBe(1);
  });

  describe('who may write', () => {
    it('is what was trusted last, also where nobody else is configured', async () => {
      const store = await open();
      const allowing = (allow: string[]) =>
        notifySchema.parse({ telegram: { tokenEnv: 'TOKEN', allow, chat: '42' } });
      await routed(store, allowing(['42', '43']));
      await routed(store, allowing(['42', '44']));
      const [account, ...others] = await listAccounts({ store, notify: {} }, 'telegram');
      expect(account!.settings.allow).toEqual(['42', '44']);
      expect(others).toEqual([]);
    });
  });
});

function change(store: Store, set: { run_at?: string; sent_at?: string }) {
  return store.tx('change', (db) => withNotifyTables(db).updateTable('notifications').set(set).execute());
}
