/** A stand-in of each chat as the courier sees it: what it is told, and how it fails. */
import { onTestFinished } from 'vitest';
import { discordLimit, openDiscord } from './discord-bot.ts';
import { openSlack, slackLimit } from './slack-app.ts';
import { openTelegram, telegramLimit } from './telegram-bot.ts';
import { openTwilio, TWILIO } from './twilio-messages.ts';

export interface Taker {
  notify: object;
  environment: Record<string, string>;
  /** The texts that people see. */
  shown(): string[];
  dies(): void;
  /** The next message; 0: it is never answered. */
  refuses(status: number): void;
  /** The next message is for later, as the service says it. */
  limits(seconds: number): void;
}

function until<T extends AsyncDisposable>(opened: T): T {
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

export const TAKERS: Record<string, () => Promise<Taker>> = {
  async telegram() {
    const bot = until(await openTelegram());
    return {
      notify: { telegram: { tokenEnv: 'T', apiUrl: bot.url, chat: '42' } },
      environment: { T: '1:abc' },
      shown: () => bot.sent.map(({ text }) => text),
      dies: () => Object.assign(bot, { diesAfterTaking: true }),
      refuses: (status) =>
        bot.refusals.push({ method: 'sendMessage', status, description: 'No', hangs: status === 0 }),
      limits: (seconds) => bot.refusals.push({ method: 'sendMessage', ...telegramLimit(seconds) }),
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
      limits: (seconds) => bot.refusals.push({ ends: '/messages', ...discordLimit(seconds) }),
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
      limits: (seconds) => app.refusals.push(slackLimit(seconds)),
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
      limits: (seconds) => twilio.refusals.push({ status: 429, retryAfter: seconds }),
    };
  },
};
