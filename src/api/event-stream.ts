/** A session's events as server-sent events: `id` is the event's number, so a client that returns misses nothing. */
import type { PulseEvent } from '../domain/events.ts';
import type { Pulse } from '../pulse.ts';

export interface EventStreamOptions {
  pulse: Pick<Pulse, 'follow'>;
  sessionId: string;
  /** The last event the client has. */
  after: number;
  heartbeatMs: number;
  /** Ends every stream: the server stops. */
  signal?: AbortSignal;
}

const encoder = new TextEncoder();

/**
 * Reads only as fast as the client takes, and stops following when it cancels. Ends after the session has stopped and
 * all was sent. A store that fails ends it too: the client comes back with the number of its last event.
 */
export function createEventStream(options: EventStreamOptions): ReadableStream<Uint8Array> {
  const { pulse, sessionId, after, heartbeatMs, signal } = options;
  const stop = new AbortController();
  const follow = AbortSignal.any(signal ? [stop.signal, signal] : [stop.signal]);
  const events = pulse.follow(sessionId, { after, signal: follow });
  let next: Promise<IteratorResult<PulseEvent>> | null = null;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= events.next();
        const step = await within(next, heartbeatMs).catch(() => 'failed' as const);
        if (step === 'quiet') return controller.enqueue(encoder.encode(':\n\n'));
        next = null;
        if (stop.signal.aborted) return;
        if (step === 'failed' || step.done) return controller.close();
        controller.enqueue(encoder.encode(message(step.value)));
      },
      async cancel() {
        stop.abort();
        await events.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Without an `event:` line: a browser's `onmessage` gets every type. JSON has no line breaks of its own. */
function message(event: PulseEvent): string {
  return `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | 'quiet'> {
  let timer: NodeJS.Timeout | undefined;
  const quiet = new Promise<'quiet'>((resolve) => {
    timer = setTimeout(() => resolve('quiet'), ms);
  });
  try {
    return await Promise.race([promise, quiet]);
  } finally {
    clearTimeout(timer);
  }
}
