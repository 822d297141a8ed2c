/** Follows a session that this process runs, and sends what happens in it as spans. */
import type { PulseEvent } from '../domain/events.ts';
import type { SpanExporter } from './exporter.ts';
import { createSpanFold, type TracedSession } from './spans.ts';

/** Spans of an iteration leave with its end: a process that dies loses the one at work. */
export async function traceSession(
  session: TracedSession,
  events: AsyncIterable<PulseEvent>,
  exporter: SpanExporter,
): Promise<void> {
  const fold = createSpanFold(session);
  for await (const event of events) {
    const spans = fold.take(event);
    exporter.add(spans);
    if (event.type === 'iteration.settled') void exporter.flush();
  }
  await exporter.flush();
}
