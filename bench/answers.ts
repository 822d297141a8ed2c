/** From a service's delivery of an answer to the session that goes on, for each chat, against stand-ins of the services. */
import { setTimeout as delay } from 'node:timers/promises';
import { serve } from '../src/api/serve.ts';
import { notifySchema } from '../src/domain/notify.ts';
import { createPulse } from '../src/pulse.ts';
import { createScratch } from '../test/fakes/scratch.ts';
import { writeTrustedConfig } from '../test/fakes/trusted-config.ts';
import { openDiscord } from '../test/notify/discord-bot.ts';
import { openSlack } from '../test/notify/slack-app.ts';
import { openTelegram } from '../test/notify/telegram-bot.ts';
import { openTwilio, TWILIO } from '../test/notify/twilio-messages.ts';
import { ms, tell } from './row.ts';
import { quantile } from './statistics.ts';

const QUESTIONS = 10;
const MOST_MS = 2_000;
const ASK = `[ "$PULSE_ITERATION" = 1 ] && echo "<signal>BLOCKED: Which port?</signal>" || echo "<signal>COMPLETE</signal>"`;

using scratch = createScratch();
await using telegram = await openTelegram();
await using discord = await openDiscord();
await using slack = await openSlack();
await using twilio = await openTwilio();
const notify = notifySchema.parse({
  telegram: { tokenEnv: 'TELEGRAM', apiUrl: telegram.url, allow: [42] },
  discord: { tokenEnv: 'DISCORD', apiUrl: discord.url, allow: ['81'], channel: '9' },
  slack: {
    appTokenEnv: 'SLACK_APP',
    botTokenEnv: 'SLACK_BOT',
    apiUrl: slack.url,
    allow: ['U1'],
    channel: 'C9',
  },
  sms: {
    accountSid: TWILIO.accountSid,
    authTokenEnv: 'SMS',
    from: TWILIO.from,
    apiUrl: twilio.url,
    allow: ['+42'],
  },
});
const secrets = {
  ...{ TELEGRAM: '12:secret', DISCORD: discord.token, SMS: TWILIO.token },
  ...{ SLACK_APP: slack.tokens.app, SLACK_BOT: slack.tokens.bot },
};
const environment = { ...scratch.environment, ...secrets };
await writeTrustedConfig(scratch.repository, { text: JSON.stringify({ notify }), environment });
await using pulse = await createPulse({ environment });
await using _server = await serve({
  ...{ pulse, host: '127.0.0.1', port: 0, reads: 'open', adopt: [], notify, say: () => undefined },
});
await until(() => discord.isConnected && slack.isConnected);

/** Answers the question that was asked last. */
const CHATS: Record<string, { told(): number; answer(): void }> = {
  telegram: {
    told: () => telegram.sent.filter(({ text }) => text.includes('Blocked')).length,
    answer: () => void telegram.write({ from: 42, text: 'Port 1.' }),
  },
  discord: {
    told: () => discord.sent.filter(({ content }) => content.includes('Blocked')).length,
    answer: () =>
      void discord.post({ from: '81', channel: '9', content: 'Port 1.', repliesTo: discord.sent.at(-1)!.id }),
  },
  slack: {
    told: () => slack.sent.filter(({ text }) => text.includes('Blocked')).length,
    answer: () =>
      void slack.bring('events_api', {
        event_id: `Ev${Math.random()}`,
        event: {
          ...{ type: 'message', channel: 'C9', user: 'U1', text: 'Port 1.', ts: String(Math.random()) },
          thread_ts: slack.sent.at(-1)!.ts,
        },
      }),
  },
  sms: {
    told: () => twilio.sent.filter(({ body }) => body.includes('Blocked')).length,
    answer: () => void twilio.write({ from: '+42', body: 'Port 1.' }),
  },
};

const rows = [];
for (const [name, { told, answer }] of Object.entries(CHATS)) {
  const took: number[] = [];
  for (let n = 0; n < QUESTIONS; n++) {
    const before = told();
    const { session } = await pulse.start({
      ...{ goal: 'Ask', path: scratch.repository, createdBy: 'api', agent: 'command', command: ASK },
      // A phone gets twenty messages a day.
      ...{ maxIterations: 3, chatId: '42', ...(name === 'sms' ? { phoneNumber: '+42' } : {}) },
    });
    await pulse.run(session.id, new AbortController().signal);
    await until(() => told() > before);
    const beganMs = performance.now();
    answer();
    await standing(session.id, (status) => status !== 'blocked');
    took.push(performance.now() - beganMs);
    await standing(session.id, (status) => status === 'complete');
  }
  const [p50, most] = [quantile(took, 0.5), Math.max(...took)];
  rows.push({
    what: `(p) answered by ${name} → session goes on`,
    measured: `p50 ${ms(p50)}, at most ${ms(most)}`,
    ...{ beside: '', result: '', target: `≤ ${ms(MOST_MS)}`, isMet: most <= MOST_MS },
  });
}
tell(rows);

async function standing(id: string, isMeant: (status: string) => boolean): Promise<void> {
  while (!isMeant((await pulse.session(id)).status)) await delay(5);
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}
