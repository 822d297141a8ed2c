/** Discord's API and gateway on loopback. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { acceptSockets, type Peer } from './web-socket-server.ts';

export interface DiscordMessage {
  id: string;
  channel_id: string;
  content: string;
  nonce?: string;
  /** Its buttons. */
  components: { components: { label: string; custom_id: string }[] }[];
  asked: Record<string, unknown>;
}

export interface DiscordStandIn extends AsyncDisposable {
  url: string;
  token: string;
  sent: DiscordMessage[];
  edits: number;
  threads: { id: string; name: string }[];
  /** Answers to interactions, by their id; later ones replace earlier ones. */
  replies: Map<string, { type: number; data?: Record<string, unknown> }[]>;
  commands: { name: string }[];
  /** What each connection began with: 2 identify, 6 resume. */
  begun: number[];
  beats: number;
  readonly isConnected: boolean;
  heartbeatMs: number;
  /** Instead of hello. */
  greeting: ((peer: Peer) => void) | null;
  acks: boolean;
  diesAfterTaking: boolean;
  /** A person has switched on the Message Content Intent. */
  mayReadContent: boolean;
  /** How the next calls are refused whose path ends so; status 0: they are never answered. */
  refusals: { ends: string; status: number; body?: object; headers?: Record<string, string> }[];
  /** Threads that were put away and locked. */
  locked: string[];
  /** Closes every connection so, or sends this to them. */
  closeAll(code: number): void;
  toAll(message: unknown): void;
  interact(interaction: { from: string; channel?: string; type: number; data: object }): string;
  press(press: { from: string; message: DiscordMessage; label: string }): string;
  /** `mentions`: of the bot; a reply to it mentions it, too, unless that is switched off. */
  post(post: {
    from: string;
    channel: string;
    content: string;
    repliesTo?: string;
    mentions?: boolean;
    server?: string;
    agoMs?: number;
  }): string;
}

type Body = Record<string, unknown>;

export const discordLimit = (seconds: number) => ({
  status: 429,
  headers: { 'retry-after': String(Math.ceil(seconds)), 'x-ratelimit-scope': 'user', via: '1.1 google' },
  body: { message: 'You are being rate limited.', retry_after: seconds, global: false },
});

export async function openDiscord(): Promise<DiscordStandIn> {
  const peers = new Map<Peer, { isReady: boolean; readsAll: boolean }>();
  const nonces = new Map<string, DiscordMessage>();
  /** Since the last session began; a resumed one gets what it has missed. */
  let events: { t: string; d: unknown; s: number }[] = [];
  let [seq, ids] = [0, 1];
  /** An id tells when it was made. */
  const snowflake = (agoMs = 0): string =>
    String((BigInt(Date.now() - agoMs - 1_420_070_400_000) << 22n) + BigInt(ids++));
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await text(request)) || '{}') as Body;
    const answer = (status: number, json: unknown) => {
      if (own.diesAfterTaking && request.method === 'POST' && request.url!.endsWith('/messages')) {
        own.diesAfterTaking = false;
        return void request.socket.destroy();
      }
      if (status === 204) return void response.writeHead(status).end();
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(json));
    };
    const path = request.url!.replace('/v10/', '');
    if (!/^DiscordBot \(\S+, [\w.]+\)/.test(request.headers['user-agent'] ?? ''))
      return answer(403, { message: 'internal network error', code: 40_333 });
    const at = own.refusals.findIndex(({ ends }) => path.endsWith(ends));
    const [refusal] = at < 0 ? [] : own.refusals.splice(at, 1);
    if (refusal?.status === 0) return;
    if (refusal) {
      response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers });
      return void response.end(JSON.stringify(refusal.body ?? { message: 'Refused', code: 0 }));
    }
    const isOpen = path.startsWith('interactions/') || path.startsWith('webhooks/');
    if (!isOpen && request.headers.authorization !== `Bot ${own.token}`)
      return answer(401, { message: '401: Unauthorized', code: 0 });
    route(`${request.method} ${path}`, body, answer);
  });
  function route(line: string, body: Body, answer: (status: number, json: unknown) => void) {
    const [method, path = ''] = line.split(' ');
    const parts = path.split('?')[0]!.split('/');
    if (path.startsWith('gateway/bot'))
      return answer(200, {
        ...{ url: own.url.replace('http', 'ws'), shards: 1 },
        session_start_limit: { total: 1000, remaining: 999, reset_after: 1, max_concurrency: 1 },
      });
    if (parts[0] === 'users') return answer(200, { id: `dm-${body.recipient_id}`, type: 1 });
    if (parts[0] === 'applications') {
      own.commands.push(body as { name: string });
      return answer(201, { id: '1', application_id: parts[1], version: '1', ...body });
    }
    if (parts[0] === 'interactions') {
      noteReply(parts[1]!, body as { type: number });
      return answer(204, null);
    }
    if (parts[0] === 'webhooks') {
      noteReply(parts[2]!.replace('token-', ''), { type: 4, data: body });
      return answer(200, { ...body, id: snowflake(), channel_id: '9', webhook_id: parts[1] });
    }
    if (parts[0] !== 'channels') return answer(404, { message: 'Unknown', code: 0 });
    if (parts[4] === 'threads') {
      const thread = { id: parts[3]!, name: String(body.name) };
      if (own.threads.some(({ id }) => id === thread.id))
        return answer(400, {
          ...{ message: 'A thread has already been created for this message', code: 160_004 },
        });
      own.threads.push(thread);
      return answer(201, { ...thread, type: 11 });
    }
    if (method === 'PATCH') {
      const found = own.sent.find(({ id, channel_id: at }) => id === parts[3] && at === parts[1]);
      if (!found) return answer(404, { message: 'Unknown Message', code: 10008 });
      Object.assign(found, body);
      own.edits += 1;
      return answer(200, found);
    }
    if (own.locked.includes(parts[1]!)) return answer(400, { message: 'Thread is archived', code: 50_083 });
    if (String(body.content ?? '').length > 2000 || !body.content)
      return answer(400, { message: 'Invalid Form Body' });
    const { nonce = '', enforce_nonce: isOnce } = body as { nonce?: string; enforce_nonce?: boolean };
    const known = isOnce ? nonces.get(nonce) : undefined;
    if (known) return answer(200, known);
    const message = {
      ...{ components: [], ...body, id: snowflake(), channel_id: parts[1]!, asked: body },
    } as unknown as DiscordMessage;
    own.sent.push(message);
    if (nonce) nonces.set(nonce, message);
    answer(200, message);
  }
  function noteReply(id: string, body: { type: number; data?: Record<string, unknown> }): void {
    own.replies.set(id, [...(own.replies.get(id) ?? []), body]);
  }
  const ready = () => ({
    ...{ v: 10, user: { id: '12', username: 'pulse', bot: true }, guilds: [], session_id: 'gw-1' },
    ...{ resume_gateway_url: own.url.replace('http', 'ws'), application: { id: '4711', flags: 0 } },
  });
  acceptSockets(server, {
    onOpen(peer) {
      peers.set(peer, { isReady: false, readsAll: false });
      if (own.greeting) return own.greeting(peer);
      peer.send({ op: 10, d: { heartbeat_interval: own.heartbeatMs } });
    },
    onMessage(peer, { op, d }) {
      const {
        token,
        seq: from = 0,
        intents = 0,
      } = (d ?? {}) as {
        token?: string;
        seq?: number;
        intents?: number;
      };
      if (op === 1) {
        own.beats += 1;
        if (own.acks) peer.send({ op: 11 });
      }
      if (op !== 2 && op !== 6) return;
      own.begun.push(op);
      if (token !== own.token) return peer.close(4004);
      const readsAll = (intents & (1 << 15)) !== 0;
      if (readsAll && !own.mayReadContent) return peer.close(4014);
      peers.set(peer, { isReady: true, readsAll });
      if (op === 2) {
        events = [];
        return peer.send({ op: 0, t: 'READY', s: ++seq, d: ready() });
      }
      for (const event of events) if (event.s > from) peer.send({ op: 0, ...event });
      peer.send({ op: 0, t: 'RESUMED', s: ++seq, d: {} });
    },
    onClose: (peer) => void peers.delete(peer),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dispatch = (t: string, d: unknown): void => {
    const event = { t, d, s: ++seq };
    events.push(event);
    for (const [peer, { isReady, readsAll }] of peers)
      if (isReady) peer.send({ op: 0, ...event, d: t === 'MESSAGE_CREATE' && !readsAll ? bare(d) : d });
  };
  /** Without what it is not told of a message in a server that neither names it nor replies to it. */
  const bare = (post: unknown): object => {
    const { guild_id: guild, mentions = [], ...rest } = post as { guild_id?: string; mentions?: object[] };
    const isMeant = guild === undefined || mentions.length > 0;
    return { ...rest, ...(guild ? { guild_id: guild } : {}), mentions, ...(isMeant ? {} : { content: '' }) };
  };
  const own: DiscordStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ token: 'discord-secret', sent: [], edits: 0, threads: [], replies: new Map(), commands: [] },
    ...{ begun: [], beats: 0, heartbeatMs: 41_250, greeting: null, acks: true, diesAfterTaking: false },
    ...{ mayReadContent: false, refusals: [], locked: [] },
    get isConnected() {
      return [...peers.values()].some(({ isReady }) => isReady);
    },
    closeAll: (code) => [...peers.keys()].forEach((peer) => void peer.close(code)),
    toAll: (message) => [...peers.keys()].forEach((peer) => void peer.send(message)),
    interact({ from, channel = '9', type, data }) {
      const id = `int-${ids++}`;
      const user = { id: from, username: 'p' };
      dispatch('INTERACTION_CREATE', {
        ...{ id, type, data, token: `token-${id}`, application_id: '4711', channel_id: channel, version: 1 },
        member: { user, roles: [] },
      });
      return id;
    },
    press({ from, message, label }) {
      const button = message.components.flatMap((row) => row.components).find((one) => one.label === label);
      if (!button) throw new Error(`no button ${label}: ${JSON.stringify(message.components)}`);
      const data = { custom_id: button.custom_id, component_type: 2 };
      return own.interact({ from, channel: message.channel_id, type: 3, data });
    },
    post({ from, channel, content, repliesTo, mentions = repliesTo !== undefined, server: guild, agoMs }) {
      const id = snowflake(agoMs);
      const reference = repliesTo ? { message_reference: { message_id: repliesTo } } : {};
      const place = { channel_id: channel, ...(guild ? { guild_id: guild } : {}) };
      dispatch('MESSAGE_CREATE', {
        ...{ id, content, author: { id: from }, mentions: mentions ? [{ id: '12' }] : [] },
        ...{ ...place, ...reference },
      });
      return id;
    },
    async [Symbol.asyncDispose]() {
      for (const peer of peers.keys()) peer.drop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return own;
}
