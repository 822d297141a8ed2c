/** How a plan becomes rows, at the start and when it is edited, and what prepares and checks its worktree. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../../config.ts';
import { PulseError } from '../../../domain/errors.ts';
import { uuidv7 } from '../../../domain/ids.ts';
import { listCommitFiles, readCommitFiles } from '../../../git/commit-files.ts';
import { commandOf } from '../../../operations/check-choices.ts';
import type { Operations } from '../../../operations/context.ts';
import { configOfSession } from '../../../operations/project.ts';
import { isRead, isSeen, viewOfTexts, type WorktreeView } from '../../../project/detect/worktree.ts';
import { detectPreflight } from '../../../project/detect.ts';
import { type Session, updateSession } from '../../../store/sessions.ts';
import { type Db, toJson } from '../../../store/store.ts';
import { type Check, type SetupStep, setupSteps } from '../model.ts';
import { iterationsFor, type Plan, parsePlan } from '../plan.ts';
import {
  insertPulse,
  listPulses,
  type PulseRow,
  removeProposedPulses,
  restartPreflight,
  updateWorkflow,
  type Workflow,
} from '../rows.ts';

export interface Preparation {
  checks: Check[];
  /** `null`: an agent finds out. */
  steps: SetupStep[] | null;
}

/** What the plan and the config say; else what the files of the base say for certain; else an agent finds out. */
export async function preparation(
  operations: Operations,
  { root, base, plan, values }: { root: string; base: string; plan: Plan; values: Config['values'] },
): Promise<Preparation> {
  const given = plan.preflight ?? values.setup;
  const steps = given && setupSteps(given);
  const named =
    plan.verify ??
    (values.verify.length > 0
      ? values.verify.map((check): Check => ({ command: commandOf(check), source: 'Test' }))
      : undefined);
  if (steps && named) return { checks: named, steps };
  const found = detectPreflight(await viewOfCommit(operations, { root, sha: base }));
  const certain = found.certain ? found.steps.map(({ command, cwd }) => ({ command, cwd })) : null;
  return { checks: named ?? found.verify.map(checkOf), steps: steps ?? certain };
}

/** The base as its worktree will be, not the user's checkout. */
async function viewOfCommit(
  { git }: Operations,
  { root, sha }: { root: string; sha: string },
): Promise<WorktreeView> {
  const files = (await listCommitFiles(git, root, sha)).filter(({ path }) => isSeen(path));
  const texts = await readCommitFiles(
    git,
    root,
    files.filter(({ path }) => isRead(path)),
  );
  return viewOfTexts(
    files.map(({ path }) => path),
    texts,
  );
}

function checkOf({ command, source, scope }: ReturnType<typeof detectPreflight>['verify'][number]): Check {
  return { command, source, ...(scope === undefined ? {} : { scope }) };
}

export async function insertPlanned(
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

/** Rows whose id the plan does not have are what reviews asked for: an edit can neither drop nor replace them. */
function isOfReview({ plan }: Workflow, pulse: PulseRow): boolean {
  return !plan.pulses.some(({ id }) => id === pulse.planned_pulse_id);
}

/** The next of `review-1`, `review-2`, … that neither the plan nor an earlier review has taken. */
export function reviewPulseId({ plan }: Workflow, pulses: readonly PulseRow[]): string {
  const taken = new Set([
    ...plan.pulses.map(({ id }) => id),
    ...pulses.map((pulse) => pulse.planned_pulse_id),
  ]);
  let number = 1;
  while (taken.has(`review-${number}`)) number += 1;
  return `review-${number}`;
}

export interface PlanEdit extends Preparation {
  plan: Plan;
}

/** Throws `invalid_plan`. What only the store can say is looked at in `applyEdit`. */
export async function readEdit(
  operations: Operations,
  { session, workflow, edited }: { session: Session; workflow: Workflow; edited: unknown },
): Promise<PlanEdit> {
  const plan = parsePlan(edited);
  const { project_path: root, base_sha: base, base_branch, branch_name } = session;
  const before = workflow.plan;
  const moved = [
    ...(isOther(plan.base, [before.base, base_branch]) ? ['base'] : []),
    ...(isOther(plan.branch, [before.branch, branch_name]) ? ['branch'] : []),
  ];
  if (moved.length > 0) {
    throw new PulseError('invalid_plan', `The edited plan has another ${moved.join(' and ')}.`, {
      hint: 'Where a workflow begins and what it works on stay as they are; start another one.',
    });
  }
  const hasSameChecks = isDeepStrictEqual(plan.verify, before.verify);
  const hasSameSetup = isDeepStrictEqual(plan.preflight, before.preflight);
  const kept: Preparation = { checks: workflow.checks, steps: workflow.setup_steps };
  if (hasSameChecks && hasSameSetup) return { plan, ...kept };
  const { values } = await configOfSession(operations, session);
  const fresh = await preparation(operations, { root, base, plan, values });
  return {
    plan,
    checks: hasSameChecks ? kept.checks : fresh.checks,
    steps: hasSameSetup ? kept.steps : fresh.steps,
  };
}

function isOther(given: string | undefined, known: readonly (string | null | undefined)[]): boolean {
  return given !== undefined && !known.includes(given);
}

/**
 * In the transaction of the decision, on the rows as they are in it: a pulse may have been started since the plan was
 * read. Checks or setup that are new need a baseline of their own before the next pulse.
 */
export async function applyEdit(
  operations: Operations,
  db: Db,
  { session, workflow, edit }: { session: Session; workflow: Workflow; edit: PlanEdit },
): Promise<void> {
  const { plan, checks, steps } = edit;
  const pulses = await listPulses(db, workflow.id);
  refuseLateChanges({ workflow, pulses, plan });
  const isReplaced = (pulse: PulseRow): boolean =>
    pulse.status === 'proposed' && !isOfReview(workflow, pulse);
  await removeProposedPulses(
    db,
    pulses.filter(isReplaced).map(({ id }) => id),
  );
  const left = pulses.filter((pulse) => !isReplaced(pulse));
  await insertPlanned(operations, db, {
    workflowId: workflow.id,
    plan,
    from: Math.max(-1, ...left.map(({ position }) => position)) + 1,
    known: left.map((pulse) => pulse.planned_pulse_id),
  });
  await updateWorkflow(db, workflow.id, {
    plan: toJson(plan),
    title: plan.title,
    checks: toJson(checks),
    setup_steps: steps && toJson(steps),
  });
  await updateSession(db, session.id, {
    max_iterations: Math.max(session.max_iterations, iterationsFor(plan)),
  });
  const isPrepared = isDeepStrictEqual(
    { checks, steps },
    { checks: workflow.checks, steps: workflow.setup_steps },
  );
  if (!isPrepared) await restartPreflight(db, workflow.id);
}

/** A pulse that has been started is as it was approved; what a review asked for keeps its name. */
function refuseLateChanges({
  workflow,
  pulses,
  plan,
}: {
  workflow: Workflow;
  pulses: readonly PulseRow[];
  plan: Plan;
}): void {
  const planned = new Map(plan.pulses.map((pulse) => [pulse.id, pulse]));
  const before = new Map(workflow.plan.pulses.map((pulse) => [pulse.id, pulse]));
  const idsOf = (rows: readonly PulseRow[]): string[] => [
    ...new Set(rows.map((row) => row.planned_pulse_id)),
  ];
  const started = idsOf(
    pulses.filter((pulse) => pulse.status !== 'proposed' && !isOfReview(workflow, pulse)),
  );
  const gone = started.filter((id) => !planned.has(id));
  const changed = started.filter(
    (id) => planned.has(id) && !isDeepStrictEqual(planned.get(id), before.get(id)),
  );
  const taken = idsOf(pulses.filter((pulse) => isOfReview(workflow, pulse))).filter((id) => planned.has(id));
  const faults = [
    ...(gone.length > 0 ? [`leaves out pulses that have been started: ${gone.join(', ')}`] : []),
    ...(changed.length > 0 ? [`changes pulses that have been started: ${changed.join(', ')}`] : []),
    ...(taken.length > 0 ? [`has ids that a review's pulses have: ${taken.join(', ')}`] : []),
  ];
  if (faults.length === 0) return;
  throw new PulseError('invalid_plan', `The edited plan ${faults.join('; it ')}.`, {
    hint: 'Only pulses that are still proposed can be changed or taken out.',
    data: { violations: faults },
  });
}

/** Other checks or another setup: both need a baseline of their own. */
export async function prepareAgain(db: Db, id: string, { checks, steps }: Preparation): Promise<void> {
  await updateWorkflow(db, id, { checks: toJson(checks), setup_steps: steps && toJson(steps) });
  await restartPreflight(db, id);
}
