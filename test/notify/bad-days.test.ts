/** Each stand-in refuses, hangs, and dies after it has taken a message: what the courier makes of that. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { deliverDue } from '../../src/notify/courier.ts';
import { openDiscord } from './discord-bot.ts';
import { courier, deliver, hurry, routed, rows, say } from './outbox-scene.ts';
import { openFileStore } from './reading-scene.ts';
import { openSlack } from './slack-app.ts';
import { openTelegram } from './telegram-bot.ts';
import { openTwilio, TWILIO } from './twilio-messages.ts';

interface Taker {
  notify: object;
  environment: Record<string, string>;
  /** The texts that people see. */
  shown(): string[];
  dies(): void;
  /** The next message; 0: it is never answered. */
  refuses(status: number): void;
}

function until<T extends AsyncDisposable>(opened: T): T {
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

const TAKERS: Record<string, () => Promise<Taker>> = {
  async telegram() {
    const bot = until(await openTelegram());
    return {
      notify: { telegram: { tokenEnv: 'T', apiUrl: bot.url, chat: '42' } },
      environment: { T: '1:abc' },
      shown: () => bot.sent.map(({ text }) => text),
      dies: () => Object.assign(bot, { diesAfterTaking: true }),
      refuses: (status) =>
        bot.refusals.push({ method: 'sendMessage', status, description: 'No', hangs: status === 0 }),
    };
  },
  async discord() {
    const bot = until(await openDiscord());
    return {
      notify: { discord: { tokenEnv: 'T', apiUrl: bot.url, channel: '9' } },
      environment: { T: bot.token },
      shown: () => bot.sent.map(({ content }) => content),
      dies: () => Object.assign(bot, { diesAfterTaking: true }),
      refuses: (status) => bot.refusals.push({ ends: '/messages', status }),
    };
  },
  async slack() {
    const app = until(await openSlack());
    return {
      notify: { slack: { appTokenEnv: 'A', botTokenEnv: 'T', apiUrl: app.url, channel: 'C9' } },
      environment: { A: app.tokens.app, T: app.tokens.bot },
      shown: () => app.sent.map(({ text }) => text),
      dies: () => Object.assign(app, { diesAfterTaking: true }),
      refuses: (status) => app.refusals.push({ status }),
    };
  },
  async sms() {
    const { accountSid, from, token } = TWILIO;
    const twilio = until(await openTwilio());
    return {
      notify: { sms: { accountSid, from, authTokenEnv: 'T', apiUrl: twilio.url, to: '+42' } },
      environment: { T: token },
      shown: () => twilio.sent.map(({ body }) => body),
      dies: () => Object.assign(twilio, { diesAfterTaking: true }),
      refuses: (status) => twilio.refusals.push(status),
    };
  },
};

async function scene(name: string) {
  const taker = await TAKERS[name]!();
  const store = await openFileStore();
  const id = await routed(store, notifySchema.parse(taker.notify));
  await say(store, id, 'one', 'two');
  const words = () => taker.shown().map((text) => /one|two/.exec(text)?.[0]);
  return { taker, store, words, means: courier(store, taker.environment) };
}

describe.each(Object.keys(TAKERS))('%s', (name) => {
  it('that dies after it has taken a message gets it again, before the next', async () => {
    const { taker, store, words, means } = await scene(name);
    taker.dies();
    expect(await deliver(means)).toBe(0);
    expect(words()).toEqual(['one']);
    await hurry(store);
    expect(await deliver(means)).toBe(2);
    // Discord knows that it is the same one.
    expect(words()).toEqual(name === 'discord' ? ['one', 'two'] : ['one', 'one', 'two']);
  });

  it.each([401, 403, 409, 429, 500, 503])('that answers %i gets it another time', async (status) => {
    const { taker, store, words, means } = await scene(name);
    taker.refuses(status);
    expect(await deliver(means)).toBe(0);
    expect(await rows(store)).toMatchObject([
      { status: 'waiting', attempts: 1, error: expect.stringContaining(`HTTP ${status}`) },
      { status: 'waiting', attempts: 0 },
    ]);
    await hurry(store);
    expect(await deliver(means)).toBe(2);
    expect(words()).toEqual(['one', 'two']);
  });

  it('that never answers holds up no process that ends: the next one sends it', async () => {
    const { taker, words, means, store } = await scene(name);
    taker.refuses(0);
    expect(await deliverDue(means, AbortSignal.timeout(500))).toBe(0);
    expect(words()).toEqual([]);
    expect(await rows(store)).toMatchObject([{ status: 'waiting' }, { status: 'waiting' }]);
    expect(await deliver({ ...means, owner: 'next', isGone: () => true })).toBe(2);
    expect(words()).toEqual(['one', 'two']);
  });
});
