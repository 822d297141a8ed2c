/** What settling an iteration of research writes beyond a goal's: the experiment, the best, what is known of noise. */
import type { AttemptResult } from '../domain/attempt.ts';
import type { NewEvent } from '../domain/events.ts';
import { appendEvents } from '../store/events.ts';
import { findResearch, updateExperiment, updateResearch } from '../store/research.ts';
import { addCommit } from '../store/sessions.ts';
import { type Db, storeNow, toJson } from '../store/store.ts';
import { tellOutcome } from './commander.ts';
import type { ExperimentChange, SessionState, Verdict } from './loop.ts';
import { measureReportSchema } from './measure.ts';

/** In the transaction that settles the iteration; returns the events that are the session's own. */
export async function settleResearch(
  db: Db,
  { state, result, verdict }: { state: SessionState; result: AttemptResult; verdict: Verdict },
): Promise<NewEvent[]> {
  const { experiment: change } = verdict;
  if (change) return settleExperiment(db, state, change);
  if (verdict.status !== 'complete' || result.measured === undefined) return [];
  const { lead, research } = state.research!;
  const { reference, goodRunsMs, baseline, host } = measureReportSchema.parse(result.measured);
  await updateResearch(db, lead.id, {
    reference: toJson(reference),
    good_runs_ms: toJson(goodRunsMs),
    baseline: research.baseline ?? baseline,
    best: baseline,
    host,
  });
  return [];
}

async function settleExperiment(db: Db, state: SessionState, change: ExperimentChange): Promise<NewEvent[]> {
  const { session } = state;
  const { lead } = state.research!;
  const { status, experiment } = change;
  await updateExperiment(db, experiment, {
    ...change.patch,
    status,
    ...(status === 'running' ? {} : { ended_at: storeNow() }),
  });
  // What was read of a best that is none any more says nothing of the next.
  const best = (await findResearch(db, lead.id))?.best_sha ?? lead.base_sha;
  const isOfNow = lead.id === session.id || status === 'keep' || best === experiment.start_sha;
  // Whoever goes on with it has not finished it after all.
  await updateResearch(db, lead.id, { ...(isOfNow ? change.research : {}), phase: 'researching' });
  const events = [...change.events, ...(await tellOutcome(db, state, change))];
  if (lead.id === session.id) return events;
  if (status === 'keep') await addCommit(db, lead.id);
  await appendEvents(
    db,
    lead.id,
    events.map((event) => ({ ...event, data: { ...event.data, worker: session.id } })),
  );
  return [];
}
