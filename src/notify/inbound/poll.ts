/** Everybody who writes to Pulse without being brought to an address of ours. */
import { callTelegram } from '../channels/telegram.ts';
import type { ChatMeans } from './chats.ts';
import { discordReader } from './discord-reader.ts';
import { notePrompt } from './prompts.ts';
import { nameOf, type Reader, readChannel, replyTo, rest } from './reader.ts';
import { slackReader } from './slack-reader.ts';
import { readUpdates, sendReply, type TelegramBot, type TelegramUpdate } from './telegram.ts';
import { smsReader } from './text-messages.ts';
import { OFFERED } from './words.ts';

/** Until the signal aborts. */
export async function pollChats(means: ChatMeans, signal: AbortSignal): Promise<void> {
  await Promise.all([
    readChannel(means, telegramReader, { signal }),
    readChannel(means, discordReader, { signal }),
    readChannel(means, slackReader, { signal }),
    readChannel(means, smsReader, { signal, lookMs: 1_000 }),
  ]);
}

/** A service that answers at once, and with nothing new, is not asked without end. */
const PAUSE_MS = 500;

export const telegramReader: Reader<'telegram'> = {
  channel: 'telegram',
  needs: ({ tokenEnv }) => [tokenEnv],
  async read(means, held) {
    const bot: TelegramBot = held;
    let { position } = held;
    // Its menu shows them. It is no loss where the service takes none.
    const offering = callTelegram(bot, 'setMyCommands', { commands: OFFERED }).catch(() => null);
    while (!held.signal.aborted) {
      const beganMs = Date.now();
      const found = await readUpdates(bot, position).catch((error: Error) => ({
        error: nameOf(error),
        waitMs: 5_000,
      }));
      if (held.signal.aborted) return;
      if ('error' in found) {
        held.say(found.error);
        await rest(found.waitMs, held.signal);
        continue;
      }
      held.say('');
      const asked = position;
      for (const update of found.updates) {
        await takeIn(means, { bot, accountId: held.accountId, update: ofBot(update, held.bot) });
        // After a week without a message the next one has any number, a lower one, too.
        position = String(update.id + 1);
        await held.move(position);
      }
      if (position === asked && Date.now() - beganMs < PAUSE_MS) await rest(PAUSE_MS, held.signal);
    }
    await offering;
  },
};

/** Each bot numbers what it is told by itself. */
function ofBot(update: TelegramUpdate, bot: string): TelegramUpdate {
  const { message } = update;
  return message ? { ...update, message: { ...message, id: `${bot}.${message.id}` } } : update;
}

interface Update {
  bot: TelegramBot;
  accountId: string;
  update: TelegramUpdate;
}

async function takeIn(means: ChatMeans, { bot, accountId, update }: Update): Promise<void> {
  const { message, place } = update;
  const { allow } = bot.settings;
  const reply = message && (await replyTo(means, { ...message, accountId, allow }));
  if (!reply || !place) return;
  // The effect stands, with or without the answer.
  const prompt = await sendReply(bot, { place, reply }).catch((error: Error) => {
    means.say(`telegram: ${nameOf(error)}`);
    return null;
  });
  const asked = reply.ask?.prompt;
  if (prompt !== null && asked !== undefined)
    await means.store.tx('chat_prompt', (db) => notePrompt(db, asked, prompt));
}
