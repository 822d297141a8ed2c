import type * as z from 'zod';
import { cut } from '../../domain/cut.ts';
import type { telegramSchema } from '../../domain/notify.ts';
import { rowsOf } from '../buttons.ts';
import type { Outcome, Sender, Sending } from './channel.ts';
import { type Answer, ask, failureOf, isSuccess, outcomeOf } from './request.ts';

const MOST_CHARACTERS = 4_096;
const MOST_TOPIC = 128;

type Settings = z.infer<typeof telegramSchema>;

/** Without a topic, the messages of a session reply to its first. */
const REPLY = 'reply:';
const TOPIC = 'topic:';

export const telegram: Sender<Settings> = {
  needs: ({ tokenEnv }) => [tokenEnv],
  isTwoWay: true,
  async send(sending, { settings, secret, signal }) {
    const { destination } = sending;
    let chat = destination;
    const callAt = (chat_id: string, method: string, body: object) =>
      callTelegram({ settings, secret, signal }, method, { chat_id, ...body });
    if (sending.edits !== undefined) {
      const body = { message_id: Number(sending.edits), ...wordsOf(sending) };
      return { ...sentOr(await callAt(chat, 'editMessageText', body), null), thread: null };
    }
    let thread = sending.thread ?? null;
    const call: Call = async (method, body) => {
      const answer = await callAt(chat, method, body);
      const moved = movedTo(answer);
      if (moved === null) return answer;
      [chat, thread] = [moved, null];
      return callAt(chat, method, { ...body, ...NOWHERE });
    };
    if (thread === null && sending.opensThread) {
      const opened = await openTopic(call, sending);
      if (typeof opened !== 'string' && opened !== null) return opened;
      thread = opened;
    }
    const post = (place: string | null) =>
      call('sendMessage', {
        ...{ ...wordsOf(sending), ...placeIn(place) },
        disable_notification: sending.weight === 'news',
      });
    const moved = () => (chat === destination ? {} : { movedTo: chat });
    try {
      const answer = await post(thread);
      const outcome = isWithoutTopic(answer, thread)
        ? sentOr(await post(null), null)
        : sentOr(answer, thread);
      return { ...outcome, ...moved() };
    } catch (error) {
      // A topic that was made just now is not made again.
      return { kind: 'later', error: failureOf(error), thread, ...moved() };
    }
  },
};

/** A group that has become a supergroup has another name, and none of its messages is known there. */
function movedTo({ status, json }: Answer): string | null {
  const { migrate_to_chat_id: id } = (json.parameters ?? {}) as { migrate_to_chat_id?: unknown };
  return status === 400 && (typeof id === 'number' || typeof id === 'string') ? String(id) : null;
}

/** In place of a topic or of what is replied to. */
const NOWHERE = { message_thread_id: undefined, reply_parameters: undefined };

type Call = (method: string, body: object) => Promise<Answer>;

function wordsOf({ text, buttons = [] }: Sending): object {
  const keyboard = rowsOf(buttons).map((row) =>
    row.map(({ id, label }) => ({ text: label, callback_data: id })),
  );
  return {
    text: cut(text, MOST_CHARACTERS),
    link_preview_options: { is_disabled: true },
    ...(keyboard.length > 0 ? { reply_markup: { inline_keyboard: keyboard } } : {}),
  };
}

function placeIn(thread: string | null): object {
  if (thread?.startsWith(TOPIC)) return { message_thread_id: Number(thread.slice(TOPIC.length)) };
  if (!thread?.startsWith(REPLY)) return {};
  const message_id = Number(thread.slice(REPLY.length));
  return { reply_parameters: { message_id, allow_sending_without_reply: true } };
}

/** `null`: the chat has none, or the bot may not; the messages come all the same. What may pass is waited for. */
async function openTopic(call: Call, { title = 'Pulse' }: Sending): Promise<string | Outcome | null> {
  const answer = await call('createForumTopic', { name: cut(title.trim() || 'Pulse', MOST_TOPIC) });
  const { message_thread_id: id } = (answer.json.result ?? {}) as { message_thread_id?: unknown };
  if (typeof id === 'number') return `${TOPIC}${id}`;
  const outcome = isSuccess(answer) ? null : refusalOf(answer);
  return outcome?.kind === 'later' ? outcome : null;
}

/** The topic was deleted, or is closed for everybody. */
function isWithoutTopic({ status, json }: Answer, thread: string | null): boolean {
  if (!thread?.startsWith(TOPIC) || status !== 400) return false;
  return /thread not found|TOPIC_(?:CLOSED|DELETED|ID_INVALID)/i.test(String(json.description));
}

function sentOr(answer: Answer, thread: string | null): Outcome {
  const { json } = answer;
  if (isSuccess(answer) && json.ok === true) {
    const { message_id: id } = (json.result ?? {}) as { message_id?: unknown };
    const providerId = id === undefined ? null : String(id);
    return { kind: 'sent', providerId, thread: thread ?? (providerId && `${REPLY}${providerId}`) };
  }
  return { ...refusalOf(answer), thread };
}

/** It says in the body how long to wait. */
function refusalOf(answer: Answer): Outcome {
  const { json } = answer;
  const parameters = (json.parameters ?? {}) as { retry_after?: unknown };
  return outcomeOf({ ...answer, json: { retry_after: parameters.retry_after } }, json.description);
}

/** Rejects when there is no answer; the error may hold the address, and with it the secret. */
export function callTelegram(
  { settings, secret, signal }: { settings: Settings; secret(name: string): string; signal: AbortSignal },
  method: string,
  body: object,
  more: { answerMs?: number; mostBytes?: number } = {},
): Promise<Answer> {
  const base = (settings.apiUrl ?? 'https://api.telegram.org').replace(/\/$/, '');
  return ask({
    url: `${base}/bot${secret(settings.tokenEnv)}/${method}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
    ...more,
  });
}
