/** Reads for a Slack app, over Socket Mode: no public address is needed. */
import { callSlack, escapeSlack } from '../channels/slack.ts';
import type { Reply } from './answer.ts';
import type { ChatMeans, SettingsOf } from './chats.ts';
import { type Held, nameOf, type Reader, replyTo, rest } from './reader.ts';
import { readEnvelope, type SlackHeard } from './slack.ts';
import { reconnectMs, type ServiceSocket, talk } from './socket.ts';

type Bot = Held<SettingsOf['slack']>;

const GOOD_MS = 60_000;
const HOPELESS_MS = 10 * 60_000;
/** It pings more often than that, which nobody sees here; then the connection is opened again. */
const SILENCE_MS = 30 * 60_000;
/** What is not acknowledged within three seconds is brought again. */
const ACKNOWLEDGE_MS = 2_500;
const WRONG = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'not_allowed_token_type'];

export const slackReader: Reader<'slack'> = {
  channel: 'slack',
  needs: ({ appTokenEnv, botTokenEnv }) => [appTokenEnv, botTokenEnv],
  async read(means, held) {
    let failures = 0;
    while (!held.signal.aborted) {
      const beganMs = Date.now();
      const url = await openConnection(held).catch((error: Error) => ({ error: nameOf(error), waitMs: 0 }));
      if (typeof url !== 'string') {
        held.say(url.error);
        await rest(Math.max(reconnectMs(++failures), url.waitMs), held.signal);
        continue;
      }
      const { hasSpoken } = await talk({
        ...{ url, signal: held.signal, silenceMs: SILENCE_MS },
        onMessage: (envelope, socket) =>
          void hear(means, held, { envelope, socket }).catch((error: Error) => held.say(nameOf(error))),
      });
      if (hasSpoken) held.say('');
      failures = hasSpoken && Date.now() - beganMs >= GOOD_MS ? 0 : failures + 1;
      await rest(reconnectMs(failures), held.signal);
    }
  },
};

async function openConnection(bot: Bot): Promise<string | { error: string; waitMs: number }> {
  const { json, status } = await callSlack(bot, 'apps.connections.open', {});
  const { ok, url, error } = json;
  if (ok === true && typeof url === 'string' && /^wss?:\/\//.test(url)) return url;
  const said = typeof error === 'string' ? error.slice(0, 100) : `HTTP ${status}`;
  return { error: said, waitMs: WRONG.includes(said) ? HOPELESS_MS : 0 };
}

async function hear(
  means: ChatMeans,
  bot: Bot,
  { envelope, socket }: { envelope: Record<string, unknown>; socket: ServiceSocket },
): Promise<void> {
  if (envelope.type === 'disconnect') return socket.close();
  const { envelope_id: envelopeId } = envelope;
  if (typeof envelopeId !== 'string') return;
  const heard = readEnvelope(envelope);
  const { accountId, settings } = bot;
  const replying = heard && replyTo(means, { ...heard.message, accountId, allow: settings.allow });
  // After the effect, so that a process that dies before it is told again; but before the service loses patience.
  await Promise.race([replying, rest(ACKNOWLEDGE_MS, bot.signal)]).finally(() =>
    socket.send({ envelope_id: envelopeId }),
  );
  const reply = await replying;
  if (heard && reply) await respond(bot, heard, reply);
}

async function respond(bot: Bot, { message, trigger, thread }: SlackHeard, reply: Reply): Promise<void> {
  const { chat: channel, sender: user } = message;
  if (reply.ask && trigger !== null) {
    await callSlack(bot, 'views.open', { trigger_id: trigger, view: viewOf(reply.ask, channel) });
    return;
  }
  const text = escapeSlack(reply.text);
  if (thread === null) await callSlack(bot, 'chat.postEphemeral', { channel, user, text });
  else await callSlack(bot, 'chat.postMessage', { channel, text, thread_ts: thread });
}

/** A window that asks for words. */
function viewOf({ action, title }: NonNullable<Reply['ask']>, channel: string): object {
  const plain = (text: string) => ({ type: 'plain_text', text });
  return {
    ...{ type: 'modal', callback_id: action, private_metadata: channel, title: plain('Pulse') },
    ...{ submit: plain('Send'), close: plain('Cancel') },
    blocks: [
      {
        ...{ type: 'input', block_id: 'text', label: plain(title) },
        element: { type: 'plain_text_input', action_id: 'text', multiline: true, max_length: 3_000 },
      },
    ],
  };
}
