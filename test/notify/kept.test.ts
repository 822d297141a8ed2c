/** What comes while the store is away is done when it is back, or its sender is told: nothing is lost in silence. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PulseError } from '../../src/domain/errors.ts';
import { notifySchema } from '../../src/domain/notify.ts';
import { discordReader } from '../../src/notify/inbound/discord-reader.ts';
import { readChannel } from '../../src/notify/inbound/reader.ts';
import { slackReader } from '../../src/notify/inbound/slack-reader.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import { openDiscord } from './discord-bot.ts';
import { blocked, meansOf, noting, openFileStore, reading } from './reading-scene.ts';
import { openSlack } from './slack-app.ts';

const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 20_000 });
const away = () => new PulseError('store_unavailable', 'The store is away.', { retryable: true });

async function slackScene() {
  const slack = await openSlack();
  onTestFinished(() => slack[Symbol.asyncDispose]());
  const store = await openFileStore();
  const notify = notifySchema.parse({
    slack: { appTokenEnv: 'APP', botTokenEnv: 'BOT', apiUrl: slack.url, allow: ['U1'], channel: 'D9' },
  });
  await blocked(store, notify);
  const noted = noting(store);
  const environment = { APP: slack.tokens.app, BOT: slack.tokens.bot };
  reading(slackReader, { store, notify, environment, actions: noted.actions });
  await until(() => slack.isConnected);
  return { slack, ...noted };
}

async function discordScene() {
  const discord = await openDiscord();
  onTestFinished(() => discord[Symbol.asyncDispose]());
  const store = await openFileStore();
  const bot = { tokenEnv: 'DISCORD', apiUrl: discord.url, allow: ['81'], channel: '9' };
  const notify = notifySchema.parse({ discord: bot });
  await blocked(store, notify);
  const noted = noting(store);
  const environment = { DISCORD: discord.token };
  const said = reading(discordReader, { store, notify, environment, actions: noted.actions });
  await until(() => discord.isConnected);
  return { discord, said, ...noted };
}

describe('on Slack', () => {
  it('a message is acknowledged when it was done, and done once, however often it is brought', async () => {
    const { slack, did, failures } = await slackScene();
    failures.push(away(), away());
    const event = {
      ...{ type: 'message', channel: 'D9', channel_type: 'im', user: 'U1', text: 'Port 1.' },
      ts: (Date.now() / 1000).toFixed(6),
    };
    const first = slack.bring('events_api', { event_id: 'Ev1', event });
    await until(() => failures.length === 1);
    const again = slack.bring('events_api', { event_id: 'Ev1', event });
    slack.toAll({ envelope_id: 'odd', type: 'events_api', payload: 7 });
    await until(() => slack.acknowledged.includes('odd'));
    expect(slack.acknowledged).toEqual(['odd']);
    await until(() => slack.acknowledged.length === 3);
    expect([slack.acknowledged.toSorted(), did]).toEqual([
      [first, again, 'odd'].toSorted(),
      ['slack:U1 answer Port 1.'],
    ]);
    await until(() => slack.sent.length > 0);
    expect(slack.sent).toHaveLength(1);
  });

  it('a command that was not done is not acknowledged, and its sender is told why', async () => {
    const { slack, did, failures } = await slackScene();
    failures.push(away());
    const command = { command: '/pulse', text: 'pause x', channel_id: 'D9', trigger_id: '1' };
    const lost = slack.bring('slash_commands', { ...command, user_id: 'U1' });
    await until(() => slack.whispers.length > 0);
    expect(slack.whispers[0]!.text).toContain('It was not done. The store is away.');
    expect(slack.acknowledged).not.toContain(lost);
    const done = slack.bring('slash_commands', { ...command, user_id: 'U1', trigger_id: '2' });
    await until(() => slack.acknowledged.includes(done));
    expect(did).toEqual(['slack:U1 pause x']);
  });
});

describe('on Discord', () => {
  it('a message, which nobody brings again, is kept until it is done', async () => {
    const { discord, did, failures } = await discordScene();
    failures.push(away(), away());
    discord.post({ from: '81', channel: '9', content: 'Port 1.' });
    await until(() => did.length > 0);
    await until(() => discord.sent.length > 0);
    expect(did).toEqual(['discord:81 answer Port 1.']);
    expect(discord.sent.map(({ content }) => content)).toEqual(['Done.']);
  });

  it('what was written while nobody read is heard by the next process', async () => {
    const discord = await openDiscord();
    onTestFinished(() => discord[Symbol.asyncDispose]());
    const store = await openFileStore();
    const bot = { tokenEnv: 'DISCORD', apiUrl: discord.url, allow: ['81'], channel: '9' };
    const notify = notifySchema.parse({ discord: bot });
    const { actions, did } = noting(store);
    const environment = { DISCORD: discord.token };
    const pause = (session: string) =>
      discord.interact({
        ...{ from: '81', type: 2 },
        data: { name: 'pulse', options: [{ name: 'pause', options: [{ name: 'session', value: session }] }] },
      });
    const read = () => {
      const ending = new AbortController();
      const over = readChannel(meansOf({ store, notify, environment, actions }), discordReader, {
        ...{ signal: ending.signal, lookMs: 100 },
      });
      return async () => {
        ending.abort();
        await over;
      };
    };
    const positions = () =>
      store.read((db) => withNotifyTables(db).selectFrom('chat_pollers').select('position').execute());
    const stop = read();
    await until(() => discord.isConnected);
    pause('first');
    await vi.waitUntil(async () => (await positions())[0]?.position?.includes('"seq":2'), {
      timeout: 20_000,
    });
    await stop();
    await until(() => !discord.isConnected);
    pause('second');
    const stopSecond = read();
    await until(() => did.length === 2);
    await stopSecond();
    expect(discord.begun).toEqual([2, 6]);
    expect(did).toEqual(['discord:81 pause first', 'discord:81 pause second']);
  });

  it('who commands is told that it was not done', async () => {
    const { discord, did, failures, said } = await discordScene();
    failures.push(away());
    const options = [{ name: 'session', value: 'x' }];
    const asked = discord.interact({
      ...{ from: '81', type: 2, data: { name: 'pulse', options: [{ name: 'pause', options }] } },
    });
    await until(() => discord.replies.has(asked));
    expect(discord.replies.get(asked)).toMatchObject([
      { type: 4, data: { content: expect.stringContaining('It was not done. The store is away.') } },
    ]);
    expect([did, said]).toEqual([[], ['discord: The store is away.']]);
  });
});
