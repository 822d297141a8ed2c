/** One bot, one number, one account, however its settings change; and what was stored before speaks for nobody. */
import { createHmac } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type NotifySettings, notifySchema } from '../../src/domain/notify.ts';
import { listAccounts } from '../../src/notify/inbound/chats.ts';
import { discordReader } from '../../src/notify/inbound/discord-reader.ts';
import { hearTwilio } from '../../src/notify/inbound/hooks.ts';
import { telegramReader } from '../../src/notify/inbound/poll.ts';
import { readChannel } from '../../src/notify/inbound/reader.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { openDiscord } from './discord-bot.ts';
import { routed, rows } from './outbox-scene.ts';
import { blocked, meansOf, noting, openFileStore, reading } from './reading-scene.ts';
import { openTelegram, type TelegramStandIn } from './telegram-bot.ts';

const waitFor = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 20_000 });
const PUBLIC = 'https://pulse.example';

/** A message as Twilio brings it. */
function brought(means: ReturnType<typeof meansOf>, fields: Record<string, string>): Promise<string | null> {
  const signed = Object.keys(fields)
    .toSorted()
    .reduce((sum, name) => `${sum}${name}${fields[name]}`, `${PUBLIC}/hooks/twilio`);
  const signature = createHmac('sha1', means.environment.SMS!).update(signed).digest('base64');
  return hearTwilio(means, {
    ...{ path: '/hooks/twilio', form: new URLSearchParams(fields).toString(), signature },
  });
}

describe('a bot whose settings change', () => {
  it('is connected once, and one command starts one session', async () => {
    const discord = await openDiscord();
    onTestFinished(() => discord[Symbol.asyncDispose]());
    const store = await openFileStore();
    const base = { tokenEnv: 'DISCORD', apiUrl: discord.url, allow: ['81'], channel: '9' };
    await routed(store, notifySchema.parse({ discord: base }));
    const notify = notifySchema.parse({ discord: { ...base, applicationId: '4711', publicKey: 'ab' } });
    // The same bot by another variable.
    await routed(store, notifySchema.parse({ discord: { ...base, tokenEnv: 'OLD_NAME' } }));
    const { actions, did } = noting(store);
    const environment = { DISCORD: discord.token, OLD_NAME: discord.token };
    reading(discordReader, { store, notify, environment, actions });
    await waitFor(() => discord.isConnected);
    const options = [
      { name: 'project', value: 'shop' },
      { name: 'goal', value: 'Once.' },
    ];
    const asked = () =>
      discord.interact({
        ...{ from: '81', type: 2 },
        data: { name: 'pulse', options: [{ name: 'start', options }] },
      });
    const first = asked();
    await waitFor(() => discord.replies.has(first));
    const second = asked();
    await waitFor(() => discord.replies.has(second));
    expect(did).toHaveLength(2);
    expect(discord.begun).toHaveLength(1);
  });
});

it('another bot under the same variable begins where it is, not where the one before has stopped', async () => {
  const store = await openFileStore();
  const notifyFor = (bot: TelegramStandIn) =>
    notifySchema.parse({ telegram: { tokenEnv: 'TOKEN', apiUrl: bot.url, allow: ['42'] } });
  const bot = await openTelegram();
  onTestFinished(() => bot[Symbol.asyncDispose]());
  const { actions, did } = noting(store);
  const read = async (token: string) => {
    const ending = new AbortController();
    const means = meansOf({ store, notify: notifyFor(bot), environment: { TOKEN: token }, actions });
    const over = readChannel(means, telegramReader, { signal: ending.signal, lookMs: 50 });
    return async () => {
      ending.abort();
      await over;
    };
  };
  for (let n = 0; n < 3; n++) bot.write({ from: 42, text: `/pause first${n}` });
  const stop = await read('1:first');
  await waitFor(() => did.length === 3);
  await stop();
  // The same address is now another bot, whose updates have other numbers.
  bot.restart();
  bot.write({ from: 42, text: '/pause second' });
  const stopSecond = await read('2:second');
  await waitFor(() => did.length === 4);
  await stopSecond();
  expect(did.at(-1)).toBe('telegram:42 pause second');
});

onBothStores((open) => {
  describe('text messages that are brought', () => {
    const base = { accountSid: 'AC1', authTokenEnv: 'SMS', from: '+1', to: '+42' };
    const environment = { SMS: 'sms-secret' };

    it('are heard by what the config says now, by whom it allows now', async () => {
      const store = await open();
      await routed(store, notifySchema.parse({ sms: { ...base, allow: ['+42', '+666'] } }));
      const notify = notifySchema.parse({ sms: { ...base, allow: ['+42'], plain: true }, publicUrl: PUBLIC });
      const id = await blocked(store, notify);
      const { actions, did } = noting(store);
      const means = meansOf({ store, notify, environment, actions });
      expect(await brought(means, { From: '+666', MessageSid: 'SM1', Body: `abort ${id}` })).toContain(
        '<Response/>',
      );
      expect(await brought(means, { From: '+42', MessageSid: 'SM2', Body: 'Port 1.' })).toContain('Done.');
      expect(did).toEqual(['sms:+42 answer Port 1.']);
    });

    it('of two numbers with one token are heard by the number that they were sent to', async () => {
      const store = await open();
      const other = notifySchema.parse({ sms: { ...base, from: '+2', allow: ['+666'] } });
      await blocked(store, other);
      const notify = notifySchema.parse({ sms: { ...base, allow: ['+42'] }, publicUrl: PUBLIC });
      await blocked(store, notify);
      const { actions, did } = noting(store);
      const means = meansOf({ store, notify, environment, actions });
      const words = { Body: 'abort x', From: '+666' };
      expect(await brought(means, { ...words, MessageSid: 'SM1', To: '+1' })).toContain('<Response/>');
      expect(await brought(means, { ...words, MessageSid: 'SM2', To: '+3' })).toContain('<Response/>');
      expect(did).toEqual([]);
      expect(await brought(means, { ...words, MessageSid: 'SM3', To: '+2' })).toContain('Done.');
    });
  });

  it('a bot that no session tells by any longer is not heard', async () => {
    const store = await open();
    const notify = notifySchema.parse({ telegram: { tokenEnv: 'T', allow: ['42'], chat: '42' } });
    const id = await blocked(store, notify);
    const heard = async (config: NotifySettings = {}) =>
      (await listAccounts({ store, notify: config, environment: {} }, 'telegram')).length;
    expect(await heard()).toBe(1);
    const end = (endedMs: number) =>
      store.tx('end', (db) =>
        db
          .updateTable('pulse_sessions')
          .set({ status: 'complete', ended_at: new Date(endedMs).toISOString() })
          .where('id', '=', id)
          .execute(),
      );
    // Its last buttons are still there.
    await end(Date.now() - 3_600_000);
    expect(await heard()).toBe(1);
    await end(Date.now() - 25 * 3_600_000);
    expect([await heard(), await heard(notify)]).toEqual([0, 1]);
  });

  it('the messages of sessions before and after a change are of one account, in one order', async () => {
    const store = await open();
    const sms = { accountSid: 'AC1', authTokenEnv: 'SMS', from: '+1', to: '+42' };
    await blocked(store, notifySchema.parse({ sms }));
    await blocked(store, notifySchema.parse({ sms: { ...sms, plain: true, authTokenEnv: 'NEW' } }));
    expect(new Set((await rows(store)).map(({ account_id: id }) => id)).size).toBe(1);
  });
});
