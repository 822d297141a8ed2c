/** Words of agents and of people on services that read markup, and words that are too many. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { inert } from '../../src/notify/channels/discord-text.ts';
import { discordReader } from '../../src/notify/inbound/discord-reader.ts';
import { hearTwilio } from '../../src/notify/inbound/hooks.ts';
import { slackReader } from '../../src/notify/inbound/slack-reader.ts';
import { openDiscord } from './discord-bot.ts';
import { courier, deliver, routed, say } from './outbox-scene.ts';
import { blocked, meansOf, noting, openFileStore, reading } from './reading-scene.ts';
import { openSlack } from './slack-app.ts';
import { openTwilio, TWILIO } from './twilio-messages.ts';

const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 20_000 });
const MARKUP = '*b* __u__ ~~s~~ ||x|| `c` [x](http://evil) <@81> <#9> <!channel> @everyone \n# Big\n> quoted';
const LONG = 'x'.repeat(100_000);

async function discordScene() {
  const discord = await openDiscord();
  onTestFinished(() => discord[Symbol.asyncDispose]());
  const store = await openFileStore();
  const bot = { tokenEnv: 'DISCORD', apiUrl: discord.url, allow: ['81'], channel: '9' };
  const notify = notifySchema.parse({ discord: bot });
  return { discord, store, notify, environment: { DISCORD: discord.token } };
}

async function slackScene() {
  const slack = await openSlack();
  onTestFinished(() => slack[Symbol.asyncDispose]());
  const store = await openFileStore();
  const settings = { appTokenEnv: 'APP', botTokenEnv: 'BOT', apiUrl: slack.url };
  const notify = notifySchema.parse({ slack: { ...settings, allow: ['U1'], channel: 'D9' } });
  return { slack, store, notify, environment: { APP: slack.tokens.app, BOT: slack.tokens.bot } };
}

describe('on Discord', () => {
  it('markup is shown as it is, mentions nobody and brings no picture of a link', async () => {
    const { discord, store, notify, environment } = await discordScene();
    await say(store, await routed(store, notify), MARKUP);
    expect(await deliver(courier(store, environment))).toBe(1);
    const { content, asked } = discord.sent[0]!;
    expect(content).toBe(
      String.raw`⏸️ Blocked: \*b\* \_\_u\_\_ \~\~s\~\~ \|\|x\|\| \`c\` \[x](http://evil) \<@81> \<#9> \<!channel> @everyone ` +
        String.raw`
\# Big
\> quoted`,
    );
    expect(asked).toMatchObject({ allowed_mentions: { parse: [] }, flags: 4 });
  });

  it('answers, too, call nobody and hold no markup', async () => {
    const { discord, store, notify, environment } = await discordScene();
    const { actions } = noting(store);
    reading(discordReader, {
      ...{ store, notify, environment },
      actions: { ...actions, status: async () => MARKUP },
    });
    await until(() => discord.isConnected);
    const data = { name: 'pulse', options: [{ name: 'status' }] };
    const asked = discord.interact({ from: '81', type: 2, data });
    await until(() => discord.replies.has(asked));
    expect(discord.replies.get(asked)![0]!.data).toMatchObject({
      content: expect.stringContaining(String.raw`\*b\*`),
      allowed_mentions: { parse: [] },
    });
  });

  it('ordinary words stay what they are', () => {
    for (const words of [
      '❌ Failed: agent_error',
      '✅ Session complete (4 iterations, 3 commits)',
      '📍 Iteration 3/10: Added a-b, x>y & #4 (see [1]). Continuing...',
      'https://example.org/a_b-c?d=1#e',
    ])
      expect(inert(words)).toBe(words);
    const shown = (text: string) => text.replaceAll(/\\([\\*_~`|<[>#-])/g, '$1');
    const unit = fc.constantFrom(
      '*',
      '_',
      '~',
      '`',
      '|',
      '<',
      '[',
      ']',
      '(',
      '>',
      '#',
      '-',
      '\\',
      'a',
      '\n',
      ' ',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
        expect(shown(inert(text))).toBe(text);
        expect(inert(text)).not.toMatch(/(?<!\\)(?:\\\\)*[*`<]/);
      }),
    );
  });

  it('100 KB are refused whole', async () => {
    const { discord, store, notify, environment } = await discordScene();
    await blocked(store, notify);
    const { actions, did } = noting(store);
    reading(discordReader, { store, notify, environment, actions });
    await until(() => discord.isConnected);
    discord.post({ from: '666', channel: '9', content: LONG });
    discord.post({ from: '81', channel: '9', content: LONG });
    await until(() => discord.sent.length > 0);
    expect([discord.sent.length, discord.sent[0]!.content, did]).toEqual([
      ...[1, expect.stringContaining('65536'), []],
    ]);
  });
});

describe('on Slack', () => {
  it('markup is shown as it is, in messages and in answers', async () => {
    const { slack, store, notify, environment } = await slackScene();
    await say(store, await routed(store, notify), MARKUP);
    expect(await deliver(courier(store, environment))).toBe(1);
    const { actions } = noting(store);
    reading(slackReader, {
      ...{ store, notify, environment },
      actions: { ...actions, status: async () => MARKUP },
    });
    await until(() => slack.isConnected);
    const command = { command: '/pulse', text: 'status', user_id: 'U1', channel_id: 'D9', trigger_id: '1' };
    slack.bring('slash_commands', command);
    await until(() => slack.whispers.length > 0);
    for (const { blocks, text } of [slack.sent[0]!, slack.whispers[0] as never as (typeof slack.sent)[0]]) {
      expect(blocks[0]).toMatchObject({
        ...{ type: 'section', text: { type: 'plain_text', text: expect.stringContaining(MARKUP) } },
      });
      expect(text).toContain('&lt;!channel&gt;');
    }
  });

  it('100 KB are refused whole', async () => {
    const { slack, store, notify, environment } = await slackScene();
    await blocked(store, notify);
    const { actions, did } = noting(store);
    reading(slackReader, { store, notify, environment, actions });
    await until(() => slack.isConnected);
    const write = (user: string) =>
      slack.bring('events_api', {
        event_id: user,
        event: {
          type: 'message',
          channel: 'D9',
          channel_type: 'im',
          user,
          text: LONG,
          ts: `9.${user.length}`,
        },
      });
    write('U666');
    write('U1');
    await until(() => slack.acknowledged.length === 2 && slack.sent.length > 0);
    expect([slack.sent.length, slack.sent[0]!.text, did]).toEqual([1, expect.stringContaining('65536'), []]);
  });
});

describe('by SMS', () => {
  it('markup is text, and 100 KB are refused whole, in one answer that fits', async () => {
    const twilio = await openTwilio();
    onTestFinished(() => twilio[Symbol.asyncDispose]());
    const store = await openFileStore();
    const { accountSid, from, token } = TWILIO;
    const sms = { accountSid, from, authTokenEnv: 'SMS', apiUrl: twilio.url, allow: ['+42'], to: '+42' };
    const publicUrl = 'https://pulse.example';
    const notify = notifySchema.parse({ sms, publicUrl });
    await blocked(store, notify);
    await say(store, await routed(store, notify), '*b* <!channel> `c`');
    const environment = { SMS: token };
    expect(await deliver(courier(store, environment))).toBe(2);
    expect(twilio.sent[1]!.body).toMatch(/^⏸️ Blocked: \*b\* <!channel> `c` #\d{4}$/);
    const { actions, did } = noting(store);
    const fields: Record<string, string> = { Body: LONG, From: '+42', MessageSid: 'SM1', To: from };
    const signed = Object.keys(fields)
      .toSorted()
      .reduce((sum, name) => `${sum}${name}${fields[name]}`, `${publicUrl}/hooks/twilio`);
    const xml = await hearTwilio(meansOf({ store, notify, environment, actions }), {
      ...{ path: '/hooks/twilio', form: new URLSearchParams(fields).toString() },
      signature: createHmac('sha1', token).update(signed).digest('base64'),
    });
    expect(xml).toMatch(/<Message>A message may have 65536 characters[^<]{0,600}<\/Message>/);
    expect(did).toEqual([]);
  });
});
