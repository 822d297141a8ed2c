/** Experiments by pages, and what each has changed. */
import { PulseError } from '../../../domain/errors.ts';
import { redactJson } from '../../../domain/redact.ts';
import type { Operations } from '../../../operations/context.ts';
import { diffRange, type SessionDiff } from '../../../operations/dashboard/diff.ts';
import { getSession } from '../../../store/sessions.ts';
import { findExperiment, pageExperiments } from '../rows.ts';
import { type ExperimentView, viewExperiment } from './view.ts';

const PAGE = 100;

export async function viewExperiments(
  { engine: { store } }: Operations,
  id: string,
  { after = 0, limit = PAGE }: { after?: number; limit?: number },
): Promise<{ experiments: ExperimentView[]; nextAfter: number | null }> {
  return store.read(async (db) => {
    const session = await getSession(db, id);
    const found = await pageExperiments(db, session.id, { after, limit: limit + 1 });
    const experiments = found.slice(0, limit).map(viewExperiment);
    const nextAfter = found.length > limit ? experiments.at(-1)!.number : null;
    return redactJson({ experiments, nextAfter });
  });
}

/** Throws `not_found` where nothing of it was committed. */
export async function diffExperiment(
  operations: Operations,
  id: string,
  { number, ...how }: { number: number; path?: string; stat?: boolean },
): Promise<SessionDiff> {
  const { session, experiment } = await operations.engine.store.read(async (db) => {
    const found = await getSession(db, id);
    return { session: found, experiment: await findExperiment(db, found.id, number) };
  });
  if (!experiment)
    throw new PulseError('not_found', `Session ${session.id} has no experiment ${number}.`, {
      hint: 'GET /api/research/{id}/experiments lists them.',
    });
  const { start_sha: from, commit_hash: to, status } = experiment;
  if (to === null)
    throw new PulseError('not_found', `Experiment ${number} has no diff: nothing of it was committed.`, {
      hint: `It is ${status}.`,
    });
  return diffRange(operations, session, { from, to, ...how });
}
