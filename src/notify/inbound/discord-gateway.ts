/**
 * Discord's gateway: one connection on which it tells what happens, so that no public address is needed. After a break it
 * is resumed where it was; what never works is tried less and less often.
 */
import { type ServiceSocket, type SocketEnd, talk } from './socket.ts';

const OP = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalid: 9,
  hello: 10,
  ack: 11,
} as const;

/** Messages of servers and of people; their content comes where the bot is meant, without a privilege. */
const INTENTS = (1 << 9) | (1 << 12);
/** Their content everywhere: a person must have switched that on for the application. */
const MESSAGE_CONTENT = 1 << 15;
const HELLO_MS = 10_000;
/** Who leaves with 1000 has ended the session. */
const RESUMABLE = 4000;
/** What a service may ask for: neither a storm of heartbeats nor silence for ever. */
const BEAT_MS = { least: 1_000, most: 5 * 60_000 };

/** Where the connection can be taken up again. */
export interface GatewaySession {
  id: string;
  url: string;
  seq: number;
}

export interface GatewayOptions {
  url: string;
  token: string;
  session: GatewaySession | null;
  /** Asks for what is written in servers without naming the bot. */
  readsAll: boolean;
  signal: AbortSignal;
  onEvent(type: string, data: unknown): void;
  /** With each event: where the connection could be taken up after it. */
  onMoved?(session: GatewaySession): void;
  random?: () => number;
}

/** `fatal`: it will not work another time either, as the service has said. `mayNotReadAll`: without `readsAll` it will. */
export interface GatewayEnd {
  mayNotReadAll: boolean;
  session: GatewaySession | null;
  fatal: string | null;
  wasReady: boolean;
}

/** Until the connection is over. Never rejects. */
export async function connectGateway(options: GatewayOptions): Promise<GatewayEnd> {
  const { token, signal, onEvent, random = Math.random } = options;
  let { session } = options;
  let wasReady = false;
  let isAcked = true;
  let beating: NodeJS.Timeout | null = null;
  const beat = (socket: ServiceSocket): void => socket.send({ op: OP.heartbeat, d: session?.seq ?? null });
  const keepBeating = (socket: ServiceSocket, everyMs: number): void => {
    beating = setTimeout(function next() {
      // Nobody has heard the last one: the connection is dead, although nothing has closed it.
      if (!isAcked) return socket.close(RESUMABLE);
      isAcked = false;
      beat(socket);
      beating = setTimeout(next, everyMs);
    }, everyMs * random());
  };
  const begin = (data: unknown): void => {
    const { session_id: id, resume_gateway_url: url } = (data ?? {}) as Record<string, unknown>;
    if (typeof id === 'string') session = { id, url: typeof url === 'string' ? url : options.url, seq: 0 };
  };
  const dispatch = (type: unknown, data: unknown): void => {
    if (type === 'READY' || type === 'RESUMED') wasReady = true;
    if (typeof type === 'string') onEvent(type, data);
  };
  const onMessage = ({ op, d, t, s }: Record<string, unknown>, socket: ServiceSocket): void => {
    switch (op) {
      case OP.hello: {
        if (beating) return;
        const { heartbeat_interval: asked } = (d ?? {}) as { heartbeat_interval?: unknown };
        const everyMs = typeof asked === 'number' ? asked : BEAT_MS.most;
        keepBeating(socket, Math.min(Math.max(everyMs, BEAT_MS.least), BEAT_MS.most));
        socket.send(session ? resumeWith(token, session) : identifyWith(options));
        break;
      }
      case OP.heartbeat:
        beat(socket);
        break;
      case OP.ack:
        isAcked = true;
        break;
      case OP.reconnect:
        socket.close(RESUMABLE);
        break;
      case OP.invalid:
        if (d !== true) session = null;
        socket.close(RESUMABLE);
        break;
      case OP.dispatch:
        if (t === 'READY') begin(d);
        if (typeof s === 'number' && session) {
          session.seq = s;
          options.onMoved?.({ ...session });
        }
        dispatch(t, d);
    }
  };
  const end = await talk({
    url: withVersion(options.session?.url ?? options.url),
    ...{ signal, onMessage, helloMs: HELLO_MS, silenceMs: 2 * BEAT_MS.most, leaveCode: RESUMABLE },
    isHello: ({ op }) => op === OP.hello,
  });
  if (beating) clearTimeout(beating);
  return {
    ...afterClose(end, session),
    wasReady,
    mayNotReadAll: options.readsAll && end.code === DISALLOWED,
  };
}

function identifyWith({ token, readsAll }: GatewayOptions): object {
  const properties = { os: process.platform, browser: 'pulse', device: 'pulse' };
  const intents = INTENTS | (readsAll ? MESSAGE_CONTENT : 0);
  return { op: OP.identify, d: { token, intents, properties } };
}

function resumeWith(token: string, { id, seq }: GatewaySession): object {
  return { op: OP.resume, d: { token, session_id: id, seq } };
}

function withVersion(url: string): string {
  const full = new URL(url);
  full.searchParams.set('v', '10');
  full.searchParams.set('encoding', 'json');
  return full.href;
}

const DISALLOWED = 4014;
/** What the service says when it closes for good. */
const FATAL: Record<number, string> = {
  4004: 'the token is not valid',
  4010: 'the shard is not valid',
  4011: 'the bot is in too many servers for one connection',
  4012: 'the version of the gateway is too old',
  4013: 'the intents are not valid',
  [DISALLOWED]: 'the intents are not allowed',
};
/** After these the session cannot be taken up again. */
const FORGOTTEN = [4003, 4007, 4009];

function afterClose(
  { code }: SocketEnd,
  session: GatewaySession | null,
): Pick<GatewayEnd, 'fatal' | 'session'> {
  const fatal = FATAL[code] ?? null;
  return { fatal, session: fatal || FORGOTTEN.includes(code) ? null : session };
}
