/** The stand-ins are judged by the services' own libraries: what those take for the service, our tests may, too. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { REST } from '@discordjs/rest';
import { WebSocketManager, WebSocketShardEvents } from '@discordjs/ws';
import { SocketModeClient } from '@slack/socket-mode';
import { WebClient } from '@slack/web-api';
import { ChannelType, InteractionResponseType, RESTJSONErrorCodes, Routes } from 'discord-api-types/v10';
import { Bot } from 'grammy';
import { Webhook } from 'standardwebhooks';
import twilio from 'twilio';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { webhook } from '../../src/notify/channels/webhook.ts';
import { COMMAND } from '../../src/notify/inbound/discord.ts';
import { isSignedByTwilio } from '../../src/notify/inbound/twilio.ts';
import { discordLimit, openDiscord } from './discord-bot.ts';
import { openSlack, slackLimit } from './slack-app.ts';
import { openTelegram, telegramLimit } from './telegram-bot.ts';
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
    telegram.refusals.push({ method: 'sendMessage', ...telegramLimit(9) });
    await expect(bot.api.sendMessage(42, 'x')).rejects.toMatchObject({
      ...{ error_code: 429, parameters: { retry_after: 9 } },
    });
    telegram.moved.set('-9', '-1009');
    await expect(bot.api.sendMessage(-9, 'x')).rejects.toMatchObject({
      ...{ error_code: 400, parameters: { migrate_to_chat_id: -1009 } },
    });
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
    // What its library takes for a limit it keeps to by itself; ours tells of it.
    const strict = new REST({ api: discord.url, version: '10', rejectOnRateLimit: () => true });
    strict.setToken(discord.token);
    discord.refusals.push({ ends: '/messages', ...discordLimit(1.5) });
    await expect(strict.post('/channels/9/messages', { body: { content: 'x' } })).rejects.toMatchObject({
      ...{ name: expect.stringContaining('RateLimitError'), retryAfter: expect.any(Number), global: false },
    });
    await expect(new REST({ api: discord.url }).setToken('wrong').get('/gateway/bot')).rejects.toMatchObject({
      status: 401,
    });
  });

  it('Discord: its library opens, puts into threads, and answers what was asked', async () => {
    const discord = await using(openDiscord());
    const rest = new REST({ api: discord.url, version: '10' }).setToken(discord.token);
    const body = (value: object) => ({ body: value });
    const direct = await rest.post(Routes.userChannels(), body({ recipient_id: '81' }));
    expect(direct).toMatchObject({ id: 'dm-81', type: ChannelType.DM });
    const nonce = { nonce: 'n1', enforce_nonce: true };
    const send = () => rest.post(Routes.channelMessages('9'), body({ content: 'Once', ...nonce }));
    const first = (await send()) as { id: string };
    expect(await send()).toMatchObject({ id: first.id, channel_id: '9' });
    const thread = await rest.post(Routes.threads('9', first.id), body({ name: 'Goal' }));
    expect(thread).toMatchObject({ id: first.id, name: 'Goal', type: ChannelType.PublicThread });
    await expect(rest.post(Routes.threads('9', first.id), body({ name: 'Goal' }))).rejects.toMatchObject({
      ...{ status: 400, code: RESTJSONErrorCodes.ThreadAlreadyCreatedForMessage },
    });
    await expect(rest.patch(Routes.channelMessage('9', '7'), body({ content: 'x' }))).rejects.toMatchObject({
      ...{ status: 404, code: RESTJSONErrorCodes.UnknownMessage },
    });
    discord.locked.push('77');
    await expect(rest.post(Routes.channelMessages('77'), body({ content: 'x' }))).rejects.toMatchObject({
      ...{ status: 400, code: RESTJSONErrorCodes.InvalidActionOnArchivedThread },
    });
    const command = await rest.post(Routes.applicationCommands('4711'), body(COMMAND));
    expect(command).toMatchObject({ name: 'pulse', application_id: '4711' });
    const reply = { type: InteractionResponseType.ChannelMessageWithSource, data: { content: 'Done.' } };
    await rest.post(Routes.interactionCallback('int-1', 'token-int-1'), { ...body(reply), auth: false });
    await rest.patch(Routes.webhookMessage('4711', 'token-int-1', '@original'), {
      ...{ ...body({ content: 'Later.' }), auth: false },
    });
    expect(discord.replies.get('int-1')).toMatchObject([
      { type: 4, data: { content: 'Done.' } },
      { type: 4, data: { content: 'Later.' } },
    ]);
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
    service.refusals.push({ status: 429, retryAfter: 9 });
    await expect(client.messages.create({ to: '+42', from: TWILIO.from, body: 'x' })).rejects.toMatchObject({
      status: 429,
      code: 20_429,
    });
    await expect(
      twilio(TWILIO.accountSid, 'wrong', { httpClient: { request } as never }).messages.list({ limit: 1 }),
    ).rejects.toMatchObject({ status: 401, code: 20_003 });
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

  it('Slack: its library tells, changes, whispers and opens windows', async () => {
    const slack = await using(openSlack());
    const options = {
      slackApiUrl: `${slack.url}/`,
      rejectRateLimitedCalls: true,
      retryConfig: { retries: 0 },
    };
    const web = new WebClient(slack.tokens.bot, options);
    const blocks = [{ type: 'section' as const, text: { type: 'plain_text' as const, text: 'Hello' } }];
    const { ts } = await web.chat.postMessage({ channel: 'C9', text: 'Hello', blocks });
    await web.apiCall('chat.update', { channel: 'C9', ts, text: 'Edited', blocks });
    expect(slack.sent).toMatchObject([{ ts, channel: 'C9', text: 'Edited', blocks }]);
    await web.apiCall('chat.postEphemeral', { channel: 'C9', user: 'U1', text: 'For you.' });
    expect(slack.whispers).toMatchObject([{ user: 'U1', text: 'For you.' }]);
    const title = { type: 'plain_text', text: 'Pulse' };
    const view = { type: 'modal', callback_id: 'a1', private_metadata: 'C9', title, blocks: [] };
    await web.apiCall('views.open', { trigger_id: 't-1', view });
    expect(slack.views).toMatchObject([{ callback_id: 'a1', private_metadata: 'C9' }]);
    slack.deleted.push(String(ts));
    const refused = (error: string) => ({ code: 'slack_webapi_platform_error', data: { ok: false, error } });
    await expect(
      web.apiCall('chat.postMessage', { channel: 'C9', text: 'x', thread_ts: ts }),
    ).rejects.toMatchObject(refused('thread_not_found'));
    await expect(web.apiCall('chat.update', { channel: 'C9', ts: '1.1', text: 'x' })).rejects.toMatchObject(
      refused('message_not_found'),
    );
    await expect(
      new WebClient('wrong', options).apiCall('chat.postMessage', { channel: 'C9', text: 'x' }),
    ).rejects.toMatchObject(refused('invalid_auth'));
    slack.refusals.push(slackLimit(9));
    await expect(web.apiCall('chat.postMessage', { channel: 'C9', text: 'x' })).rejects.toMatchObject({
      code: 'slack_webapi_rate_limited_error',
      retryAfter: 9,
    });
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
