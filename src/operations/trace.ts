/** Spans of a session while this process runs it, where OpenTelemetry's variables ask for them. */
import { lastSeqOf, readEvents } from '../store/events.ts';
import { getSession } from '../store/sessions.ts';
import { createExporter } from '../telemetry/exporter.ts';
import { readTelemetry } from '../telemetry/settings.ts';
import { traceSession } from '../telemetry/trace-session.ts';
import type { Operations } from './context.ts';
import { followEvents } from './view.ts';

/** The last events are written before a run ends: they are read within this time. */
const LAST_EVENTS_MS = 1_500;

/** Sends what happens in the session while `work` runs it. Nothing that goes wrong here fails the work. */
export async function whileTraced<T>(
  operations: Operations,
  sessionId: string,
  work: () => Promise<T>,
): Promise<T> {
  const { settings, problem } = readTelemetry(operations.environment);
  // Of a runner this is its log.
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  if (problem !== null) say(problem);
  if (settings === null) return await work();
  const ending = new AbortController();
  const exporter = createExporter({ settings, say });
  const traced = trace(operations, sessionId, { exporter, signal: ending.signal }).catch((error: Error) => {
    say(`Spans could not be made: ${error.message}`);
  });
  try {
    return await work();
  } finally {
    const timer = setTimeout(() => ending.abort(), LAST_EVENTS_MS);
    await traced;
    clearTimeout(timer);
  }
}

async function trace(
  operations: Operations,
  sessionId: string,
  { exporter, signal }: { exporter: ReturnType<typeof createExporter>; signal: AbortSignal },
): Promise<void> {
  const { engine } = operations;
  const { session, begun, after } = await engine.store.read(async (db) => {
    const began = await lastSeqOf(db, sessionId, ['session.started', 'session.resumed']);
    const settled = await lastSeqOf(db, sessionId, ['iteration.settled']);
    return {
      session: await getSession(db, sessionId),
      // A runner that takes over continues with the iteration that the one before had at work.
      begun: began === 0 ? [] : await readEvents(db, sessionId, { after: began - 1, limit: 1 }),
      after: Math.max(began, settled),
    };
  });
  const { id, kind, agent, parent_session_id: parentId } = session;
  async function* events() {
    yield* begun;
    yield* followEvents(operations, sessionId, { after, signal, onAway: () => undefined });
  }
  await traceSession({ id, kind, agent, parentId }, events(), exporter);
}
