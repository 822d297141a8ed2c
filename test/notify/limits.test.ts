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
    const [telegram, hook] = [await service({ ok: true, result: { message_id: 7 } }), await service()];
    const notify = notifySchema.parse({
      telegram: { tokenEnv: 'TOKEN', apiUrl: telegram.url, allow: [], chat: '42' },
      webhooks: [{ url: hook.url, secretEnv: 'SECRET' }],
    });
    await say(store, await routed(store, notify), 'one', 'two');
    const means = courier(store, SECRETS);
    const elsewhere = await service();
    // Somebody puts it right in the meantime.
    telegram.replies.push({ status: 403 });
    hook.replies.push(
      { status: 400 },
      { status: 404 },
      { status: 302, headers: { location: elsewhere.url } },
      { status: 422 },
      { status: 400 },
    );
    let sent = await deliver(means);
    for (let time = 0; time < 4; time++) {
      expect(hook.got).toHaveLength(time + 1);
      await hurry(store);
      sent += await deliver(means);
    }
    expect(telegram.got).toHaveLength(3);
    expect(elsewhere.got).toEqual([]);
    expect(new Set(hook.got.slice(0, 5).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(sent).toBe(3);
    const told = (await rows(store)).map(({ status, error }) => [status, error]).toSorted();
    expect(told).toEqual([['failed', 'HTTP 400'], ...[1, 2, 3].map(() => ['sent', null])]);
    // An address that is gone says so once.
    hook.replies.push({ status: 410 });
    await say(store, await routed(store, notify), 'three');
    await deliver(means);
    expect((await rows(store)).filter(({ error }) => error === 'HTTP 410')).toHaveLength(1);
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
