/** Sends spans to a collector as OTLP over HTTP, in JSON. It never fails a session: what cannot be sent is dropped, and said once. */
import type { TelemetrySettings } from './settings.ts';
import type { Span } from './spans.ts';

export interface SpanExporter {
  /** Queues them; sent when there are enough of them, or by `flush`. */
  add(spans: readonly Span[]): void;
  /** Resolves when all that was added is sent or given up. */
  flush(): Promise<void>;
}

/** So many at once, and no more in memory than so many. */
const BATCH = 256;
const MOST_WAITING = 4_096;

export interface ExporterOptions {
  settings: TelemetrySettings;
  /** Told once what goes wrong. */
  say(text: string): void;
}

export function createExporter({ settings, say }: ExporterOptions): SpanExporter {
  let waiting: Span[] = [];
  let sending: Promise<void> = Promise.resolve();
  let hasSaid = false;

  function complain(why: string): void {
    if (!hasSaid) say(`Spans could not be sent to ${new URL(settings.url).origin}: ${why}`);
    hasSaid = true;
  }

  async function send(spans: readonly Span[]): Promise<void> {
    try {
      const answer = await fetch(settings.url, {
        method: 'POST',
        redirect: 'error',
        headers: { 'content-type': 'application/json', ...settings.headers },
        body: JSON.stringify(payloadOf(spans, settings.resource)),
        signal: AbortSignal.timeout(settings.timeoutMs),
      });
      await answer.body?.cancel();
      if (!answer.ok) complain(`it answered ${answer.status}`);
    } catch (error) {
      complain((error as Error).message);
    }
  }

  function drain(): void {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      sending = sending.then(() => send(batch));
    }
  }

  return {
    add(spans) {
      waiting = [...waiting, ...spans].slice(-MOST_WAITING);
      if (waiting.length >= BATCH) drain();
    },
    async flush() {
      drain();
      await sending;
    },
  };
}

function payloadOf(spans: readonly Span[], resource: Record<string, string>) {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: 'pulse' }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

const INTERNAL = 1;
const STATUS = { unset: 0, error: 2 };

function spanOf({ startMs, endMs, attributes, error, ...span }: Span) {
  return {
    ...span,
    kind: INTERNAL,
    startTimeUnixNano: nanosOf(startMs),
    endTimeUnixNano: nanosOf(Math.max(startMs, endMs)),
    attributes: attributesOf(attributes),
    status: error === null ? { code: STATUS.unset } : { code: STATUS.error, message: error },
  };
}

function nanosOf(ms: number): string {
  return `${BigInt(Math.round(ms)) * 1_000_000n}`;
}

function attributesOf(attributes: Span['attributes']) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: typedValue(value) }));
}

function typedValue(value: string | number | boolean) {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: `${value}` } : { doubleValue: value };
}
