/** What settling an iteration of research writes beyond a goal's: the experiment, the best, what is known of noise. */
import { isDeepStrictEqual } from 'node:util';
import type { NewEvent } from '../../domain/events.ts';
import type { LiveIteration, SessionState, Settling } from '../../engine/loop.ts';
import { appendEvents } from '../../store/events.ts';
import { addCommit } from '../../store/sessions.ts';
import { type Db, storeNow, toJson } from '../../store/store.ts';
import { reportOutcome } from './commander/report.ts';
import { BASELINE_UNIT } from './measure/measure.ts';
import { findResearch, updateExperiment, updateResearch } from './rows.ts';
import type { ExperimentChange, ResearchState } from './state.ts';
import { experimentWorkSchema, readMeasured } from './work-data.ts';

/** In the transaction that settles the iteration; returns the events that are the session's own. */
export async function settleResearch(
  db: Db,
  { state, live, result, verdict }: Settling<ResearchState>,
): Promise<NewEvent[]> {
  const change = verdict.change as ExperimentChange | undefined;
  if (change) return settleExperiment(db, { state, live, change });
  const isRead = live.iteration.unit === BASELINE_UNIT && verdict.status === 'complete';
  const measured = readMeasured(result);
  if (!isRead || !measured) return [];
  const { lead, research, bestSha } = state.own;
  const { reference, goodRunsMs, baseline, host } = measured;
  await updateResearch(db, lead.id, {
    reference: toJson(reference),
    good_runs_ms: toJson(goodRunsMs),
    baseline: research.baseline ?? baseline,
    best: baseline,
    best_sha: bestSha,
    host,
  });
  return [];
}

async function settleExperiment(
  db: Db,
  { state, live, change }: Pick<Settling<ResearchState>, 'state' | 'live'> & { change: ExperimentChange },
): Promise<NewEvent[]> {
  const { session } = state;
  const { lead } = state.own;
  const { status, experiment } = change;
  await updateExperiment(db, experiment, {
    ...change.patch,
    status,
    ...(status === 'running' ? {} : { ended_at: storeNow() }),
  });
  const isOfNow = lead.id === session.id || status === 'keep' || (await isStillKnown(db, state, live));
  // Resuming it takes the person's `finish` back.
  await updateResearch(db, lead.id, { ...(isOfNow ? change.research : {}), phase: 'researching' });
  const events = [
    ...change.events,
    ...(await reportOutcome(db, { control: state.control, research: state.own }, change)),
  ];
  if (lead.id === session.id) return events;
  if (status === 'keep') await addCommit(db, lead.id);
  await appendEvents(
    db,
    lead.id,
    events.map((event) => ({ ...event, data: { ...event.data, worker: session.id } })),
  );
  return [];
}

/** Readings of a best that was replaced, or taken beside another worker's, say nothing about the next one. */
async function isStillKnown(
  db: Db,
  { own: { lead } }: SessionState<ResearchState>,
  { task }: LiveIteration,
): Promise<boolean> {
  const now = await findResearch(db, lead.id);
  const work = experimentWorkSchema.parse(task.spec.work);
  const { reference } = work.request;
  const isSameBest = (now?.best_sha ?? lead.base_sha) === work.baseSha;
  // By value: a database may give the fields back in another order.
  return isSameBest && isDeepStrictEqual(now?.reference, reference);
}
