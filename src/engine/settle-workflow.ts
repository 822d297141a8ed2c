/** What settling a workflow's iteration writes beyond a goal's: the pulse's row, preflight's rows and the baseline. */
import { isDeepStrictEqual } from 'node:util';
import type { AttemptResult, AttemptSpec } from '../domain/attempt.ts';
import type { NewEvent } from '../domain/events.ts';
import { type IdSource, uuidv7 } from '../domain/ids.ts';
import { iterationsFor, type Plan } from '../domain/plan.ts';
import { PREFLIGHT_UNIT, setupCommands, setupSteps } from '../domain/workflow.ts';
import { raiseBaseline, replaceBaseline } from '../store/baselines.ts';
import { forgetRecorded } from '../store/recorded-issues.ts';
import { updateSession } from '../store/sessions.ts';
import { type Db, storeNow, toJson } from '../store/store.ts';
import {
  endPreflight,
  findWorkflow,
  insertPulse,
  movePulse,
  restartPreflight,
  updateWorkflow,
  type Workflow,
} from '../store/workflows.ts';
import type { LiveIteration, SessionState, Verdict } from './loop.ts';

/** All of them are in the workflow's row. */
const ARTIFACTS_TOLD = 100;

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
  const { summary, setupCommands: commands, buildSuccess, baseline, artifacts } = preflight!;
  const data = {
    summary,
    setupCommands: commands,
    buildSuccess,
    baselinesRecorded: baseline.length,
    artifacts: artifacts.slice(0, ARTIFACTS_TOLD),
  };
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
    live,
  }: {
    state: SessionState;
    result: AttemptResult;
    verdict: Verdict;
    ids: IdSource;
    live: LiveIteration;
  },
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
  if (verdict.plan) return settlePlan(db, { sessionId: state.session.id, plan: verdict.plan, ids });
  if (live.iteration.unit !== PREFLIGHT_UNIT) return;
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
  if (error !== null || !preflight) return forgetRecorded(db, workflow.id);
  await replaceBaseline(
    db,
    workflow.id,
    preflight.baseline.map((issue) => ({ ...issue, id: `bas_${uuidv7(ids)}` })),
  );
  await updateWorkflow(db, workflow.id, { artifacts: toJson(preflight.artifacts) });
  const now = await findWorkflow(db, state.session.id);
  if (!isOfPlan(live.task.spec, now!)) await restartPreflight(db, workflow.id);
}

/** Whether it prepared and checked what the plan asks for, which may have been edited meanwhile. */
function isOfPlan({ work, setup }: AttemptSpec, { checks, setup_steps: steps }: Workflow): boolean {
  if (work?.kind !== 'preflight') return true;
  return (
    isDeepStrictEqual(work.checks, checks) &&
    work.isByAgent === (steps === null) &&
    isDeepStrictEqual(setup, setupCommands(steps ?? []))
  );
}

/** What was drafted waits for approval; a plan that a person gave meanwhile counts instead. */
async function settlePlan(
  db: Db,
  { sessionId, plan, ids }: { sessionId: string; plan: Plan; ids: IdSource },
): Promise<void> {
  const workflow = (await findWorkflow(db, sessionId))!;
  if (workflow.plan.pulses.length > 0) return;
  await updateWorkflow(db, workflow.id, {
    plan: toJson(plan),
    title: plan.title,
    ...(plan.verify ? { checks: toJson(plan.verify) } : {}),
    ...(plan.preflight ? { setup_steps: toJson(setupSteps(plan.preflight)) } : {}),
    ...(workflow.approved_at === null ? {} : { plan_version: workflow.plan_version + 1 }),
  });
  await updateSession(db, sessionId, { max_iterations: iterationsFor(plan) });
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
