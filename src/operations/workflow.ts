/** What a person does with a workflow: start it, approve its plan, extend, stop, review (contract 3). */

import { readWorktree } from '../baselines/detect/worktree.ts';
import { detectPreflight } from '../baselines/detect.ts';
import { type Config, loadConfig } from '../config.ts';
import { PulseError } from '../domain/errors.ts';
import { uuidv7 } from '../domain/ids.ts';
import { type Plan, parsePlan } from '../domain/plan.ts';
import type { BaselineIssue, Check, SetupStep } from '../domain/workflow.ts';
import { openRepository } from '../git/repository.ts';
import { appendEvents } from '../store/events.ts';
import { getSession, type Session } from '../store/sessions.ts';
import { type Db, storeNow, toJson } from '../store/store.ts';
import {
  findPreflight,
  findWorkflow,
  insertPulse,
  insertWorkflow,
  listBaseline,
  listPulses,
  movePulse,
  type PreflightSetup,
  type PulseRow,
  removeProposedPulses,
  restartPreflight,
  updateWorkflow,
  type Workflow,
} from '../store/workflows.ts';
import type { Operations, Within } from './context.ts';
import { pause, type Resumed, resume } from './control.ts';
import { type StartInput, type StartNotes, startSession } from './start.ts';

const RUNS_PER_PULSE = 10;

export interface WorkflowInput extends Omit<StartInput, 'goal' | 'kind' | 'verify' | 'maxIterations'> {
  /** What YAML or JSON gave. */
  plan?: unknown;
  /** Instead of a plan: an agent drafts one for it, which then waits for approval. */
  goal?: string;
  /** Approves the plan at once. */
  isApproved?: boolean;
  actor: string;
  extensions?: 'auto' | 'ask';
}

export async function startWorkflow(
  operations: Operations,
  input: WorkflowInput,
  within?: Within,
): Promise<{ session: Session; notes: StartNotes }> {
  const { engine, git, environment } = operations;
  const plan = input.goal === undefined ? parsePlan(input.plan) : draftOf(input.goal);
  const repository = await openRepository(git, input.path);
  const { values } = await loadConfig(repository.root, environment);
  if (values.labels.length > 0) {
    throw new PulseError('invalid_config', 'A workflow runs beside its runner: it takes no labels yet.', {
      hint: 'Take `labels` out of the config for this repository.',
    });
  }
  const { checks, steps } = await preparation(repository.root, { plan, values });
  const { plan: _, goal, isApproved, actor, extensions, ...start } = input;
  return startSession(
    operations,
    {
      ...start,
      kind: 'workflow',
      goal: goal ?? plan.title,
      base: input.base ?? plan.base,
      branch: input.branch ?? plan.branch,
      verify: [],
      // A draft's pulses are not known yet.
      maxIterations: Math.max(plan.pulses.length, 10) * RUNS_PER_PULSE + 1,
    },
    async (db, sessionId) => {
      const id = `wfl_${uuidv7(engine.ids)}`;
      await insertWorkflow(db, {
        id,
        sessionId,
        plan,
        checks,
        setupSteps: steps,
        extensions: extensions ?? 'auto',
      });
      await insertPlanned(operations, db, { workflowId: id, plan, from: 0 });
      if (isApproved && goal === undefined) await markApproved(db, { id, sessionId, version: 0, actor });
      // Said before there is a plan: it counts, and is told, once there is one.
      else if (isApproved) await updateWorkflow(db, id, { approved_at: storeNow(), approved_by: actor });
      await within?.(db, sessionId);
    },
  );
}

/** No pulses yet: the first thing the session does is to have them drafted. */
function draftOf(goal: string): Plan {
  if (goal.trim() === '') throw new PulseError('usage', 'The goal is empty.');
  return { title: goal.trim().split('\n')[0]!.slice(0, 200), pulses: [] };
}

/** What the plan and the config say; else what the files say for certain; else (`steps: null`) an agent finds out. */
async function preparation(
  root: string,
  { plan, values }: { plan: Plan; values: Config['values'] },
): Promise<{ checks: Check[]; steps: SetupStep[] | null }> {
  const given = (plan.preflight ?? values.setup)?.map((command): SetupStep => ({ command, cwd: '.' }));
  const named =
    plan.verify ??
    (values.verify.length > 0
      ? values.verify.map((command): Check => ({ command, source: 'Test' }))
      : undefined);
  if (given && named) return { checks: named, steps: given };
  const found = detectPreflight(await readWorktree(root));
  const steps = given ?? (found.certain ? found.steps.map(({ command, cwd }) => ({ command, cwd })) : null);
  return { checks: named ?? found.verify.map(checkOf), steps };
}

function checkOf({ command, source, scope }: ReturnType<typeof detectPreflight>['verify'][number]): Check {
  return { command, source, ...(scope === undefined ? {} : { scope }) };
}

async function insertPlanned(
  { engine }: Operations,
  db: Db,
  {
    workflowId,
    plan,
    from,
    known = [],
  }: { workflowId: string; plan: Plan; from: number; known?: readonly string[] },
): Promise<void> {
  const fresh = plan.pulses.filter(({ id }) => !known.includes(id));
  for (const [index, { id, title }] of fresh.entries()) {
    await insertPulse(db, {
      id: `pul_${uuidv7(engine.ids)}`,
      workflowId,
      plannedPulseId: id,
      position: from + index,
      title,
    });
  }
}

async function markApproved(
  db: Db,
  { id, sessionId, version, actor }: { id: string; sessionId: string; version: number; actor: string },
): Promise<void> {
  await updateWorkflow(db, id, { approved_at: storeNow(), approved_by: actor, plan_version: version + 1 });
  await appendEvents(db, sessionId, [
    { type: 'PlanCardResolved', data: { resolution: 'approved', actor, planVersion: version + 1 } },
  ]);
}

export interface WorkflowView {
  session: Session;
  workflow: Workflow;
  pulses: PulseRow[];
  preflight: PreflightSetup | null;
  baseline: BaselineIssue[];
}

export async function viewWorkflow({ engine: { store } }: Operations, id: string): Promise<WorkflowView> {
  return store.read(async (db) => {
    const session = await getSession(db, id);
    const workflow = await findWorkflow(db, session.id);
    if (!workflow) {
      throw new PulseError(
        'invalid_input',
        `Session ${session.id} is no workflow: it is of kind ${session.kind}.`,
        {
          hint: '`pulse workflow start PLAN` starts one.',
        },
      );
    }
    return {
      session,
      workflow,
      pulses: await listPulses(db, workflow.id),
      preflight: await findPreflight(db, workflow.id),
      baseline: await listBaseline(db, workflow.id),
    };
  });
}

/** Who decided; `within` is written with the decision or not at all. */
export interface Decision {
  actor: string;
  within?: Within;
}

/** With `plan`: what has not been started is replaced by the edited plan's pulses. */
export async function approveWorkflow(
  operations: Operations,
  id: string,
  { plan: edited, ...decision }: Decision & { plan?: unknown },
): Promise<Resumed> {
  const { session, workflow, pulses } = await viewWorkflow(operations, id);
  const plan = edited === undefined ? null : editedPlan(edited, { workflow, pulses });
  if (!plan && workflow.approved_at !== null) {
    throw new PulseError('invalid_transition', `The plan of ${session.id} is approved already.`, {
      hint: isWaitingForReview(session, pulses)
        ? `pulse workflow review ${session.id} --approve merges it.`
        : `pulse resume ${session.id} goes on with it.`,
    });
  }
  const { actor } = decision;
  return decide(operations, session, decision, async (db) => {
    if (plan) {
      await removeProposedPulses(db, workflow.id);
      const started = pulses.filter(({ status }) => status !== 'proposed');
      await insertPlanned(operations, db, {
        workflowId: workflow.id,
        plan,
        from: Math.max(-1, ...started.map(({ position }) => position)) + 1,
        known: started.map((pulse) => pulse.planned_pulse_id),
      });
      await updateWorkflow(db, workflow.id, {
        plan: toJson(plan),
        title: plan.title,
        ...(plan.verify ? { checks: toJson(plan.verify) } : {}),
      });
    }
    await markApproved(db, { id: workflow.id, sessionId: session.id, version: workflow.plan_version, actor });
  });
}

function editedPlan(value: unknown, { pulses }: { workflow: Workflow; pulses: readonly PulseRow[] }): Plan {
  const plan = parsePlan(value);
  const kept = new Set(plan.pulses.map(({ id }) => id));
  const gone = pulses.filter((pulse) => pulse.status !== 'proposed' && !kept.has(pulse.planned_pulse_id));
  if (gone.length === 0) return plan;
  const ids = [...new Set(gone.map((pulse) => pulse.planned_pulse_id))].join(', ');
  throw new PulseError('invalid_plan', `The edited plan leaves out pulses that have been started: ${ids}.`, {
    hint: 'Only pulses that are still proposed can be changed or taken out.',
  });
}

/** The person's decision and the session's going on are one transaction. A running session just goes on. */
export async function decide(
  operations: Operations,
  session: Session,
  { actor, within }: Decision,
  change: (db: Db) => Promise<void>,
): Promise<Resumed> {
  const work = async (db: Db): Promise<void> => {
    await change(db);
    await within?.(db, session.id);
  };
  if (session.status === 'running' || session.status === 'pending') {
    const { store, bell } = operations.engine;
    await store.tx('decide', work, { session: session.id });
    bell.ring(session.id);
    return resume(operations, session.id, { actor });
  }
  return resume(operations, session.id, { actor, isDecided: true, within: work });
}

export async function decideExtension(
  operations: Operations,
  id: string,
  { approve, ...decision }: Decision & { approve: boolean },
): Promise<Resumed> {
  const { session, pulses } = await viewWorkflow(operations, id);
  const asking = pulses.find((pulse) => pulse.status === 'running' && pulse.extension !== null);
  if (!asking) {
    throw new PulseError('invalid_transition', `No pulse of ${session.id} asks for an extension.`, {
      hint: `pulse status ${session.id} shows what it waits for.`,
    });
  }
  const { actor } = decision;
  const data = { pulseId: asking.id, plannedPulseId: asking.planned_pulse_id, actor };
  return decide(operations, session, decision, async (db) => {
    await movePulse(db, asking, 'running', {
      extension: null,
      ...(approve ? {} : { failure_reason: 'the extension was denied' }),
    });
    if (approve) await appendEvents(db, session.id, [{ type: 'ExtensionApproved', data }]);
  });
}

export async function stopWorkflow(operations: Operations, id: string, decision: Decision): Promise<Session> {
  const { session } = await viewWorkflow(operations, id);
  return pause(operations, session.id, { ...decision, now: true });
}

/** All its pulses are done, and a person has the next word. */
export function isWaitingForReview({ status, stop_reason }: Session, pulses: readonly PulseRow[]): boolean {
  const newest = new Map(pulses.map((pulse) => [pulse.planned_pulse_id, pulse]));
  const isDone = [...newest.values()].every((pulse) => pulse.status === 'succeeded');
  return status === 'blocked' && stop_reason === 'approval_required' && isDone;
}

/** The next thing the session does is to look again at what was there before. */
export async function refreshBaseline(
  operations: Operations,
  id: string,
  decision: Decision,
): Promise<Resumed> {
  const { session, workflow, pulses } = await viewWorkflow(operations, id);
  if (session.status === 'running' || pulses.some(({ status }) => status === 'running')) {
    throw new PulseError(
      'invalid_transition',
      'A pulse is in hand: its changes would become part of the baseline.',
      {
        hint: `pulse workflow stop ${session.id} first.`,
      },
    );
  }
  return decide(operations, session, decision, (db) => restartPreflight(db, workflow.id));
}
