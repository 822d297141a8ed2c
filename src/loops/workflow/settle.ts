/** What settling a workflow's iteration writes beyond a goal's: the pulse's row, preflight's rows and the baseline. */
import { isDeepStrictEqual } from 'node:util';
import type { AttemptResult, AttemptSpec } from '../../domain/attempt.ts';
import type { NewEvent } from '../../domain/events.ts';
import { type IdSource, uuidv7 } from '../../domain/ids.ts';
import type { Settling } from '../../engine/loop.ts';
import { updateSession } from '../../store/sessions.ts';
import { type Db, storeNow, toJson } from '../../store/store.ts';
import { raiseBaseline, replaceBaseline } from './baseline-rows.ts';
import { PREFLIGHT_UNIT, setupCommands, setupSteps } from './model.ts';
import { iterationsFor, type Plan } from './plan.ts';
import { forgetRecorded } from './recorded-issues.ts';
import {
  endPreflight,
  findWorkflow,
  insertPulse,
  movePulse,
  restartPreflight,
  updateWorkflow,
  type Workflow,
} from './rows.ts';
import type { PulseChange, WorkflowChange, WorkflowState } from './state.ts';
import { preflightWorkSchema, readPreflightReport, readRun } from './work-data.ts';

/** All of them are in the workflow's row. */
const ARTIFACTS_TOLD = 100;

function verdictEvents(change: WorkflowChange | undefined, { workflow }: WorkflowState): readonly NewEvent[] {
  const { approved_at: at, approved_by: actor, plan_version: version } = workflow;
  if (!change) return [];
  if ('pulse' in change) return change.pulse.events;
  // A person said yes before the plan was drafted.
  if (at) {
    const data = { resolution: 'approved', actor, planVersion: version + 1 };
    return [{ type: 'PlanCardResolved', data }];
  }
  return [];
}

function preflightEvents(result: AttemptResult): NewEvent[] {
  const preflight = readPreflightReport(result);
  if (!preflight) return [];
  const { error, summary, setupCommands: commands, buildSuccess, baseline, artifacts } = preflight;
  if (error !== null) return [{ type: 'preflight.failed', data: { error } }];
  const data = {
    summary,
    setupCommands: commands,
    buildSuccess,
    baselinesRecorded: baseline.length,
    artifacts: artifacts.slice(0, ARTIFACTS_TOLD),
  };
  return [{ type: 'preflight.completed', data }];
}

type Settlement = Settling<WorkflowState> & { ids: IdSource };

/** In the transaction that settles the iteration. Returns what is told with it. */
export async function settleWorkflow(db: Db, settlement: Settlement): Promise<readonly NewEvent[]> {
  const { state, result, verdict, ids, live } = settlement;
  const change = verdict.change as WorkflowChange | undefined;
  const events = verdictEvents(change, state.own);
  if (!change) {
    const isPreflight = live.iteration.unit === PREFLIGHT_UNIT;
    if (isPreflight) await settlePreflight(db, settlement);
    return isPreflight ? preflightEvents(result) : events;
  }
  if ('pulse' in change) await settlePulse(db, settlement, change.pulse);
  else await settlePlan(db, { sessionId: state.session.id, plan: change.plan, ids });
  return events;
}

async function settlePulse(
  db: Db,
  { state, result, ids }: Settlement,
  { pulse, to, patch }: PulseChange,
): Promise<void> {
  const ended = to === 'running' ? {} : { ended_at: storeNow() };
  await movePulse(db, pulse, to, { ...patch, ...ended });
  if (to !== 'succeeded') return;
  for (const issue of readRun(result).completion?.leftOver ?? [])
    await raiseBaseline(db, state.own.workflow.id, { ...issue, id: `bas_${uuidv7(ids)}` });
}

async function settlePreflight(db: Db, { state, result, ids, live }: Settlement): Promise<void> {
  const { workflow } = state.own;
  const { setupFailure, run } = result;
  const preflight = readPreflightReport(result);
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
function isOfPlan({ work: stored, setup }: AttemptSpec, { checks, setup_steps: steps }: Workflow): boolean {
  const work = preflightWorkSchema.parse(stored);
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
