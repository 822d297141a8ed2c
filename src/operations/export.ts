/** Everything that is known of a session, to be kept elsewhere. */
import type { PulseEvent } from '../domain/events.ts';
import { type ExportedWorkflow, exportWorkflow } from '../loops/workflow/operations/export.ts';
import { listUnresolved } from '../loops/workflow/unresolved-rows.ts';
import { readEvents } from '../store/events.ts';
import { listIterations } from '../store/iterations.ts';
import { listJudgements, type StoredJudgement } from '../store/judgements.ts';
import { getSession } from '../store/sessions.ts';
import { listVerifications, type StoredVerification } from '../store/verifications.ts';
import type { Operations } from './context.ts';
import { keptWork } from './kept-work.ts';
import { type SessionView, viewSessionAlone } from './view.ts';

export interface SessionExport extends Pick<SessionView, 'session' | 'iterations' | 'unresolved'> {
  /** Refs with work that was not taken over. */
  recovery: string[];
  events: PulseEvent[];
  verifications: StoredVerification[];
  /** What the referee said of each claim, oldest first. */
  judgements: StoredJudgement[];
  /** `null` for the other loops. */
  workflow: ExportedWorkflow | null;
}

/** Everything the store holds of a session, redacted. */
export async function exportSession(operations: Operations, id: string): Promise<SessionExport> {
  const { engine, redactor, git } = operations;
  const { id: sessionId, project_path: root } = await viewSessionAlone(operations, id);
  // The repository may be gone by now: what the store holds is exported all the same.
  const recovery = await keptWork(git, { id: sessionId, project_path: root });
  return engine.store.read(async (db) => {
    const session = await getSession(db, id);
    return redactor.redactJson({
      session,
      iterations: await listIterations(db, session.id),
      verifications: await listVerifications(db, session.id),
      judgements: await listJudgements(db, session.id),
      events: await readEvents(db, session.id, { limit: Number.MAX_SAFE_INTEGER }),
      unresolved: (await listUnresolved(db, [session.id])).get(session.id) ?? [],
      recovery: recovery.map(({ ref }) => ref),
      workflow: await exportWorkflow(db, session.id),
    });
  });
}
