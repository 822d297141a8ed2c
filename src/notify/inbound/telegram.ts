/** Reads what people write to a Telegram bot, by long polling: no public address is needed. */
import * as z from 'zod';
import type { telegramSchema } from '../../domain/notify.ts';
import { ask, isSuccess } from '../channels/request.ts';
import type { Incoming } from './answer.ts';
import { readWords } from './words.ts';

type Settings = z.infer<typeof telegramSchema>;

/** How long the service keeps a question open while nobody writes. */
const POLL_SECONDS = 25;
const POLL_BYTES = 4 * 1024 * 1024;

const id = z.union([z.int(), z.string()]).transform(String);
const updateSchema = z.object({
  update_id: z.int(),
  message: z
    .object({
      from: z.object({ id }).optional(),
      chat: z.object({ id }),
      text: z.string().optional(),
      reply_to_message: z.object({ message_id: id }).optional(),
    })
    .optional(),
});

export interface TelegramBot {
  settings: Settings;
  secret(name: string): string;
  signal: AbortSignal;
}

export interface TelegramUpdates {
  updates: { id: number; message: Omit<Incoming, 'accountId' | 'allow'> | null }[];
}

/** `waitMs`: it cannot be read now, and should not be asked again sooner. */
export async function readUpdates(
  { settings, secret, signal }: TelegramBot,
  position: string | null,
): Promise<TelegramUpdates | { error: string; waitMs: number }> {
  const answer = await ask({
    url: methodUrl(settings, secret, 'getUpdates'),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      timeout: POLL_SECONDS,
      allowed_updates: ['message'],
      ...(position === null ? {} : { offset: Number(position) }),
    }),
    ...{ signal, answerMs: (POLL_SECONDS + 15) * 1000, mostBytes: POLL_BYTES },
  });
  const { json } = answer;
  if (!isSuccess(answer) || !Array.isArray(json.result)) {
    const { description = `HTTP ${answer.status}` } = json;
    const parameters = (json.parameters ?? {}) as { retry_after?: unknown };
    const asked = Number(parameters.retry_after ?? Number.NaN) * 1000;
    return { error: String(description).slice(0, 300), waitMs: asked > 0 ? asked : waitAfter(answer.status) };
  }
  return { updates: json.result.flatMap((entry: unknown) => read(entry)) };
}

/** A wrong token, or another program that reads for the bot, is not mended by asking often. */
function waitAfter(status: number): number {
  return status === 401 || status === 404 || status === 409 ? 30_000 : 5_000;
}

function read(entry: unknown): TelegramUpdates['updates'] {
  const known = updateSchema.safeParse(entry);
  if (!known.success) {
    const number = (entry as { update_id?: unknown } | null)?.update_id;
    return typeof number === 'number' ? [{ id: number, message: null }] : [];
  }
  const { update_id: number, message } = known.data;
  if (!message?.from || message.text === undefined) return [{ id: number, message: null }];
  const { from, chat, text, reply_to_message: replied } = message;
  return [
    {
      id: number,
      message: {
        ...{ channel: 'telegram' as const, id: String(number), sender: from.id, chat: chat.id },
        command: readWords(text, { needsSlash: true }),
        repliesTo: replied?.message_id ?? null,
      },
    },
  ];
}

export async function sendAnswer(
  { settings, secret, signal }: TelegramBot,
  { chat, text }: { chat: string; text: string },
): Promise<void> {
  await ask({
    url: methodUrl(settings, secret, 'sendMessage'),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chat_id: chat, text, link_preview_options: { is_disabled: true } }),
    signal,
  });
}

function methodUrl({ apiUrl, tokenEnv }: Settings, secret: TelegramBot['secret'], method: string): string {
  const base = (apiUrl ?? 'https://api.telegram.org').replace(/\/$/, '');
  return `${base}/bot${secret(tokenEnv)}/${method}`;
}
