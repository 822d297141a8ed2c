/** The stand-ins are judged by the services' own libraries: what those take for the service, our tests may, too. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { REST } from '@discordjs/rest';
import { WebSocketManager, WebSocketShardEvents } from '@discordjs/ws';
import { SocketModeClient } from '@slack/socket-mode';
import { Bot } from 'grammy';
import { Webhook } from 'standardwebhooks';
import twilio from 'twilio';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { webhook } from '../../src/notify/channels/webhook.ts';
import { isSignedByTwilio } from '../../src/notify/inbound/twilio.ts';
import { openDiscord } from './discord-bot.ts';
import { openSlack } from './slack-app.ts';
import { openTelegram } from './telegram-bot.ts';
import { openTwilio, TWILIO } from './twilio-messages.ts';

const waitFor = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 20_000 });

async function using<T extends AsyncDisposable>(opening: Promise<T>): Promise<T> {
  const opened = await opening;
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

describe('a stand-in is good enough for its service’s own library', () => {
  it('Telegram: grammY polls, sends with buttons, edits and answers a press', async () => {
    const telegram = await using(openTelegram({ isForum: true }));
    const bot = new Bot('12:token', { client: { apiRoot: telegram.url } });
    const [heard, pressed]: string[][] = [[], []];
    bot.on('message:text', (context) => void heard!.push(context.message.text));
    bot.on('callback_query:data', async (context) => {
      pressed!.push(context.callbackQuery.data);
      await context.answerCallbackQuery({ text: 'Taken.' });
      await context.editMessageText('Answered.');
    });
    const running = bot.start();
    const reply_markup = { inline_keyboard: [[{ text: 'Answer', callback_data: 'a1' }]] };
    await bot.api.sendMessage(42, 'Which port?', { reply_markup });
    expect((await bot.api.createForumTopic(42, 'Goal')).message_thread_id).toBe(71);
    telegram.write({ from: 42, text: 'Hello' });
    telegram.press({ from: 42, message: telegram.sent[0]!, label: 'Answer' });
    await waitFor(() => telegram.edits === 1);
    expect([heard, pressed, telegram.notes]).toMatchObject([['Hello'], ['a1'], [{ text: 'Taken.' }]]);
    await bot.stop();
    await running;
  });

  it('Discord: its libraries send, and hear an interaction on the gateway', async () => {
    const discord = await using(openDiscord());
    const rest = new REST({ api: discord.url, version: '10' }).setToken(discord.token);
    const sent = (await rest.post('/channels/9/messages', { body: { content: 'Hello' } })) as { id: string };
    await rest.patch(`/channels/9/messages/${sent.id}`, { body: { content: 'Edited' } });
    expect(discord.sent).toMatchObject([{ content: 'Edited' }]);
    const manager = new WebSocketManager({ token: discord.token, intents: 0, rest });
    const heard: string[] = [];
    manager.on(WebSocketShardEvents.Dispatch, (event) => void heard.push((event as { t: string }).t));
    await manager.connect();
    await waitFor(() => discord.isConnected);
    discord.interact({ from: '81', type: 2, data: { name: 'pulse' } });
    await waitFor(() => heard.includes('INTERACTION_CREATE'));
    expect(heard).toEqual(['READY', 'INTERACTION_CREATE']);
    await manager.destroy();
    await expect(new REST({ api: discord.url }).setToken('wrong').get('/gateway/bot')).rejects.toMatchObject({
      status: 401,
    });
  });

  it('Twilio: its library sends and lists, and signs as we check', async () => {
    const service = await using(openTwilio());
    const request = async ({ method, uri, data, params, username, password }: Record<string, string>) => {
      const path = new URL(uri!).pathname;
      const query = params ? `?${new URLSearchParams(params as never)}` : '';
      const answer = await fetch(`${service.url}${path}${query}`, {
        method: method!.toUpperCase(),
        headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
        ...(data ? { body: new URLSearchParams(data as never) } : {}),
      });
      return { statusCode: answer.status, body: await answer.json() };
    };
    const client = twilio(TWILIO.accountSid, TWILIO.token, { httpClient: { request } as never });
    const sent = await client.messages.create({ to: '+42', from: TWILIO.from, body: 'Hello' });
    service.write({ from: '+42', body: 'Port 1.' });
    const listed = await client.messages.list({ to: TWILIO.from, limit: 5 });
    expect([sent.sid, listed.map(({ body }) => body)]).toEqual([service.sent[0]!.sid, ['Port 1.']]);
    const url = 'https://pulse.example/hooks/twilio';
    const fields = { Body: 'Pört <1> & so', From: '+42', MessageSid: 'SM1', Empty: '' };
    const signature = twilio.getExpectedTwilioSignature(TWILIO.token, url, fields);
    const signed = { url, fields: new Map(Object.entries(fields)), token: TWILIO.token };
    expect(isSignedByTwilio(signed, signature)).toBe(true);
    expect(isSignedByTwilio({ ...signed, token: 'forged' }, signature)).toBe(false);
    expect(twilio.validateRequest(TWILIO.token, signature, url, fields)).toBe(true);
  });

  it('Slack: its library connects, hears and acknowledges', async () => {
    const slack = await using(openSlack());
    const client = new SocketModeClient({
      ...{ appToken: slack.tokens.app, clientOptions: { slackApiUrl: `${slack.url}/` } },
    });
    const heard = new Promise<{ ack(): Promise<void>; body: object }>((resolve) =>
      client.once('slack_event', resolve),
    );
    await client.start();
    const envelope = slack.bring('slash_commands', { command: '/pulse', text: 'status' });
    const { ack, body } = await heard;
    await ack();
    await waitFor(() => slack.acknowledged.includes(envelope));
    expect(body).toMatchObject({ command: '/pulse', text: 'status' });
    await client.disconnect();
  });
});

describe('a webhook', () => {
  it('is believed by the library of Standard Webhooks, with either of two secrets, and not when it was changed', async () => {
    const got: { headers: Record<string, string>; body: string }[] = [];
    const server = createServer(async (request, response) => {
      got.push({ headers: request.headers as Record<string, string>, body: await text(request) });
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const [first, second] = [
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    ];
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const outcome = await webhook.send(
      {
        ...{ text: '⏸️ Blocked: Why?', weight: 'needs', key: 'ses_1.4', destination: url },
        about: { type: 'session.blocked', sessionId: 'ses_1', iteration: 2 },
      },
      {
        settings: { url, secretEnv: 'S' },
        secret: () => `${first} ${second}`,
        signal: AbortSignal.timeout(9_000),
      },
    );
    expect(outcome.kind).toBe('sent');
    const [{ headers, body }] = got as [(typeof got)[number]];
    for (const secret of [first, second])
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({
        type: 'session.blocked',
        sessionId: 'ses_1',
      });
    expect(() => new Webhook(first).verify(body.replace('Why', 'How'), headers)).toThrow();
  });
});
