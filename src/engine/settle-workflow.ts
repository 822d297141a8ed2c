/** What settling a workflow's iteration writes beyond a goal's: the pulse's row, preflight's rows and the baseline. */
import type { AttemptResult } from '../domain/attempt.ts';
import type { NewEvent } from '../domain/events.ts';
import { type IdSource, uuidv7 } from '../domain/ids.ts';
import type { Plan } from '../domain/plan.ts';
import { type Db, storeNow, toJson } from '../store/store.ts';
import {
  endPreflight,
  insertPulse,
  movePulse,
  raiseBaseline,
  replaceBaseline,
  updateWorkflow,
  type Workflow,
} from '../store/workflows.ts';
import type { SessionState, Verdict } from './loop.ts';

export function pulseEvents({ pulse, plan }: Verdict, { workflow }: SessionState): readonly NewEvent[] {
  const { approved_at: at, approved_by: actor, plan_version: version } = workflow?.workflow ?? {};
  // A person said yes before the plan was drafted.
  if (plan && at) {
    const data = { resolution: 'approved', actor, planVersion: version! + 1 };
    return [{ type: 'PlanCardResolved', data }];
  }
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
    unit,
  }: { state: SessionState; result: AttemptResult; verdict: Verdict; ids: IdSource; unit: string | null },
): Promise<void> {
  const { workflow } = state.workflow!;
  const { pulse: change } = verdict;
  if (change) {
    const ended = change.to === 'running' ? {} : { ended_at: storeNow() };
    await movePulse(db, change.pulse, change.to, { ...change.patch, ...ended });
    for (const issue of (change.to === 'succeeded' && result.run?.completion?.leftOver) || [])
      await raiseBaseline(db, workflow.id, { ...issue, id: `bas_${uuidv7(ids)}` });
    return;
  }
  if (verdict.plan) return settlePlan(db, { workflow, plan: verdict.plan, ids });
  if (unit !== 'preflight') return;
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

/** What was drafted waits for approval. */
async function settlePlan(
  db: Db,
  { workflow, plan, ids }: { workflow: Workflow; plan: Plan; ids: IdSource },
): Promise<void> {
  await updateWorkflow(db, workflow.id, {
    plan: toJson(plan),
    title: plan.title,
    ...(plan.verify ? { checks: toJson(plan.verify) } : {}),
    ...(workflow.approved_at === null ? {} : { plan_version: workflow.plan_version + 1 }),
  });
  for (const [position, { id, title }] of plan.pulses.entries()) {
    await insertPulse(db, {
      id: `pul_${uuidv7(ids)}`,
      workflowId: workflow.id,
      plannedPulseId: id,
      position,
      title,
    });
  }
}
