/**
 * From a service's delivery of an answer to the session that goes on: words, buttons and signed hooks, against stand-ins
 * of the services.
 */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
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
import { ms, type Row, tell } from './row.ts';
import { quantile } from './statistics.ts';

const QUESTIONS = 10;
const MOST_MS = 2_000;
const THEN = 'echo "<signal>COMPLETE</signal>"';
const ASK = `[ "$PULSE_ITERATION" = 1 ] && echo "<signal>BLOCKED: Which port?</signal>" || ${THEN}`;
/** Stops at its limit after the first step. */
const STEP = `[ "$PULSE_ITERATION" = 1 ] && { echo "$PULSE_SESSION_ID" > step.txt; echo "<signal>CONTINUE</signal>"; } || ${THEN}`;
const PUBLIC = 'https://pulse.example';
const keys = generateKeyPairSync('ed25519');
const publicKey = keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(12).toString('hex');

using scratch = createScratch();
await using telegram = await openTelegram();
await using discord = await openDiscord();
await using slack = await openSlack();
await using twilio = await openTwilio();
const notify = notifySchema.parse({
  telegram: { tokenEnv: 'TELEGRAM', apiUrl: telegram.url, allow: [42] },
  discord: { tokenEnv: 'DISCORD', apiUrl: discord.url, allow: ['81'], channel: '9', publicKey },
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
const serveWith = (more: object) =>
  serve({
    ...{ pulse, host: '127.0.0.1', port: 0, reads: 'open', adopt: [], say: () => undefined },
    notify: { ...notify, ...more },
  });

/** Answers what was asked last. */
interface Chat {
  told(): number;
  answer(sessionId: string): unknown;
  isLimit?: boolean;
  isPhone?: boolean;
}

const isAsking = (text: string): boolean => text.includes('Blocked');
const onTelegram = () => telegram.sent.filter(({ text }) => isAsking(text));
const onDiscord = () => discord.sent.filter(({ content }) => isAsking(content));
const onSlack = () => slack.sent.filter(({ text }) => isAsking(text));
const onPhone = () => twilio.sent.filter(({ body }) => isAsking(body)).length;
const RAISE = 'Raise the limit';
const raise = { isLimit: true };

const CHATS: Record<string, Chat> = {
  'words on Telegram': {
    told: () => onTelegram().length,
    answer: () => telegram.write({ from: 42, text: 'Port 1.' }),
  },
  'a button on Telegram': {
    ...raise,
    told: () => onTelegram().length,
    answer: () => telegram.press({ from: 42, message: onTelegram().at(-1)!, label: RAISE }),
  },
  'a reply on Discord': {
    told: () => onDiscord().length,
    answer: () =>
      discord.post({ from: '81', channel: '9', content: 'Port 1.', repliesTo: onDiscord().at(-1)!.id }),
  },
  'a button on Discord': {
    ...raise,
    told: () => onDiscord().length,
    answer: () => discord.press({ from: '81', message: onDiscord().at(-1)!, label: RAISE }),
  },
  'a reply on Slack': {
    told: () => onSlack().length,
    answer: () =>
      slack.bring('events_api', {
        event_id: `Ev${Math.random()}`,
        event: {
          ...{ type: 'message', channel: 'C9', user: 'U1', text: 'Port 1.', ts: String(Math.random()) },
          thread_ts: onSlack().at(-1)!.ts,
        },
      }),
  },
  'a button on Slack': {
    ...raise,
    told: () => onSlack().length,
    answer: () => slack.press({ from: 'U1', message: onSlack().at(-1)!, label: RAISE }),
  },
  'a text message': {
    ...{ told: onPhone, isPhone: true },
    answer: () => twilio.write({ from: '+42', body: 'Port 1.' }),
  },
};

/** What the services bring to an address of ours. */
const hooksOf = (url: string): Record<string, Chat> => ({
  'the hook of Twilio': {
    told: () => onTelegram().length,
    answer: (id) => {
      const fields = { Body: `resume ${id} Port 1.`, From: '+42', MessageSid: `SM${id}`, To: TWILIO.from };
      const signed = Object.entries(fields).reduce(
        (sum, pair) => sum + pair.join(''),
        `${PUBLIC}/hooks/twilio`,
      );
      const signature = createHmac('sha1', TWILIO.token).update(signed).digest('base64');
      return bring(`${url}/hooks/twilio`, new URLSearchParams(fields).toString(), {
        'x-twilio-signature': signature,
        'content-type': 'application/x-www-form-urlencoded',
      });
    },
  },
  'the hook of Discord': {
    ...raise,
    told: () => onDiscord().length,
    answer() {
      const [row] = onDiscord().at(-1)!.components;
      const button = row!.components.find(({ label }) => label === RAISE)!;
      const body = JSON.stringify({
        ...{ id: `hook-${Math.random()}`, type: 3, token: 't', application_id: '4711', channel_id: '9' },
        ...{ member: { user: { id: '81' } }, data: { custom_id: button.custom_id, component_type: 2 } },
      });
      const at = String(Math.floor(Date.now() / 1000));
      const signature = sign(null, Buffer.from(`${at}${body}`), keys.privateKey).toString('hex');
      return bring(`${url}/hooks/discord`, body, {
        'x-signature-ed25519': signature,
        'x-signature-timestamp': at,
      });
    },
  },
});

async function bring(url: string, body: string, headers: Record<string, string>): Promise<void> {
  const { status } = await fetch(url, { method: 'POST', headers, body });
  if (status !== 200) throw new Error(`${url}: HTTP ${status}`);
}

const rows: Row[] = [];
{
  await using _server = await serveWith({});
  await until(() => discord.isConnected && slack.isConnected);
  for (const [name, chat] of Object.entries(CHATS)) rows.push(await measure(name, chat));
}
{
  await using server = await serveWith({ publicUrl: PUBLIC });
  for (const [name, chat] of Object.entries(hooksOf(server.url))) rows.push(await measure(name, chat));
}
tell(rows);

async function measure(name: string, { told, answer, isLimit = false, isPhone = false }: Chat): Promise<Row> {
  const took: number[] = [];
  for (let n = 0; n < QUESTIONS; n++) {
    const before = told();
    const { session } = await pulse.start({
      ...{ goal: 'Ask', path: scratch.repository, createdBy: 'api', agent: 'command' },
      ...{ command: isLimit ? STEP : ASK, maxIterations: isLimit ? 1 : 3 },
      // A phone gets twenty messages a day.
      ...{ chatId: '42', ...(isPhone ? { phoneNumber: '+42' } : {}) },
    });
    await pulse.run(session.id, new AbortController().signal);
    await until(() => told() > before);
    const beganMs = performance.now();
    await Promise.all([answer(session.id), standing(session.id, (status) => status !== 'blocked')]);
    took.push(performance.now() - beganMs);
    await standing(session.id, (status) => status === 'complete');
  }
  const [p50, most] = [quantile(took, 0.5), Math.max(...took)];
  return {
    what: `(p) answered by ${name} → session continues`,
    measured: `p50 ${ms(p50)}, at most ${ms(most)}`,
    ...{ beside: '', result: '', target: `≤ ${ms(MOST_MS)}`, isMet: most <= MOST_MS },
  };
}

async function standing(id: string, isMeant: (status: string) => boolean): Promise<void> {
  while (!isMeant((await pulse.session(id)).status)) await delay(5);
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}
