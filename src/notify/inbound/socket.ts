/** A WebSocket to a service, as JSON messages. What is no JSON object is left out. */

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
  /** Ended if nothing was heard for so long. */
  silenceMs: number;
  onMessage(message: Record<string, unknown>, socket: ServiceSocket): void;
}

/** Nothing that we read is longer. */
const MOST_CHARACTERS = 1024 * 1024;
/** For a service that does not close when it is asked to. */
const CLOSE_MS = 2_000;
const GOING_AWAY = 1000;
const LOST = 1006;

/** Resolves when it is over, however that came about. Never rejects. */
export function talk({ url, signal, silenceMs, onMessage }: SocketOptions): Promise<SocketEnd> {
  const { promise, resolve } = Promise.withResolvers<SocketEnd>();
  let hasSpoken = false;
  let socket: WebSocket;
  try {
    socket = new WebSocket(url);
  } catch {
    return Promise.resolve({ code: LOST, hasSpoken });
  }
  const silence = setTimeout(() => close(4000), silenceMs);
  let closing: NodeJS.Timeout | null = null;
  const over = (code: number): void => {
    clearTimeout(silence);
    if (closing) clearTimeout(closing);
    signal.removeEventListener('abort', stop);
    resolve({ code, hasSpoken });
  };
  function close(code: number): void {
    closing ??= setTimeout(() => over(code), CLOSE_MS);
    if (socket.readyState <= WebSocket.OPEN) socket.close(code);
  }
  const stop = (): void => close(GOING_AWAY);
  const own: ServiceSocket = {
    send(message) {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
    close: (code = GOING_AWAY) => close(code),
  };
  socket.addEventListener('message', ({ data }) => {
    if (closing) return;
    hasSpoken = true;
    silence.refresh();
    const message = readObject(data);
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
