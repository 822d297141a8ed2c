/** Reads for a Discord bot, over the gateway. */
import * as z from 'zod';
import { callDiscord, type DiscordMeans } from '../channels/discord.ts';
import { isSuccess } from '../channels/request.ts';
import type { Reply } from './answer.ts';
import type { ChatMeans, SettingsOf } from './chats.ts';
import { COMMAND, EPHEMERAL, interactionReply, readInteraction, readPost, replyWords } from './discord.ts';
import { connectGateway, type GatewaySession } from './discord-gateway.ts';
import { type Held, nameOf, notDone, patientReplies, type Reader, replyTo, rest } from './reader.ts';
import { reconnectMs } from './socket.ts';
import { aheadMs } from './written.ts';

/** What has worked for so long is tried again at once. */
const GOOD_MS = 60_000;
/** What the service has refused for good: a person has to change something. */
const HOPELESS_MS = 10 * 60_000;
/** Discord waits three seconds for an answer. */
export const DEFER_MS = 1_500;

export const discordReader: Reader<'discord'> = {
  channel: 'discord',
  needs: ({ tokenEnv }) => [tokenEnv],
  async read(means, held) {
    const place = keepPlace(held);
    let session = place.first;
    let failures = 0;
    const patiently = patientReplies(means, held.signal);
    // Words in a thread answer its session, and need not name the bot.
    let readsAll = held.settings.threads === true;
    while (!held.signal.aborted) {
      const beganMs = Date.now();
      const found = await findGateway(held).catch((error: Error) => ({ error: nameOf(error), waitMs: 0 }));
      if ('error' in found) {
        held.say(found.error);
        await rest(Math.max(reconnectMs(++failures), found.waitMs ?? 0), held.signal);
        continue;
      }
      const { url, ahead } = found;
      const end = await connectGateway({
        ...{ url, session, readsAll, signal: held.signal, token: held.secret(held.settings.tokenEnv) },
        onMoved: place.reach,
        onEvent: (type, data) =>
          void place.after(hear(means, held, { type, data, ahead, patiently }).catch(sayTo(held))),
      });
      session = end.session;
      if (end.mayNotReadAll) {
        readsAll = false;
        held.say(MAY_NOT_READ_ALL);
        continue;
      }
      if (end.fatal) held.say(end.fatal);
      else if (end.wasReady) held.say('');
      failures = end.wasReady && Date.now() - beganMs >= GOOD_MS ? 0 : failures + 1;
      await rest(end.fatal ? HOPELESS_MS : reconnectMs(failures), held.signal);
    }
    await place.settle();
  },
};

const sessionSchema = z.object({ id: z.string(), url: z.url({ protocol: /^wss?$/ }), seq: z.int() });
/** In a busy server much is told that is not for Pulse. */
const KEEP_EVERY_MS = 1_000;

interface Place {
  /** Where the process before has stopped. */
  first: GatewaySession | null;
  reach(session: GatewaySession): void;
  after(dealing: Promise<void>): Promise<void>;
  /** Nothing is written any longer. */
  settle(): Promise<void>;
}

/**
 * The next process takes the connection up where all has been dealt with: what is told once more has its effect once, and
 * what was told while nobody was there is not missed.
 */
function keepPlace(bot: Bot): Place {
  let reached: GatewaySession | null = null;
  let dealing = 0;
  let keeping: Promise<void> | null = null;
  const keep = async (): Promise<void> => {
    // What is called off now is not done: the next process is told of it.
    while (reached !== null && dealing === 0 && !bot.signal.aborted) {
      const position = JSON.stringify(reached);
      reached = null;
      await bot.move(position).catch(sayTo(bot));
      await rest(KEEP_EVERY_MS, bot.signal);
    }
    keeping = null;
  };
  return {
    first: readSession(bot.position),
    reach(session) {
      reached = session;
    },
    async after(one) {
      dealing += 1;
      await one;
      dealing -= 1;
      if (dealing === 0) keeping ??= keep();
    },
    async settle() {
      await keeping;
    },
  };
}

function readSession(position: string | null): GatewaySession | null {
  try {
    return sessionSchema.safeParse(JSON.parse(position ?? 'null')).data ?? null;
  } catch {
    return null;
  }
}

const MAY_NOT_READ_ALL = [
  'the Message Content Intent is not switched on for the bot (developer portal, Bot, Privileged Gateway Intents);',
  'until then it reads in threads what replies to it or names it',
].join(' ');

type Bot = Held<SettingsOf['discord']>;

const gatewaySchema = z.object({
  url: z.url({ protocol: /^wss?$/ }),
  session_start_limit: z.object({ remaining: z.int(), reset_after: z.number() }).optional(),
});

async function findGateway(
  bot: Bot,
): Promise<{ url: string; ahead: number } | { error: string; waitMs?: number }> {
  const answer = await callDiscord(bot, { method: 'GET', path: 'gateway/bot' });
  const known = gatewaySchema.safeParse(answer.json);
  if (answer.status === 401) return { error: 'the token is not valid', waitMs: HOPELESS_MS };
  if (!isSuccess(answer) || !known.success) return { error: `no gateway (HTTP ${answer.status})` };
  const { url, session_start_limit: limit } = known.data;
  if (limit && limit.remaining <= 0)
    return { error: 'it was connected too often today', waitMs: limit.reset_after };
  return { url, ahead: aheadMs(answer) };
}

interface Heard {
  type: string;
  data: unknown;
  /** Of Discord's clock. */
  ahead: number;
  patiently: ReturnType<typeof patientReplies>;
}

async function hear(means: ChatMeans, bot: Bot, { type, data, ahead, patiently }: Heard): Promise<void> {
  const { accountId, settings } = bot;
  const { allow } = settings;
  if (type === 'READY') return offerCommands(bot, data);
  if (type === 'MESSAGE_CREATE') {
    const post = readPost(data);
    if (!post) return;
    const message = { ...byOurClock(post, ahead), accountId, allow };
    const reply = await patiently(message);
    if (!reply) return;
    const path = `channels/${encodeURIComponent(post.chat)}/messages`;
    const message_reference = { message_id: post.id, fail_if_not_exists: false };
    const body = { ...replyWords(reply), message_reference };
    await callDiscord(bot, { method: 'POST', path, body });
  }
  if (type !== 'INTERACTION_CREATE') return;
  const heard = readInteraction(data);
  if (heard.kind !== 'message') return;
  const message = { ...byOurClock(heard.message, ahead), accountId, allow };
  // It is not brought again, and its sender waits: they are told.
  const replying = replyTo(means, message).catch((error: Error) => {
    bot.say(nameOf(error));
    return notDone(message, error);
  });
  await respond(bot, heard, replying);
}

function byOurClock<M extends { writtenMs?: number | null }>(message: M, ahead: number): M {
  const { writtenMs = null } = message;
  return { ...message, writtenMs: writtenMs === null ? null : writtenMs - ahead };
}

/** A stranger is met with silence; who waits longer than the service does is told so first. */
async function respond(
  bot: DiscordMeans,
  { id, token, application }: { id: string; token: string; application: string },
  replying: Promise<Reply | null>,
): Promise<void> {
  const waited = rest(DEFER_MS, bot.signal).then(() => 'slow' as const);
  const first = await Promise.race([replying, waited]);
  const callback = `interactions/${encodeURIComponent(id)}/${encodeURIComponent(token)}/callback`;
  if (first !== 'slow') {
    if (first) await callDiscord(bot, { method: 'POST', path: callback, body: interactionReply(first) });
    return;
  }
  await callDiscord(bot, { method: 'POST', path: callback, body: { type: 5, data: { flags: EPHEMERAL } } });
  await finishReply(bot, { token, application }, await replying);
}

/** Replaces "is thinking". */
export async function finishReply(
  bot: DiscordMeans,
  { token, application }: { token: string; application: string },
  reply: Reply | null,
): Promise<void> {
  const path = `webhooks/${encodeURIComponent(application)}/${encodeURIComponent(token)}/messages/@original`;
  await callDiscord(bot, { method: 'PATCH', path, body: replyWords(reply) });
}

/** So that Discord offers `/pulse`. Saying it again changes nothing. */
async function offerCommands(bot: Bot, ready: unknown): Promise<void> {
  const { application } = (ready ?? {}) as { application?: { id?: unknown } };
  const id = bot.settings.applicationId ?? application?.id;
  if (typeof id !== 'string') return;
  const path = `applications/${encodeURIComponent(id)}/commands`;
  const answer = await callDiscord(bot, { method: 'POST', path, body: COMMAND });
  if (!isSuccess(answer)) bot.say(`it does not take the command /pulse (HTTP ${answer.status})`);
}

function sayTo(bot: Bot): (error: Error) => void {
  return (error) => bot.say(nameOf(error));
}
