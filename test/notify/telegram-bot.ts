/** Telegram's bot API on loopback: long polling with offsets, and what was sent to people. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface TelegramStandIn extends AsyncDisposable {
  url: string;
  /** What the bot said, in order. */
  sent: { chat_id: string; text: string }[];
  /** Somebody writes; returns the number of the update. */
  write(message: { from: number; text: string; repliesTo?: number }): number;
  /** Brings an update once more, as a service does that has not heard of it. */
  repeat(update: number): void;
  /** Answers to the polls to come, before the usual one. */
  refusals: { status: number; description: string }[];
}

export async function openTelegram(): Promise<TelegramStandIn> {
  const updates: { update_id: number; message: object }[] = [];
  const sent: TelegramStandIn['sent'] = [];
  const refusals: TelegramStandIn['refusals'] = [];
  let waiting: { response: ServerResponse; offset: number }[] = [];
  let again: number | null = null;
  const answer = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const flush = (): void => {
    waiting = waiting.filter(({ response, offset }) => {
      const found = updates.filter(({ update_id: id }) => id >= offset || id === again);
      if (found.length === 0) return true;
      again = null;
      answer(response, 200, { ok: true, result: found });
      return false;
    });
  };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    const method = request.url!.split('/').at(-1);
    if (method === 'getUpdates') {
      const refusal = refusals.shift();
      if (refusal) return answer(response, refusal.status, { ok: false, description: refusal.description });
      const entry = { response, offset: body.offset ?? 0 };
      waiting.push(entry);
      request.socket.on('close', () => {
        waiting = waiting.filter((other) => other !== entry);
      });
      return flush();
    }
    sent.push({ chat_id: String(body.chat_id), text: body.text });
    return answer(response, 200, { ok: true, result: { message_id: 1_000 + sent.length } });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    refusals,
    write({ from, text: words, repliesTo }) {
      const id = 100 + updates.length;
      const reply = repliesTo === undefined ? {} : { reply_to_message: { message_id: repliesTo } };
      const message = { message_id: id, from: { id: from }, chat: { id: from }, text: words, ...reply };
      updates.push({ update_id: id, message });
      flush();
      return id;
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
}
