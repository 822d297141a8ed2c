/** Telegram's bot API on loopback: long polling with offsets, buttons, topics, and what was sent to people. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface TelegramMessage {
  message_id: number;
  chat_id: string;
  text: string;
  /** Labels and data of its buttons. */
  buttons: { text: string; callback_data: string }[];
  /** As it was asked for. */
  asked: Record<string, unknown>;
}

export interface TelegramStandIn extends AsyncDisposable {
  url: string;
  /** What the bot said, in order; edited messages are as they are now. */
  sent: TelegramMessage[];
  /** What a press was answered with. */
  notes: { callback_query_id: string; text?: string }[];
  edits: number;
  topics: string[];
  /** The commands that its menu shows. */
  offered: { command: string; description: string }[];
  /** Somebody writes; returns the number of the update. */
  write(message: {
    from: number;
    /** Default: that of the two alone. */
    chat?: number;
    text: string;
    repliesTo?: number;
    topic?: number;
    agoMs?: number;
  }): number;
  /** Somebody presses; returns the number of the update. */
  press(press: { from: number; message: TelegramMessage; label: string }): number;
  /** Brings an update once more, as a service does that has not heard of it. */
  repeat(update: number): void;
  /** Another bot is there from now on: nobody has written to it. */
  restart(): void;
  /** Nobody has written for a week: the next update has any number, and those after it follow. */
  renumber(next: number): void;
  /** From which update on it was asked for them, each time. */
  offsets: number[];
  /** Answers to the calls to come, of a method each, before the usual one; without one: to polls. `hangs`: none ever. */
  refusals: TelegramRefusal[];
  /** Topics that somebody has deleted. */
  deleted: number[];
  /** Groups that have become supergroups, by their old ids. */
  moved: Map<string, string>;
  /** It has taken the next message, and its answer does not get through. */
  diesAfterTaking: boolean;
  /** It takes the next message with these words, and never answers. */
  holdsBack: string | null;
}

interface TelegramRefusal {
  status: number;
  description: string;
  method?: string;
  parameters?: { retry_after: number };
  hangs?: boolean;
}

type Body = Record<string, unknown>;

export const telegramLimit = (seconds: number) => ({
  ...{ status: 429, description: `Too Many Requests: retry after ${seconds}` },
  parameters: { retry_after: seconds },
});

const seconds = (agoMs = 0): number => Math.floor((Date.now() - agoMs) / 1000);

export async function openTelegram({ isForum = false } = {}): Promise<TelegramStandIn> {
  const updates: ({ update_id: number } & Body)[] = [];
  let waiting: { response: ServerResponse; offset: number }[] = [];
  let again: number | null = null;
  let next = 100;
  const answer = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const good = (response: ServerResponse, result: unknown): void =>
    answer(response, 200, { ok: true, result });
  const bad = (response: ServerResponse, description: string): void =>
    answer(response, 400, { ok: false, error_code: 400, description: `Bad Request: ${description}` });
  const flush = (): void => {
    waiting = waiting.filter(({ response, offset }) => {
      // One from the future is none: all that it holds is brought.
      const from = offset > next + 10 ? 0 : offset;
      const found = updates.filter(({ update_id: id }) => id >= from || id === again);
      if (found.length === 0) return true;
      again = null;
      good(response, found);
      return false;
    });
  };
  const push = (update: Body): number => {
    const id = next++;
    updates.push({ update_id: id, ...update });
    flush();
    return id;
  };
  const chatOf = (id: unknown) => ({ id: Number(id), type: Number(id) < 0 ? 'supergroup' : 'private' });
  /** Of a chain of replies in a supergroup, too: there it is the first message, and no topic. */
  const threadOf = (chat: unknown, { topic, reply }: { topic?: unknown; reply?: unknown }) => {
    if (topic) return { message_thread_id: topic, is_topic_message: true };
    return reply && Number(chat) < 0 ? { message_thread_id: reply } : {};
  };
  const shown = ({ message_id, chat_id, text: words, asked }: TelegramMessage) => {
    const { message_id: reply } = (asked.reply_parameters ?? {}) as { message_id?: number };
    return {
      ...{ message_id, date: seconds(), chat: chatOf(chat_id), text: words },
      ...threadOf(chat_id, { topic: asked.message_thread_id, reply }),
    };
  };
  const buttonsOf = (body: Body) => {
    const { inline_keyboard: rows = [] } = (body.reply_markup ?? {}) as {
      inline_keyboard?: TelegramMessage['buttons'][];
    };
    return rows.flat();
  };
  const methods: Record<string, (body: Body, response: ServerResponse) => void> = {
    getMe: (_, response) =>
      good(response, { id: 12, is_bot: true, first_name: 'Pulse', username: 'pulse_bot' }),
    setMyCommands(body, response) {
      own.offered = body.commands as TelegramStandIn['offered'];
      good(response, true);
    },
    deleteWebhook: (_, response) => good(response, true),
    sendMessage(body, response) {
      const words = String(body.text ?? '');
      if (words === '' || words.length > 4096) return bad(response, 'message text is empty or too long');
      if (!words.isWellFormed()) return bad(response, 'strings must be encoded in UTF-8');
      const topic = body.message_thread_id;
      if (topic !== undefined && (!isForum || own.deleted.includes(Number(topic))))
        return bad(response, 'message thread not found');
      const buttons = buttonsOf(body);
      if (buttons.some(({ callback_data: data }) => Buffer.byteLength(data) > 64))
        return bad(response, 'BUTTON_DATA_INVALID');
      const message = {
        message_id: 1_001 + own.sent.length,
        chat_id: String(body.chat_id),
        text: words,
        buttons,
        asked: body,
      };
      own.sent.push(message);
      if (own.holdsBack !== null && words.includes(own.holdsBack)) {
        own.holdsBack = null;
        return;
      }
      if (!own.diesAfterTaking) return good(response, shown(message));
      own.diesAfterTaking = false;
      response.socket?.destroy();
    },
    editMessageText(body, response) {
      const message = own.sent.find(({ message_id: id }) => id === body.message_id);
      if (!message) return bad(response, 'message to edit not found');
      if (message.text === body.text) return bad(response, 'message is not modified');
      Object.assign(message, { text: body.text, buttons: buttonsOf(body) });
      own.edits += 1;
      good(response, shown(message));
    },
    answerCallbackQuery(body, response) {
      own.notes.push(body as TelegramStandIn['notes'][number]);
      good(response, true);
    },
    createForumTopic(body, response) {
      if (!isForum) return bad(response, 'the chat is not a forum');
      own.topics.push(String(body.name));
      good(response, { message_thread_id: 70 + own.topics.length, name: body.name, icon_color: 1 });
    },
  };
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await text(request)) || '{}') as Body;
    const method = request.url!.split('/').at(-1)!;
    const at = own.refusals.findIndex((one) => (one.method ?? 'getUpdates') === method);
    if (at >= 0) {
      const [{ hangs, method: _, ...refusal }] = own.refusals.splice(at, 1) as [TelegramRefusal];
      if (hangs) return;
      return answer(response, refusal.status, { ok: false, error_code: refusal.status, ...refusal });
    }
    const moved = own.moved.get(String(body.chat_id));
    if (moved !== undefined)
      return answer(response, 400, {
        ...{ ok: false, error_code: 400, parameters: { migrate_to_chat_id: Number(moved) } },
        description: 'Bad Request: group chat was upgraded to a supergroup chat',
      });
    if (method !== 'getUpdates')
      return (methods[method] ?? ((_, r) => bad(r, 'no such method')))(body, response);
    const entry = { response, offset: Number(body.offset ?? 0) };
    own.offsets.push(entry.offset);
    waiting.push(entry);
    response.on('close', () => {
      waiting = waiting.filter((other) => other !== entry);
    });
    flush();
    // Without a time to wait it answers at once.
    const late = setTimeout(
      () => {
        if (!waiting.includes(entry)) return;
        waiting = waiting.filter((other) => other !== entry);
        good(response, []);
      },
      Number(body.timeout ?? 0) * 1000,
    );
    response.on('close', () => clearTimeout(late));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own: TelegramStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{
      sent: [],
      notes: [],
      edits: 0,
      offsets: [],
      topics: [],
      offered: [],
      refusals: [],
      deleted: [],
      moved: new Map(),
      diesAfterTaking: false,
      holdsBack: null,
    },
    write({ from, chat = from, text: words, repliesTo, topic, agoMs = 0 }) {
      const reply =
        repliesTo === undefined
          ? {}
          : { reply_to_message: { message_id: repliesTo, date: seconds(), chat: chatOf(chat) } };
      const place = threadOf(chat, { topic, reply: repliesTo });
      const user = { id: from, is_bot: false, first_name: 'P' };
      return push({
        message: {
          message_id: 500 + updates.length,
          date: seconds(agoMs),
          from: user,
          chat: chatOf(chat),
          text: words,
          ...reply,
          ...place,
        },
      });
    },
    press({ from, message, label }) {
      const data = message.buttons.find((button) => button.text === label)?.callback_data;
      if (data === undefined) throw new Error(`no button ${label}: ${JSON.stringify(message.buttons)}`);
      const query = { id: `query-${updates.length}`, chat_instance: '1', data, message: shown(message) };
      return push({ callback_query: { ...query, from: { id: from, is_bot: false, first_name: 'P' } } });
    },
    restart() {
      own.renumber(100);
    },
    renumber(first) {
      updates.splice(0);
      next = first;
    },
    repeat(update) {
      again = update;
      flush();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return own;
}
