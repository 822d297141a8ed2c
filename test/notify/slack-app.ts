/** Slack's Web API and Socket Mode on loopback. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { acceptSockets, type Peer } from './web-socket-server.ts';

export interface SlackMessage {
  ts: string;
  channel: string;
  text: string;
  blocks: { type: string; elements?: { text: { text: string }; value: string }[] }[];
  asked: Record<string, unknown>;
}

export interface SlackStandIn extends AsyncDisposable {
  url: string;
  sent: SlackMessage[];
  edits: number;
  /** Told to one person alone. */
  whispers: { user: string; text: string }[];
  views: { callback_id: string; private_metadata: string }[];
  acknowledged: string[];
  connections: number;
  readonly isConnected: boolean;
  tokens: { app: string; bot: string };
  /** What the next calls say instead of ok. */
  errors: string[];
  /** How the next calls are refused before that; 0: they are never answered. */
  refusals: { status: number; headers?: Record<string, string> }[];
  /** Messages under which nothing can stand any longer. */
  deleted: string[];
  diesAfterTaking: boolean;
  /** Brings it to every connection; returns the id of its envelope. */
  bring(type: 'events_api' | 'interactive' | 'slash_commands', payload: object, envelope?: string): string;
  toAll(message: unknown): void;
  press(press: { from: string; message: SlackMessage; label: string }): string;
  submit(submission: { from: string; view: SlackStandIn['views'][number]; text: string }): string;
}

type Body = Record<string, unknown>;

export const slackLimit = (seconds: number) => ({ status: 429, headers: { 'retry-after': String(seconds) } });

/** A form holds what is no text as JSON. */
function fromForm(sent: string): Body {
  const fields = [...new URLSearchParams(sent)].map(([name, value]) => [
    name,
    ['blocks', 'view'].includes(name) ? JSON.parse(value) : value,
  ]);
  return Object.fromEntries(fields);
}

export async function openSlack(): Promise<SlackStandIn> {
  const peers = new Set<Peer>();
  let count = 0;
  const server = createServer(async (request, response) => {
    const sent = await text(request);
    const isJson = request.headers['content-type']?.includes('json');
    const body = (isJson ? JSON.parse(sent || '{}') : fromForm(sent)) as Body;
    const method = request.url!.split('/').at(-1)!;
    const answer = (json: Body) => {
      if (own.diesAfterTaking && method === 'chat.postMessage') {
        own.diesAfterTaking = false;
        return void request.socket.destroy();
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(json));
    };
    const token = method === 'apps.connections.open' ? own.tokens.app : own.tokens.bot;
    if (request.headers.authorization !== `Bearer ${token}`)
      return answer({ ok: false, error: 'invalid_auth' });
    const refusal = own.refusals.shift();
    if (refusal?.status === 0) return;
    if (refusal) {
      response.writeHead(refusal.status, refusal.headers);
      return void response.end();
    }
    const error = own.errors.shift();
    if (error) return answer({ ok: false, error });
    answer(perform(method, body));
  });
  function perform(method: string, body: Body): Body {
    switch (method) {
      case 'apps.connections.open':
        return { ok: true, url: `${own.url.replace('http', 'ws')}/link/?ticket=1` };
      case 'chat.postMessage': {
        const { channel: place, text: words = '', blocks = [] } = body as unknown as SlackMessage;
        // Who is written to has a channel of their own, and a channel's name stands for its id.
        const channel = place?.replace(/^U/, 'D').replace(/^#/, 'C-');
        if (!channel || !words) return { ok: false, error: 'channel_not_found' };
        if (own.deleted.includes(String(body.thread_ts))) return { ok: false, error: 'thread_not_found' };
        const message = { ts: `1700000000.00${++count}`, channel, text: words, blocks, asked: body };
        own.sent.push(message);
        return { ok: true, channel, ts: message.ts, message: { text: words } };
      }
      case 'chat.update': {
        const found = own.sent.find(({ ts, channel }) => ts === body.ts && channel === body.channel);
        if (!found) return { ok: false, error: 'message_not_found' };
        Object.assign(found, { text: body.text, blocks: body.blocks ?? [] });
        own.edits += 1;
        return { ok: true, channel: body.channel, ts: body.ts };
      }
      case 'chat.postEphemeral':
        own.whispers.push(body as unknown as SlackStandIn['whispers'][number]);
        return { ok: true, message_ts: '1' };
      case 'views.open':
        own.views.push(body.view as SlackStandIn['views'][number]);
        return { ok: true, view: { id: `V${own.views.length}` } };
      default:
        return { ok: false, error: 'unknown_method' };
    }
  }
  acceptSockets(server, {
    onOpen(peer) {
      peers.add(peer);
      own.connections += 1;
      peer.send({ type: 'hello', num_connections: 1, connection_info: { app_id: 'A1' } });
    },
    onMessage(_, { envelope_id: id }) {
      if (typeof id === 'string') own.acknowledged.push(id);
    },
    onClose: (peer) => void peers.delete(peer),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own: SlackStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ sent: [], edits: 0, whispers: [], views: [], acknowledged: [], connections: 0, errors: [] },
    ...{ refusals: [], deleted: [] },
    ...{ tokens: { app: 'xapp-secret', bot: 'xoxb-secret' }, diesAfterTaking: false },
    get isConnected() {
      return peers.size > 0;
    },
    bring(type, payload, envelope = `env-${++count}`) {
      own.toAll({ envelope_id: envelope, type, payload, accepts_response_payload: false });
      return envelope;
    },
    toAll(message) {
      for (const peer of peers) peer.send(message);
    },
    press({ from, message, label }) {
      const buttons = message.blocks.flatMap(({ elements = [] }) => elements);
      const button = buttons.find((one) => one.text.text === label);
      if (!button) throw new Error(`no button ${label}`);
      return own.bring('interactive', {
        ...{
          type: 'block_actions',
          user: { id: from },
          channel: { id: message.channel },
          trigger_id: `t-${++count}`,
        },
        ...{ message: { ts: message.ts }, actions: [{ value: button.value, action_ts: `${++count}.1` }] },
      });
    },
    submit({ from, view, text: words }) {
      const state = { values: { text: { text: { type: 'plain_text_input', value: words } } } };
      return own.bring('interactive', {
        ...{ type: 'view_submission', user: { id: from }, view: { ...view, id: `V-${++count}`, state } },
      });
    },
    async [Symbol.asyncDispose]() {
      for (const peer of peers) peer.drop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return own;
}
