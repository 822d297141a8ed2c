/**
 * The live stream, read with `fetch`: an EventSource hides heartbeats, so that a connection which died in silence would
 * look alive. It is dead after 35 s without a byte; the first try is made at once, the next ones later and later, until a connection has lasted.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { authorization, dropKey, storedKey } from '../api/client.ts';
import { dropDeadConnections } from './probe.ts';

export interface StreamOptions {
  /** Asked before each connection: what is watched, as `ID:seq,…`. */
  watched(): string;
  onOpen(): void;
  onMessage(message: EventSourceMessage): void;
  /** Anything was heard. */
  onSign(): void;
  onLost(status: number | null): void;
  signal: AbortSignal;
}

const SILENCE_MS = 35_000;
/** Why a connection was given up. */
const SILENCE = 'silence';
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** A connection that ends sooner has not lasted: a server that takes it and lets it go is not asked without a pause. */
const LASTS_MS = 5_000;

/** Runs until it is aborted. */
export async function followStream(options: StreamOptions): Promise<void> {
  const { signal } = options;
  let lastId: string | undefined;
  let tries = 0;
  while (!signal.aborted) {
    const attempt = new AbortController();
    const beganMs = Date.now();
    const stop = (): void => attempt.abort();
    signal.addEventListener('abort', stop, { once: true });
    const status = await readOnce({
      ...options,
      lastId,
      attempt,
      onMessage: (message) => {
        lastId = message.id ?? lastId;
        options.onMessage(message);
      },
    }).catch(() => null);
    signal.removeEventListener('abort', stop);
    if (signal.aborted) return;
    options.onLost(status);
    if (attempt.signal.reason === SILENCE) await dropDeadConnections(signal);
    if (status === null && Date.now() - beganMs >= LASTS_MS) tries = 0;
    if (tries > 0) await pause(waitOf(tries), signal);
    tries += 1;
  }
}

interface Reading extends StreamOptions {
  lastId: string | undefined;
  attempt: AbortController;
}

/** The status of a refusal; `null`: it was open, and ended. */
async function readOnce(reading: Reading): Promise<number | null> {
  const { lastId, attempt, onOpen, onSign, onMessage, watched } = reading;
  let timer = setTimeout(() => attempt.abort(SILENCE), SILENCE_MS);
  const sign = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => attempt.abort(SILENCE), SILENCE_MS);
    onSign();
  };
  try {
    const watch = watched();
    const key = storedKey();
    const answer = await fetch(`/api/live${watch ? `?watch=${encodeURIComponent(watch)}` : ''}`, {
      headers: { ...authorization(), ...(lastId ? { 'Last-Event-ID': lastId } : {}) },
      signal: attempt.signal,
      cache: 'no-store',
    });
    if (answer.status === 401 && key !== null) {
      dropKey(key);
      return null;
    }
    if (!answer.ok || !answer.body) return answer.status;
    sign();
    onOpen();
    const parser = createParser({ onEvent: onMessage });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return null;
      sign();
      parser.feed(value);
    }
  } finally {
    clearTimeout(timer);
    attempt.abort();
  }
}

function waitOf(tries: number): number {
  const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries);
  return most / 2 + (Math.random() * most) / 2;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
