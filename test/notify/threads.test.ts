/** Topics and threads: one for a session, also on bad days. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { createRedactor } from '../../src/domain/redact.ts';
import type { Sending } from '../../src/notify/channels/channel.ts';
import { discord as sender } from '../../src/notify/channels/discord.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { openDiscord } from './discord-bot.ts';
import { courier, deliver, hurry, routed, rows, say } from './outbox-scene.ts';
import { openSlack } from './slack-app.ts';
import { openTelegram } from './telegram-bot.ts';

const SECRETS = { TOKEN: '1:abc', DISCORD: 'discord-secret' };

const threadOf = async (store: Store) =>
  (await store.read((db) => withNotifyTables(db).selectFrom('notify_routes').select('thread').execute())).map(
    ({ thread }) => thread,
  );

async function forumScene(store: Store) {
  const forum = await openTelegram({ isForum: true });
  onTestFinished(() => forum[Symbol.asyncDispose]());
  const telegram = { tokenEnv: 'TOKEN', apiUrl: forum.url, chat: '-100', topics: true };
  const id = await routed(store, notifySchema.parse({ telegram }));
  const limit = (method: string, status = 429) =>
    forum.refusals.push({ method, status, description: 'Not now', parameters: { retry_after: 9 } });
  return { forum, id, limit, means: courier(store, SECRETS) };
}

async function discordScene(store: Store) {
  const discord = await openDiscord();
  onTestFinished(() => discord[Symbol.asyncDispose]());
  const bot = { tokenEnv: 'DISCORD', apiUrl: discord.url, channel: '9', threads: true };
  const id = await routed(store, notifySchema.parse({ discord: bot }));
  return { discord, id, means: courier(store, SECRETS) };
}

onBothStores((open) => {
  describe('a topic on Telegram', () => {
    it('is made once, however often its first message is put off', async () => {
      const store = await open();
      const { forum, id, limit, means } = await forumScene(store);
      await say(store, id, 'one');
      for (let n = 0; n < 6; n++) {
        limit('sendMessage');
        expect(await deliver(means)).toBe(0);
        await hurry(store);
      }
      expect(await deliver(means)).toBe(1);
      expect(forum.topics).toHaveLength(1);
      expect(forum.sent[0]!.asked).toMatchObject({ message_thread_id: 71 });
    });

    it('that cannot be made now is waited for, as long as the service asks', async () => {
      const store = await open();
      const { forum, id, limit, means } = await forumScene(store);
      await say(store, id, 'one');
      limit('createForumTopic');
      expect(await deliver(means)).toBe(0);
      const inMs = Date.parse((await rows(store))[0]!.run_at) - Date.now();
      expect(inMs).toBeGreaterThan(6_000);
      expect(forum.sent).toEqual([]);
      await hurry(store);
      expect(await deliver(means)).toBe(1);
      expect(forum.sent[0]!.asked).toMatchObject({ message_thread_id: 71 });
    });

    it('that may not be made is done without', async () => {
      const store = await open();
      const { forum, id, limit, means } = await forumScene(store);
      await say(store, id, 'one');
      limit('createForumTopic', 400);
      expect(await deliver(means)).toBe(1);
      expect(forum.sent[0]!.asked).not.toHaveProperty('message_thread_id');
    });

    it('that somebody has deleted loses no message: the chat gets it', async () => {
      const store = await open();
      const { forum, id, means } = await forumScene(store);
      await say(store, id, 'one');
      await deliver(means);
      forum.deleted.push(71);
      await say(store, id, 'two', 'three');
      expect(await deliver(means)).toBe(2);
      expect(forum.sent.slice(1).map(({ asked }) => asked.message_thread_id)).toEqual([undefined, undefined]);
      expect(forum.sent[2]!.asked.reply_parameters).toMatchObject({ message_id: forum.sent[1]!.message_id });
      expect(forum.topics).toHaveLength(1);
    });
  });

  describe('a thread on Discord', () => {
    it('that a dead process has opened is that of the message it hangs on', async () => {
      const store = await open();
      const { discord, id, means } = await discordScene(store);
      await say(store, id, 'one');
      const dying = {
        ...means,
        store: {
          ...store,
          tx: (label: string, ...call: [never]) =>
            label === 'notify_sent' ? Promise.reject(new Error('dead')) : store.tx(label, ...call),
        } as Store,
      };
      await expect(deliver(dying)).rejects.toThrow('dead');
      expect(discord.threads).toHaveLength(1);
      expect(await deliver({ ...means, owner: 'next', isGone: () => true })).toBe(1);
      expect(await threadOf(store)).toEqual([`thread:${discord.sent[0]!.id}`]);
      await say(store, id, 'two');
      expect(await deliver(means)).toBe(1);
      expect([discord.threads.length, discord.sent[1]!.channel_id]).toEqual([1, discord.sent[0]!.id]);
    });

    it('that cannot be opened now is opened with the next message', async () => {
      const store = await open();
      const { discord, id, means } = await discordScene(store);
      discord.refusals.push({ ends: '/threads', status: 429, headers: { 'retry-after': '1' } });
      await say(store, id, 'one');
      expect(await deliver(means)).toBe(1);
      expect(discord.threads).toEqual([]);
      await say(store, id, 'two');
      expect(await deliver(means)).toBe(1);
      expect(discord.threads).toHaveLength(1);
      expect(discord.sent.map(({ channel_id: at }) => at)).toEqual(['9', discord.sent[0]!.id]);
    });

    it('that was locked loses no message: the channel gets it', async () => {
      const store = await open();
      const { discord, id, means } = await discordScene(store);
      await say(store, id, 'one');
      await deliver(means);
      discord.locked.push(discord.sent[0]!.id);
      await say(store, id, 'two', 'three');
      expect(await deliver(means)).toBe(2);
      expect(discord.sent.map(({ channel_id: at }) => at)).toEqual(['9', '9', '9']);
      expect(discord.threads).toHaveLength(1);
    });
  });

  it('is named without the secrets that the goal holds', async () => {
    const store = await open();
    const [{ forum, id, means }, { discord, id: other }] = [
      await forumScene(store),
      await discordScene(store),
    ];
    const goal = 'Use sk-hidden-0123456789 for it';
    await store.tx('goal', (db) => db.updateTable('pulse_sessions').set({ goal }).execute());
    await say(store, id, 'one');
    await say(store, other, 'two');
    await deliver({ ...means, redactor: createRedactor(['sk-hidden-0123456789']) });
    const names = [...forum.topics, ...discord.threads.map(({ name }) => name)];
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^Use (?!sk-hidden).* for it$/);
  });

  it('a thread on Slack whose first message was deleted is begun anew', async () => {
    const store = await open();
    const slack = await openSlack();
    onTestFinished(() => slack[Symbol.asyncDispose]());
    const settings = { appTokenEnv: 'APP', botTokenEnv: 'BOT', apiUrl: slack.url, channel: 'C9' };
    const id = await routed(store, notifySchema.parse({ slack: settings }));
    const means = courier(store, { APP: slack.tokens.app, BOT: slack.tokens.bot });
    await say(store, id, 'one');
    await deliver(means);
    slack.deleted.push(slack.sent[0]!.ts);
    await say(store, id, 'two', 'three');
    expect(await deliver(means)).toBe(2);
    expect(slack.sent.map(({ asked }) => asked.thread_ts)).toEqual([undefined, undefined, slack.sent[1]!.ts]);
  });
});

it('the message that a thread hangs on is changed where it stands', async () => {
  const discord = await openDiscord();
  onTestFinished(() => discord[Symbol.asyncDispose]());
  const sending: Sending = {
    ...{ text: 'one', weight: 'needs', key: 'k', destination: '9', opensThread: true, title: 'g' },
    about: { type: 'session.blocked', sessionId: 's', iteration: null },
  };
  const means = {
    settings: { tokenEnv: 'T', apiUrl: discord.url, allow: [] },
    secret: () => discord.token,
    signal: new AbortController().signal,
  };
  const first = await sender.send(sending, means);
  if (first.kind !== 'sent') throw new Error(first.kind);
  const again = await sender.send(sending, means);
  expect(again).toEqual(first);
  const edited = await sender.send(
    { ...sending, text: 'two', thread: first.thread!, edits: first.providerId! },
    means,
  );
  expect([edited.kind, discord.sent.map(({ content }) => content)]).toEqual(['sent', ['two']]);
});
