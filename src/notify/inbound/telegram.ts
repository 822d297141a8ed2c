/** Reads what people write to a Telegram bot, by long polling: no public address is needed. */
import * as z from 'zod';
import type { telegramSchema } from '../../domain/notify.ts';
import { isSuccess } from '../channels/request.ts';
import { callTelegram } from '../channels/telegram.ts';
import type { Incoming, Reply } from './answer.ts';
import { readWords } from './words.ts';
import { aheadMs } from './written.ts';

type Settings = z.infer<typeof telegramSchema>;

/** How long the service keeps a question open while nobody writes. */
const POLL_SECONDS = 25;
/** So many at once, that even the longest fit: what is too long to be read would be brought for ever. */
const MOST_UPDATES = 50;
const POLL_BYTES = 8 * 1024 * 1024;

const id = z.union([z.int(), z.string()]).transform(String);
const place = {
  message_id: id,
  chat: z.object({ id, type: z.string().optional() }),
  message_thread_id: id.optional(),
  is_topic_message: z.boolean().optional(),
};
const updateSchema = z.object({
  update_id: z.int(),
  message: z
    .object({
      ...place,
      from: z.object({ id }).optional(),
      text: z.string().optional(),
      date: z.int().optional(),
      reply_to_message: z.object({ message_id: id }).optional(),
    })
    .optional(),
  callback_query: z
    .object({
      id: z.string(),
      from: z.object({ id }),
      data: z.string().max(64).optional(),
      message: z.object(place).optional(),
    })
    .optional(),
});

export interface TelegramBot {
  settings: Settings;
  secret(name: string): string;
  signal: AbortSignal;
}

/** What the answer needs to know of what was written. */
export interface TelegramPlace {
  chat: string;
  topic: string | null;
  /** Of a press: it is shown as taken. */
  query: string | null;
  message: string;
}

export interface TelegramUpdate {
  id: number;
  message: Omit<Incoming, 'accountId' | 'allow'> | null;
  place: TelegramPlace | null;
}

/** `waitMs`: it cannot be read now, and should not be asked again sooner. */
export async function readUpdates(
  bot: TelegramBot,
  position: string | null,
): Promise<{ updates: TelegramUpdate[] } | { error: string; waitMs: number }> {
  const answer = await callTelegram(
    bot,
    'getUpdates',
    {
      timeout: POLL_SECONDS,
      limit: MOST_UPDATES,
      allowed_updates: ['message', 'callback_query'],
      ...(position === null ? {} : { offset: Number(position) }),
    },
    { answerMs: (POLL_SECONDS + 15) * 1000, mostBytes: POLL_BYTES },
  );
  const { json } = answer;
  if (!isSuccess(answer) || !Array.isArray(json.result)) {
    const { description = `HTTP ${answer.status}` } = json;
    const parameters = (json.parameters ?? {}) as { retry_after?: unknown };
    const asked = Number(parameters.retry_after ?? Number.NaN) * 1000;
    return { error: String(description).slice(0, 300), waitMs: asked > 0 ? asked : waitAfter(answer.status) };
  }
  const ahead = aheadMs(answer);
  return { updates: json.result.flatMap((entry: unknown) => read(entry, ahead)) };
}

/** A wrong token, or another program that reads for the bot, is not mended by asking often. */
function waitAfter(status: number): number {
  return status === 401 || status === 404 || status === 409 ? 30_000 : 5_000;
}

function read(entry: unknown, ahead: number): TelegramUpdate[] {
  const known = updateSchema.safeParse(entry);
  if (!known.success) {
    const number = (entry as { update_id?: unknown } | null)?.update_id;
    return typeof number === 'number' ? [{ id: number, message: null, place: null }] : [];
  }
  const { update_id: number, message, callback_query: query } = known.data;
  const nothing = [{ id: number, message: null, place: null }];
  if (query?.message && query.data !== undefined) {
    const command = { do: 'press' as const, action: query.data, text: null };
    return [entryOf(number, { ...query.message, sender: query.from.id, query: query.id }, command)];
  }
  if (!message?.from || message.text === undefined) return nothing;
  const { from, reply_to_message: replied, text, date } = message;
  const writtenMs = date === undefined ? null : date * 1000 - ahead;
  const command = readWords(text, { needsSlash: true });
  return [
    entryOf(number, { ...message, sender: from.id, repliesTo: replied?.message_id, writtenMs }, command),
  ];
}

interface Written {
  message_id: string;
  chat: { id: string; type?: string | undefined };
  message_thread_id?: string | undefined;
  is_topic_message?: boolean | undefined;
  sender: string;
  query?: string;
  repliesTo?: string | undefined;
  writtenMs?: number | null;
}

function entryOf(number: number, written: Written, command: Incoming['command']): TelegramUpdate {
  const { chat, sender, query = null, repliesTo = null, writtenMs = null } = written;
  // In a group without topics it names the first of a chain of replies, where nothing can be sent to.
  const topic = (written.is_topic_message && written.message_thread_id) || null;
  return {
    id: number,
    message: {
      ...{ channel: 'telegram' as const, id: String(number), sender, chat: chat.id, command, repliesTo },
      thread: topic === null ? null : `topic:${topic}`,
      isPublic: chat.type !== undefined && chat.type !== 'private',
      writtenMs,
      hasPrompts: true,
    },
    place: { chat: chat.id, topic, query, message: written.message_id },
  };
}

/** What fits into the note that a press brings up. */
const MOST_NOTE = 200;

/** Returns the service's name of the message that asks for words, where one does. */
export async function sendReply(
  bot: TelegramBot,
  { place: { chat, topic, query, message }, reply }: { place: TelegramPlace; reply: Reply },
): Promise<string | null> {
  const isNote = query !== null && !reply.ask && !reply.isLasting && reply.text.length <= MOST_NOTE;
  if (query !== null)
    await callTelegram(bot, 'answerCallbackQuery', {
      callback_query_id: query,
      ...(isNote ? { text: reply.text } : {}),
    });
  if (isNote) return null;
  const { json } = await callTelegram(bot, 'sendMessage', {
    ...{ chat_id: chat, text: reply.text, link_preview_options: { is_disabled: true } },
    ...(topic === null ? {} : { message_thread_id: Number(topic) }),
    ...(reply.ask
      ? {
          reply_parameters: { message_id: Number(message), allow_sending_without_reply: true },
          reply_markup: { force_reply: true, selective: true },
        }
      : {}),
  });
  const { message_id: sent } = (json.result ?? {}) as { message_id?: unknown };
  return reply.ask && sent !== undefined ? String(sent) : null;
}
