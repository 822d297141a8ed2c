/** Reads for every bot whose secret this process has. One process at a time reads for a bot, by a lease. */
import { setTimeout as delay } from 'node:timers/promises';
import type * as z from 'zod';
import { isPulseError } from '../../domain/errors.ts';
import type { telegramSchema } from '../../domain/notify.ts';
import { answerMessage, type Incoming } from './answer.ts';
import { type ChatMeans, listAccounts } from './chats.ts';
import { leavePoller, movePoller, type Poller, takePoller } from './rows.ts';
import { readUpdates, sendAnswer, type TelegramBot, type TelegramUpdates } from './telegram.ts';

interface Bot {
  id: string;
  settings: z.infer<typeof telegramSchema>;
}

/** A session of another project may bring a bot of its own. */
const LOOK_EVERY_MS = 5_000;
/** A service that answers at once, and with nothing, is not asked without end. */
const PAUSE_MS = 500;

export async function pollChats(means: ChatMeans, signal: AbortSignal): Promise<void> {
  const polling = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    const bots = await listBots(means).catch(() => []);
    for (const bot of bots) {
      if (polling.has(bot.id)) continue;
      const running = pollBot(means, bot, signal)
        .catch((error: Error) => means.say(`telegram: ${error.message}`))
        .finally(() => polling.delete(bot.id));
      polling.set(bot.id, running);
    }
    await rest(LOOK_EVERY_MS, signal);
  }
  await Promise.all(polling.values());
}

async function listBots(means: ChatMeans): Promise<Bot[]> {
  const found = await listAccounts(means, 'telegram');
  return found.filter(({ settings }) => means.environment[settings.tokenEnv]);
}

async function pollBot(means: ChatMeans, { id, settings }: Bot, signal: AbortSignal): Promise<void> {
  const { store, environment, owner, isGone, say } = means;
  const bot: TelegramBot = { settings, secret: (name) => environment[name] ?? '', signal };
  const take = () => store.tx('chat_lease', (db) => takePoller(db, id, { owner, isGone }));
  let held = await take();
  let told = '';
  while (held !== null && !signal.aborted) {
    const beganMs = Date.now();
    const found = await readUpdates(bot, held.position).catch((error: Error) => ({
      error: describe(error),
      waitMs: 5_000,
    }));
    if (signal.aborted) break;
    if ('error' in found) {
      if (found.error !== told) say(`telegram: ${found.error}`);
      told = found.error;
      await rest(found.waitMs, signal);
    } else {
      told = '';
      for (const update of found.updates) await takeIn(means, { bot, id, held, update });
      if (found.updates.length === 0 && Date.now() - beganMs < PAUSE_MS) await rest(PAUSE_MS, signal);
    }
    held = await take();
  }
  if (held !== null) {
    const { token } = held;
    await store.tx('chat_lease', (db) => leavePoller(db, id, token));
  }
}

interface Update {
  bot: TelegramBot;
  id: string;
  held: Poller;
  update: TelegramUpdates['updates'][number];
}

async function takeIn(means: ChatMeans, { bot, id, held, update }: Update): Promise<void> {
  const { allow } = bot.settings;
  const { message } = update;
  const text = message && (await answerOrSay(means, { ...message, accountId: id, allow }));
  // The effect stands, with or without the answer.
  if (message && text)
    await sendAnswer(bot, { chat: message.chat, text }).catch((error: Error) =>
      means.say(`telegram: ${describe(error)}`),
    );
  const { token } = held;
  const position = String(update.id + 1);
  await means.store.tx('chat_read', (db) => movePoller(db, id, { token, position }));
}

/** A message that cannot be dealt with keeps none of the others waiting. */
async function answerOrSay(means: ChatMeans, message: Incoming): Promise<string | null> {
  try {
    return await answerMessage(means, message);
  } catch (error) {
    if (isPulseError(error)) throw error;
    means.say(`telegram: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return 'Something went wrong; what pulse serve prints says more.';
  }
}

/** The address of a bot holds its secret, and an error may hold the address. */
function describe({ name, cause }: Error): string {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string'
    ? `the service does not answer (${code})`
    : `the service does not answer (${name})`;
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
