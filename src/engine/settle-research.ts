/** What settling an iteration of research writes beyond a goal's: the experiment, the best, what is known of noise. */
import type { AttemptResult } from '../domain/attempt.ts';
import { updateExperiment, updateResearch } from '../store/research.ts';
import { type Db, storeNow, toJson } from '../store/store.ts';
import type { SessionState, Verdict } from './loop.ts';
import { measureReportSchema } from './measure.ts';

/** In the transaction that settles the iteration. */
export async function settleResearch(
  db: Db,
  { state, result, verdict }: { state: SessionState; result: AttemptResult; verdict: Verdict },
): Promise<void> {
  const { id } = state.session;
  const { experiment: change } = verdict;
  if (change) {
    const ended = change.status === 'running' ? {} : { ended_at: storeNow() };
    await updateExperiment(db, change.experiment, { ...change.patch, status: change.status, ...ended });
    if (Object.keys(change.research).length > 0) await updateResearch(db, id, change.research);
    return;
  }
  if (verdict.status !== 'complete' || result.measured === undefined) return;
  const { reference, goodRunsMs, baseline } = measureReportSchema.parse(result.measured);
  await updateResearch(db, id, {
    reference: toJson(reference),
    good_runs_ms: toJson(goodRunsMs),
    baseline,
    best: baseline,
  });
}
