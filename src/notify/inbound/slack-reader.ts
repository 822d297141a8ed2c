/** Reads for a Slack app, over Socket Mode: no public address is needed. */
import { callSlack, wordsOf } from '../channels/slack.ts';
import type { Incoming, Reply } from './answer.ts';
import type { ChatMeans, SettingsOf } from './chats.ts';
import { type Held, nameOf, notDone, patientReplies, type Reader, replyTo, rest } from './reader.ts';
import { readEnvelope, type SlackHeard } from './slack.ts';
import { reconnectMs, type ServiceSocket, talk } from './socket.ts';
import { aheadMs } from './written.ts';

type Bot = Held<SettingsOf['slack']>;

const GOOD_MS = 60_000;
const HOPELESS_MS = 10 * 60_000;
const HELLO_MS = 10_000;
/** For who tells of no pings. */
const SILENCE_MS = 30 * 60_000;
/** It pings twice a minute at least. */
const PING_MS = 90_000;
/** Who presses or commands sees an error after three seconds. */
const ACKNOWLEDGE_MS = 2_500;
const WRONG = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'not_allowed_token_type'];

export const slackReader: Reader<'slack'> = {
  channel: 'slack',
  needs: ({ appTokenEnv, botTokenEnv }) => [appTokenEnv, botTokenEnv],
  async read(means, held) {
    let failures = 0;
    const working: Working = new Map();
    const patiently = patientReplies(means, held.signal);
    while (!held.signal.aborted) {
      const beganMs = Date.now();
      const found = await openConnection(held).catch((error: Error) => ({ error: nameOf(error), waitMs: 0 }));
      if ('error' in found) {
        held.say(found.error);
        await rest(Math.max(reconnectMs(++failures), found.waitMs), held.signal);
        continue;
      }
      const { url, ahead } = found;
      const { hasSpoken } = await talk({
        ...{ url, signal: held.signal, helloMs: HELLO_MS, silenceMs: SILENCE_MS, pingMs: PING_MS },
        isHello: ({ type }) => type === 'hello',
        onMessage: (envelope, socket) =>
          void hear(means, held, { envelope, socket, ahead, working, patiently }).catch((error: Error) =>
            held.say(nameOf(error)),
          ),
      });
      if (hasSpoken) held.say('');
      failures = hasSpoken && Date.now() - beganMs >= GOOD_MS ? 0 : failures + 1;
      await rest(reconnectMs(failures), held.signal);
    }
  },
};

async function openConnection(
  bot: Bot,
): Promise<{ url: string; ahead: number } | { error: string; waitMs: number }> {
  const answer = await callSlack(bot, 'apps.connections.open', {});
  const { json, status } = answer;
  const { ok, url, error } = json;
  if (ok === true && typeof url === 'string' && /^wss?:\/\//.test(url))
    return { url, ahead: aheadMs(answer) };
  const said = typeof error === 'string' ? error.slice(0, 100) : `HTTP ${status}`;
  return { error: said, waitMs: WRONG.includes(said) ? HOPELESS_MS : 0 };
}

/** By the service's name of the message: one that is brought again while it is dealt with is not dealt with twice. */
type Working = Map<string, Promise<Reply | null>>;

interface Envelope {
  envelope: Record<string, unknown>;
  socket: ServiceSocket;
  /** Of Slack's clock. */
  ahead: number;
  working: Working;
  patiently: ReturnType<typeof patientReplies>;
}

/** Acknowledged is only what was done: all else Slack brings again, or shows its sender as failed. */
async function hear(means: ChatMeans, bot: Bot, envelopeOf: Envelope) {
  const { envelope, socket, ahead, working, patiently } = envelopeOf;
  if (envelope.type === 'disconnect') return socket.close();
  const { envelope_id: envelopeId } = envelope;
  if (typeof envelopeId !== 'string') return;
  const acknowledge = (): void => socket.send({ envelope_id: envelopeId });
  const heard = readEnvelope(envelope);
  if (!heard) return acknowledge();
  const { writtenMs = null } = heard.message;
  const message: Incoming = {
    ...{ ...heard.message, accountId: bot.accountId, allow: bot.settings.allow },
    writtenMs: writtenMs === null ? null : writtenMs - ahead,
  };
  if (envelope.type !== 'events_api') return hearWaiting(means, bot, { heard, message, acknowledge });
  const known = working.get(message.id);
  const dealing = known ?? patiently(message);
  if (!known) working.set(message.id, dealing);
  const reply = await dealing.finally(() => working.delete(message.id));
  acknowledge();
  if (reply && !known) await respond(bot, heard, reply);
}

interface Awaited {
  heard: SlackHeard;
  message: Incoming;
  acknowledge(): void;
}

/** A press, a window or a command: it is never brought again, and its sender waits. */
async function hearWaiting(means: ChatMeans, bot: Bot, { heard, message, acknowledge }: Awaited) {
  const replying = replyTo(means, message);
  const tell = async (reply: Reply | null) => void (reply && (await respond(bot, heard, reply)));
  try {
    await Promise.race([replying, rest(ACKNOWLEDGE_MS, bot.signal)]);
    acknowledge();
    await tell(await replying);
  } catch (error) {
    await tell(notDone(message, error as Error));
    throw error;
  }
}

async function respond(bot: Bot, { message, trigger, thread }: SlackHeard, reply: Reply): Promise<void> {
  const { chat: channel, sender: user } = message;
  if (reply.ask && trigger !== null) {
    await callSlack(bot, 'views.open', { trigger_id: trigger, view: viewOf(reply.ask, channel) });
    return;
  }
  const words = wordsOf({ text: reply.text });
  if (thread === null) await callSlack(bot, 'chat.postEphemeral', { channel, user, ...words });
  else await callSlack(bot, 'chat.postMessage', { channel, ...words, thread_ts: thread });
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
