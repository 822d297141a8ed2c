/** What a person does with a workflow: start it, approve its plan, extend, stop, review. */
import { PulseError } from '../../../domain/errors.ts';
import { uuidv7 } from '../../../domain/ids.ts';
import { nextCommand } from '../../../domain/next-command.ts';
import { listRefs } from '../../../git/refs.ts';
import { type Repository, resolveBase } from '../../../git/repository.ts';
import type { Operations, TransactionHook } from '../../../operations/context.ts';
import { pause, type Resumed, resume } from '../../../operations/control.ts';
import type { InputOf } from '../../../operations/fields.ts';
import type { CallerOptions } from '../../../operations/operation.ts';
import { openTrustedProject } from '../../../operations/project.ts';
import { type Started, startSession } from '../../../operations/start.ts';
import { appendEvents } from '../../../store/events.ts';
import { getSession, type Session } from '../../../store/sessions.ts';
import { type Db, storeNow } from '../../../store/store.ts';
import { listBaseline } from '../baseline-rows.ts';
import type { BaselineIssue } from '../model.ts';
import { iterationsFor, type Plan, parsePlan } from '../plan.ts';
import {
  findPreflight,
  findWorkflow,
  insertWorkflow,
  listPulses,
  movePulse,
  type PreflightSetup,
  type PulseRow,
  restartPreflight,
  updateWorkflow,
  type Workflow,
} from '../rows.ts';
import type * as definitions from './definitions.ts';
import { applyEdit, insertPlanned, preparation, readEdit } from './plan.ts';

type WorkflowInput = InputOf<typeof definitions.start.fields> & CallerOptions;

export async function startWorkflow(operations: Operations, input: WorkflowInput): Promise<Started> {
  const { engine } = operations;
  const plan = input.goal === undefined ? parsePlan(input.plan) : draftOf(input.goal);
  const project = await openTrustedProject(operations, input);
  const { repository } = project;
  const { values } = project.config;
  if (values.labels.length > 0) {
    throw new PulseError('invalid_config', 'A workflow runs beside its runner: it takes no labels yet.', {
      hint: 'Take `labels` out of the config for this repository.',
    });
  }
  const { sha: base } = await mergeableBase(operations, repository, input.base ?? plan.base);
  await refuseTakenBranches(operations, repository, input.branch ?? plan.branch);
  const { checks, steps } = await preparation(operations, { root: repository.root, base, plan, values });
  const { plan: _, goal, isApproved, actor, extensions, within, ...start } = input;
  return startSession(
    operations,
    {
      ...start,
      kind: 'workflow',
      goal: goal ?? plan.title,
      base: input.base ?? plan.base,
      branch: input.branch ?? plan.branch,
      verify: [],
      maxIterations: iterationsFor(plan),
    },
    {
      project,
      hasOwnChecks: true,
      checks: {
        commands: checks.map(({ command }) => command),
        isFromConfig: plan.verify === undefined && values.verify.length > 0,
      },
      within: async (db, sessionId) => {
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
    },
  );
}

/** A workflow ends in a merge, so that it must begin at something that can be merged into. */
async function mergeableBase(
  { git }: Operations,
  { root, branch, headSha }: Repository,
  wanted: string | undefined,
): Promise<{ sha: string }> {
  const base = wanted === undefined ? { branch, sha: headSha } : await resolveBase(git, root, wanted);
  if (base.branch !== null) return base;
  const what = wanted === undefined ? 'HEAD is detached here' : `"${wanted}" is no local branch`;
  throw new PulseError(
    'invalid_input',
    `${what}: a workflow is merged into its base, which must be a branch.`,
    {
      hint: 'Name one with --base BRANCH (`base` in the plan), or switch to one first.',
    },
  );
}

/** What an earlier workflow of this name kept would stop the first pulse that needs the name, hours later. */
async function refuseTakenBranches(
  { git }: Operations,
  { root }: Repository,
  branch: string | undefined,
): Promise<void> {
  if (branch === undefined) return;
  const kept = await listRefs(git, root, `refs/heads/${branch}--*`);
  const names = kept.map(({ ref }) => ref.replace('refs/heads/', ''));
  if (names.length === 0) return;
  const named = names.slice(0, 3).join(', ');
  throw new PulseError(
    'branch_exists',
    `Branches for pulses of ${branch} exist already: ${named}${names.length > 3 ? ', …' : ''}.`,
    { hint: `Look at them, then delete them (git branch -D ${names[0]}), or name another branch.` },
  );
}

/** No pulses yet: the first thing the session does is to have them drafted. */
function draftOf(goal: string): Plan {
  if (goal.trim() === '') throw new PulseError('usage', 'The goal is empty.');
  return { title: goal.trim().split('\n')[0]!.slice(0, 200), pulses: [] };
}

interface Approved {
  id: string;
  sessionId: string;
  version: number;
  actor: string;
  /** The plan as it was before this approval edited it: nothing else keeps it. */
  replaced?: Plan;
}

async function markApproved(db: Db, { id, sessionId, version, actor, replaced }: Approved): Promise<void> {
  await updateWorkflow(db, id, { approved_at: storeNow(), approved_by: actor, plan_version: version + 1 });
  await appendEvents(db, sessionId, [
    {
      type: 'PlanCardResolved',
      data: { resolution: 'approved', actor, planVersion: version + 1, ...(replaced ? { replaced } : {}) },
    },
  ]);
}

export interface WorkflowRows {
  session: Session;
  workflow: Workflow;
  pulses: PulseRow[];
  preflight: PreflightSetup | null;
  baseline: BaselineIssue[];
}

export async function readWorkflow({ engine: { store } }: Operations, id: string): Promise<WorkflowRows> {
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
  within?: TransactionHook;
}

/** With `plan`: what has not been started is replaced by the edited plan's pulses. */
export async function approveWorkflow(
  operations: Operations,
  id: string,
  { plan: edited, ...decision }: Decision & { plan?: unknown },
): Promise<Resumed> {
  const { session, workflow: seen } = await readWorkflow(operations, id);
  const edit = edited === undefined ? null : await readEdit(operations, { session, workflow: seen, edited });
  if (!edit && seen.approved_at !== null) {
    throw new PulseError('invalid_transition', `The plan of ${session.id} is approved already.`, {
      hint: nextCommand(session, { isDriven: false })?.command,
    });
  }
  const { actor } = decision;
  return decide(operations, session, decision, async (db) => {
    const workflow = (await findWorkflow(db, session.id))!;
    const { plan_version: version } = workflow;
    if (version !== seen.plan_version) {
      throw new PulseError(
        'invalid_transition',
        `Somebody else has decided about the plan of ${session.id}.`,
        {
          hint: `pulse workflow show ${session.id} shows it as it is now.`,
        },
      );
    }
    if (edit) await applyEdit(operations, db, { session, workflow, edit });
    const replaced = edit ? workflow.plan : undefined;
    await markApproved(db, { id: workflow.id, sessionId: session.id, version, actor, replaced });
  });
}

/** The person's decision and the session's resume are one transaction. A running session just continues. */
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
  const { session, workflow, pulses: seen } = await readWorkflow(operations, id);
  const { actor } = decision;
  askingPulse(session, seen);
  return decide(operations, session, decision, async (db) => {
    const asking = askingPulse(session, await listPulses(db, workflow.id));
    const data = { pulseId: asking.id, plannedPulseId: asking.planned_pulse_id, actor };
    await movePulse(db, asking, 'running', {
      extension: null,
      ...(approve ? {} : { failure_reason: 'the extension was denied' }),
    });
    if (approve) await appendEvents(db, session.id, [{ type: 'ExtensionApproved', data }]);
  });
}

function askingPulse(session: Session, pulses: readonly PulseRow[]): PulseRow {
  const asking = pulses.find((pulse) => pulse.status === 'running' && pulse.extension !== null);
  if (asking) return asking;
  throw new PulseError('invalid_transition', `No pulse of ${session.id} asks for an extension.`, {
    hint: `pulse status ${session.id} shows what it waits for.`,
  });
}

export async function stopWorkflow(operations: Operations, id: string, decision: Decision): Promise<Session> {
  const { session } = await readWorkflow(operations, id);
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
  const { session, workflow, pulses } = await readWorkflow(operations, id);
  if (session.status === 'running' || pulses.some(({ status }) => status === 'running')) {
    throw new PulseError(
      'invalid_transition',
      'A pulse is running: its changes would become part of the baseline.',
      {
        hint: `pulse workflow stop ${session.id} first.`,
      },
    );
  }
  return decide(operations, session, decision, (db) => restartPreflight(db, workflow.id));
}
