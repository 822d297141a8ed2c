/** Words that are older than the question: they are not its answer, whatever was away in between. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { discordReader } from '../../src/notify/inbound/discord-reader.ts';
import { slackReader } from '../../src/notify/inbound/slack-reader.ts';
import { smsReader } from '../../src/notify/inbound/text-messages.ts';
import { COMPLETE } from '../engine/scene.ts';
import { asking, heard, makeChatScene, statusOf, waitFor } from './chat-scene.ts';
import { openDiscord } from './discord-bot.ts';
import { age, ask, blocked, noting, openFileStore, reading } from './reading-scene.ts';
import { openSlack } from './slack-app.ts';
import { openTwilio, TWILIO } from './twilio-messages.ts';

const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 20_000 });
const MINUTE_MS = 60_000;

describe('on Telegram', () => {
  it('they are refused, and their sender is told', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene);
    scene.telegram.write({ from: 42, text: 'Forget it, I am in a meeting.', agoMs: 5 * MINUTE_MS });
    await heard(scene, 'Your words came before this was asked');
    scene.telegram.write({ from: 42, text: `/resume ${id} Port 1.`, agoMs: 5 * MINUTE_MS });
    await waitFor(() => scene.telegram.sent.filter(({ text }) => text.includes('came before')).length === 2);
    expect(await statusOf(scene, id)).toBe('blocked');
    scene.telegram.write({ from: 42, text: 'Port 2.' });
    await waitFor(async () => (await statusOf(scene, id)) === 'complete');
    const { events } = await scene.pulse.export(id);
    expect(events.filter(({ type }) => type === 'session.resumed').map(({ data }) => data.answer)).toEqual([
      'Port 2.',
    ]);
  });

  it('an old ok raises no limit', async () => {
    const scene = await makeChatScene();
    const command = `[ "$PULSE_ITERATION" = 1 ] && echo x > x.txt && echo "<signal>CONTINUE</signal>" || { ${COMPLETE}; }`;
    const { session } = await scene.pulse.start({
      ...{ goal: 'g', path: scene.root, command, maxIterations: 1, chatId: '42', createdBy: 'api' },
    });
    await scene.run(session);
    await heard(scene, 'Blocked');
    scene.telegram.write({ from: 42, text: 'ok', agoMs: MINUTE_MS });
    await heard(scene, 'Your words came before');
    expect(await scene.pulse.session(session.id)).toMatchObject({ status: 'blocked', max_iterations: 1 });
  });

  it('a yes that was written before it was asked for aborts nothing', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene);
    const message = scene.telegram.sent.at(-1)!;
    scene.telegram.press({ from: 42, message, label: 'Abort' });
    await heard(scene, 'Write yes');
    scene.telegram.write({ from: 42, text: 'yes', agoMs: MINUTE_MS });
    await heard(scene, 'Your words came before');
    expect(await statusOf(scene, id)).toBe('blocked');
  });
});

it('a text message answers the last question of its session, not one that was asked when it had not been written', async () => {
  const twilio = await openTwilio();
  onTestFinished(() => twilio[Symbol.asyncDispose]());
  const store = await openFileStore();
  const { accountSid, from } = TWILIO;
  const sms = { accountSid, from, authTokenEnv: 'SMS', apiUrl: twilio.url, allow: ['+42'], to: '+42' };
  const notify = notifySchema.parse({ sms });
  const id = await blocked(store, notify);
  await age(store, 60 * MINUTE_MS);
  twilio.write({ from: '+42', body: 'Yes, go ahead.', agoMs: 10 * MINUTE_MS });
  await ask(store, id, 'Delete prod data?');
  const { actions, did } = noting(store);
  reading(smsReader, { store, notify, environment: { SMS: TWILIO.token }, actions });
  await until(() => twilio.polls > 1);
  expect(did).toEqual([]);
  twilio.write({ from: '+42', body: 'No.' });
  await until(() => did.length > 0);
  expect(did).toEqual(['sms:+42 answer No.']);
});

it('of two sessions that wait, a text message that is too old for one is told so', async () => {
  const twilio = await openTwilio();
  onTestFinished(() => twilio[Symbol.asyncDispose]());
  const store = await openFileStore();
  const { accountSid, from } = TWILIO;
  const sms = { accountSid, from, authTokenEnv: 'SMS', apiUrl: twilio.url, allow: ['+42', '+43'] };
  const notify = notifySchema.parse({ sms });
  await blocked(store, notify, { phone_number: '+43' });
  await age(store, 60 * MINUTE_MS);
  await blocked(store, notify, { phone_number: '+42' });
  const { actions, did } = noting(store);
  reading(smsReader, { store, notify, environment: { SMS: TWILIO.token }, actions });
  twilio.write({ from: '+42', body: 'Too early.', agoMs: 10 * MINUTE_MS });
  twilio.write({ from: '+43', body: 'In time.', agoMs: 10 * MINUTE_MS });
  await until(() => twilio.sent.some(({ to, body }) => to === '+42' && body.includes('came before')));
  expect(did).toEqual(['sms:+43 answer In time.']);
});

it('on Discord the id of a message tells when it was written', async () => {
  const discord = await openDiscord();
  onTestFinished(() => discord[Symbol.asyncDispose]());
  const store = await openFileStore();
  const bot = { tokenEnv: 'DISCORD', apiUrl: discord.url, allow: ['81'], channel: '9' };
  const notify = notifySchema.parse({ discord: bot });
  await blocked(store, notify);
  const { actions, did } = noting(store);
  reading(discordReader, { store, notify, environment: { DISCORD: discord.token }, actions });
  await until(() => discord.isConnected);
  discord.post({ from: '81', channel: '9', content: 'Too early.', agoMs: 5 * MINUTE_MS });
  await until(() => discord.sent.some(({ content }) => content.includes('came before')));
  discord.post({ from: '81', channel: '9', content: 'In time.' });
  await until(() => did.length > 0);
  expect(did).toEqual(['discord:81 answer In time.']);
});

it('on Slack the time stamp of a message tells it', async () => {
  const slack = await openSlack();
  onTestFinished(() => slack[Symbol.asyncDispose]());
  const store = await openFileStore();
  const notify = notifySchema.parse({
    slack: { appTokenEnv: 'APP', botTokenEnv: 'BOT', apiUrl: slack.url, allow: ['U1'], channel: 'D9' },
  });
  await blocked(store, notify);
  const { actions, did } = noting(store);
  const environment = { APP: slack.tokens.app, BOT: slack.tokens.bot };
  reading(slackReader, { store, notify, environment, actions });
  await until(() => slack.isConnected);
  const write = (text: string, agoMs: number) =>
    slack.bring('events_api', {
      event_id: text,
      event: {
        ...{ type: 'message', channel: 'D9', channel_type: 'im', user: 'U1', text },
        ts: ((Date.now() - agoMs) / 1000).toFixed(6),
      },
    });
  write('Too early.', 5 * MINUTE_MS);
  await until(() => slack.sent.some(({ text }) => text.includes('came before')));
  write('In time.', 0);
  await until(() => did.length > 0);
  expect(did).toEqual(['slack:U1 answer In time.']);
});

it('a time that no service could tell is none', async () => {
  const scene = await makeChatScene();
  const id = await asking(scene);
  scene.telegram.write({ from: 42, text: 'Port 2.', agoMs: 1_000 * 24 * 60 * MINUTE_MS });
  await waitFor(async () => (await statusOf(scene, id)) === 'complete');
});
