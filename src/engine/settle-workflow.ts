/** What settling a workflow's iteration writes beyond a goal's: the pulse's row, preflight's rows and the baseline. */
import type { AttemptResult } from '../domain/attempt.ts';
import type { NewEvent } from '../domain/events.ts';
import { type IdSource, uuidv7 } from '../domain/ids.ts';
import { type Db, storeNow, toJson } from '../store/store.ts';
import { endPreflight, movePulse, replaceBaseline, updateWorkflow } from '../store/workflows.ts';
import type { SessionState, Verdict } from './loop.ts';

export function pulseEvents({ pulse }: Verdict): readonly NewEvent[] {
  return pulse?.events ?? [];
}

export function preflightEvents({ preflight, setupFailure, run }: AttemptResult): NewEvent[] {
  if (!preflight && !(setupFailure && !run)) return [];
  const error = preflight?.error ?? setupFailure?.command ?? null;
  if (error !== null) return [{ type: 'preflight.failed', data: { error } }];
  const { summary, setupCommands, buildSuccess, baseline, artifacts } = preflight!;
  const data = { summary, setupCommands, buildSuccess, baselinesRecorded: baseline.length, artifacts };
  return [{ type: 'preflight.completed', data }];
}

/** In the transaction that settles the iteration. */
export async function settleWorkflow(
  db: Db,
  {
    state,
    result,
    verdict,
    ids,
  }: { state: SessionState; result: AttemptResult; verdict: Verdict; ids: IdSource },
): Promise<void> {
  const { workflow } = state.workflow!;
  const { pulse: change } = verdict;
  if (change) {
    const ended = change.to === 'running' ? {} : { ended_at: storeNow() };
    await movePulse(db, change.pulse, change.to, { ...change.patch, ...ended });
    return;
  }
  const { preflight, setupFailure, run } = result;
  const error = setupFailure
    ? `${setupFailure.command}: ${setupFailure.outputTail.slice(-2_000)}`
    : (preflight?.error ?? run?.failure?.message ?? null);
  await endPreflight(db, workflow.id, {
    status: error === null ? 'completed' : 'failed',
    error,
    summary: preflight?.summary ?? '',
    commands: preflight?.setupCommands ?? [],
    builds: preflight?.buildSuccess ?? false,
  });
  if (error !== null || !preflight) return;
  await replaceBaseline(
    db,
    workflow.id,
    preflight.baseline.map((issue) => ({ ...issue, id: `bas_${uuidv7(ids)}` })),
  );
  await updateWorkflow(db, workflow.id, { artifacts: toJson(preflight.artifacts) });
}
