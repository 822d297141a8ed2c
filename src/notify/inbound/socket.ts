/** A WebSocket to a service, as JSON messages. What is no JSON object is left out. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

export interface SocketEnd {
  code: number;
  /** Something was heard on it. */
  hasSpoken: boolean;
}

export interface ServiceSocket {
  send(message: object): void;
  /** May be called twice. */
  close(code?: number): void;
}

export interface SocketOptions {
  url: string;
  signal: AbortSignal;
  /** What a service begins with, and how long that is waited for: a connection that never opens is none. */
  isHello(message: Record<string, unknown>): boolean;
  helloMs: number;
  /** After that: ended if nothing was heard for so long. */
  silenceMs: number;
  /** For a service that pings more often than it speaks: ended so long after a ping that nothing has followed. */
  pingMs?: number;
  /** What we say when we leave. Default: 1000, after which nothing can be taken up again. */
  leaveCode?: number;
  onMessage(message: Record<string, unknown>, socket: ServiceSocket): void;
}

/** Nothing that we read is longer. */
const MOST_CHARACTERS = 1024 * 1024;
/** For a service that does not close when it is asked to. */
const CLOSE_MS = 2_000;
const GOING_AWAY = 1000;
const LOST = 1006;

/** Where Node tells of the pings that it answers by itself. */
const PINGS = 'undici:websocket:ping';

/** Resolves when it is over, however that came about. Never rejects. */
export function talk(options: SocketOptions): Promise<SocketEnd> {
  const { url, signal, onMessage } = options;
  const { promise, resolve } = Promise.withResolvers<SocketEnd>();
  let hasSpoken = false;
  let socket: WebSocket;
  try {
    socket = new WebSocket(url);
  } catch {
    return Promise.resolve({ code: LOST, hasSpoken });
  }
  let silence = setTimeout(() => close(4000), options.helloMs);
  let patienceMs: number | null = null;
  const hear = (nextMs: number): void => {
    // A connection that was cut without a word is closed by nobody.
    if (nextMs === patienceMs) return void silence.refresh();
    patienceMs = nextMs;
    clearTimeout(silence);
    silence = setTimeout(() => close(4000), nextMs);
  };
  const onPing = (event: unknown): void => {
    if ((event as { websocket?: unknown }).websocket !== socket || patienceMs === null) return;
    hear(options.pingMs ?? patienceMs);
  };
  subscribe(PINGS, onPing);
  let closing: NodeJS.Timeout | null = null;
  const over = (code: number): void => {
    clearTimeout(silence);
    unsubscribe(PINGS, onPing);
    if (closing) clearTimeout(closing);
    signal.removeEventListener('abort', stop);
    resolve({ code, hasSpoken });
  };
  function close(code: number): void {
    closing ??= setTimeout(() => over(code), CLOSE_MS);
    if (socket.readyState <= WebSocket.OPEN) socket.close(code);
  }
  const stop = (): void => close(options.leaveCode ?? GOING_AWAY);
  const own: ServiceSocket = {
    send(message) {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
    close: (code = GOING_AWAY) => close(code),
  };
  socket.addEventListener('message', ({ data }) => {
    if (closing) return;
    hasSpoken = true;
    const message = readObject(data);
    if (patienceMs !== null) hear(patienceMs);
    else if (message && options.isHello(message)) hear(options.silenceMs);
    if (message) onMessage(message, own);
  });
  socket.addEventListener('close', ({ code }) => over(code));
  socket.addEventListener('error', () => close(GOING_AWAY));
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  return promise;
}

function readObject(data: unknown): Record<string, unknown> | null {
  if (typeof data !== 'string' || data.length > MOST_CHARACTERS) return null;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

const FIRST_WAIT_MS = 1_000;
const MOST_WAIT_MS = 2 * 60_000;

/** Longer each time, and never the same for all that were cut off together. */
export function reconnectMs(failures: number, random: () => number = Math.random): number {
  const grown = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 10), MOST_WAIT_MS);
  return Math.round(grown * (0.5 + random() / 2));
}
