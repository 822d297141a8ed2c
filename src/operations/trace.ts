/** Spans of a session while this process runs it, where OpenTelemetry's variables ask for them. */
import type { Beside } from '../engine/runner/runner.ts';
import { lastSeqOf, readEvents } from '../store/events.ts';
import { getSession } from '../store/sessions.ts';
import { createExporter } from '../telemetry/exporter.ts';
import { readTelemetry } from '../telemetry/settings.ts';
import { traceSession } from '../telemetry/trace-session.ts';
import type { Operations } from './context.ts';
import { followEvents } from './view.ts';

/** With each the session has a span of its own. */
const BEGINNINGS = ['session.started', 'session.resumed'] as const;

/** The last events are written before a run ends: they are read within this time. */
const LAST_EVENTS_MS = 1_500;

export interface Tracing {
  /** Sends what happens in the session while `work` runs it. Nothing that goes wrong here fails the work. */
  during: Beside;
  /** Resolves when all of it is sent or given up. */
  settled(): Promise<void>;
}

export function createTracing(operations: Operations): Tracing {
  const { settings, problem } = readTelemetry(operations.environment);
  // Of a runner this is its log.
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  if (problem !== null) say(problem);
  if (settings === null) return { during: (_, work) => work(), settled: async () => undefined };
  const exporter = createExporter({ settings, say });
  const traced: Promise<void>[] = [];
  return {
    async during(sessionId, work) {
      const ending = new AbortController();
      const following = trace(operations, sessionId, { exporter, signal: ending.signal }).catch(
        (error: Error) => say(`Spans could not be made: ${error.message}`),
      );
      try {
        return await work();
      } finally {
        const timer = setTimeout(() => ending.abort(), LAST_EVENTS_MS);
        traced.push(following.finally(() => clearTimeout(timer)));
      }
    },
    async settled() {
      await Promise.all(traced);
    },
  };
}

async function trace(
  operations: Operations,
  sessionId: string,
  { exporter, signal }: { exporter: ReturnType<typeof createExporter>; signal: AbortSignal },
): Promise<void> {
  const { engine } = operations;
  const { session, parent, begun, after } = await engine.store.read(async (db) => {
    const began = await lastSeqOf(db, sessionId, BEGINNINGS);
    const settled = await lastSeqOf(db, sessionId, ['iteration.settled']);
    const session = await getSession(db, sessionId);
    const { parent_session_id: parentId } = session;
    return {
      session,
      parent: parentId && { id: parentId, began: await lastSeqOf(db, parentId, BEGINNINGS) },
      // A runner that takes over continues with the iteration that the one before had at work.
      begun: began === 0 ? [] : await readEvents(db, sessionId, { after: began - 1, limit: 1 }),
      after: Math.max(began, settled),
    };
  });
  const { id, kind, agent } = session;
  async function* events() {
    yield* begun;
    yield* followEvents(operations, sessionId, { after, signal, onAway: () => undefined });
  }
  await traceSession({ id, kind, agent, parent: parent || null }, events(), exporter);
}
