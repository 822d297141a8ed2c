/** Messages as server-sent events: each has an `id`, so a client that returns with the last one misses nothing. */

export interface EventStreamOptions<T> {
  /** Ends when the signal aborts. */
  follow(signal: AbortSignal): AsyncGenerator<T>;
  message(item: T): string;
  heartbeatMs: number;
  /** Ends every stream: the server stops. */
  signal?: AbortSignal;
  /** Something else that ends it: the key that asked may be revoked. Watched until `gone`. */
  endsWith?: (gone: AbortSignal) => AbortSignal | null;
}

const encoder = new TextEncoder();

/**
 * Reads only as fast as the client takes, and stops following when it cancels. Ends after all was sent. A store that
 * fails ends it too: the client comes back with the id of its last message.
 */
export function createEventStream<T>(options: EventStreamOptions<T>): ReadableStream<Uint8Array> {
  const { follow, message, heartbeatMs, signal, endsWith } = options;
  const stop = new AbortController();
  const ends = [stop.signal, signal, endsWith?.(stop.signal)].filter((one) => one != null);
  const items = follow(AbortSignal.any(ends));
  let next: Promise<IteratorResult<T>> | null = null;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= items.next();
        const step = await within(next, heartbeatMs).catch(() => 'failed' as const);
        if (step === 'quiet') return controller.enqueue(encoder.encode(':\n\n'));
        next = null;
        if (stop.signal.aborted) return;
        if (step === 'failed' || step.done) {
          stop.abort();
          return controller.close();
        }
        controller.enqueue(encoder.encode(message(step.value)));
      },
      async cancel() {
        stop.abort();
        await items.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

export interface ServerSentEvent {
  id: string | number;
  /** Without it a browser's `onmessage` gets the message. */
  event?: string;
  data: unknown;
}

/** JSON has no line breaks of its own. */
export function formatEvent({ id, event, data }: ServerSentEvent): string {
  return `${event === undefined ? '' : `event: ${event}\n`}id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
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
