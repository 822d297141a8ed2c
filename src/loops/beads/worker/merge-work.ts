/**
 * The merge queue: beads that were accepted, put on top of one another, and verified together. Where that is red, the
 * first one that makes it so is looked for, and those before it land. No agent takes part.
 */
import type { VerificationRecord } from '../../../domain/attempt.ts';
import { act } from '../../../engine/actions.ts';
import { unlessAborted } from '../../../engine/attempt/attempt.ts';
import type { SessionState } from '../../../engine/loop.ts';
import type { Referee } from '../../../engine/ports.ts';
import { plainBrief } from '../../../engine/runner/plain-brief.ts';
import type { AttemptCourse, AttemptEnd, PlannedRun, WorkKind, WorkRequest } from '../../../engine/work.ts';
import type { Store } from '../../../store/store.ts';
import type { Bead } from '../graph/bead.ts';
import { findBeads } from '../graph/rows.ts';
import { listEarlierChecks } from './earlier-checks.ts';
import { findCulprit, type MergeConflict, realConflicts } from './find-culprit.ts';
import { type CheckedLanding, type LandRequest, nameOwners, runLandChecks } from './land-checks.ts';
import type { Completion } from './model.ts';
import type { BeadTry } from './rows.ts';
import type { BeadsState } from './state.ts';
import { type MergeReport, type MergeWork, mergeWorkSchema, type StackedBead } from './work-data.ts';

export interface MergeWorkOptions {
  store: Store;
  referee: Referee;
  treeOf(repository: string, commit: string): Promise<string>;
}

/** So many are verified together; the others wait for the next round. */
export const MOST_AT_ONCE = 16;

export function createMergeWork(options: MergeWorkOptions): WorkKind<MergeWork> {
  return {
    kind: 'merge_beads',
    read: (stored) => mergeWorkSchema.parse(stored),
    plan: (_, request) => planMerge(request),
    composeRetryBrief: async (_, { live }) => plainBrief(live.task.task_content),
    git: ({ onto }) => ({ parent: onto, beginsClean: true, isUnit: true }),
    runsWithoutAgent: () => true,
    execute: (course) => executeMerge(course, options),
  };
}

async function planMerge({ state }: WorkRequest<BeadsState>): Promise<PlannedRun> {
  const { session, own } = state as SessionState<BeadsState>;
  const { swarm, leadHead: onto } = own;
  const batch = nextBatch(own);
  const ids = batch.map(({ bead_id: id }) => id);
  const work: MergeWork = {
    ...{ kind: 'merge_beads', projectId: swarm.project_id, onto },
    beads: batch.map(({ id: tryId, bead_id: beadId, wip_sha: change, completion }) => ({
      ...{ tryId, beadId, change: change! },
      ...(hasChangedChecks(completion) ? { changesChecks: true } : {}),
    })),
  };
  return {
    unit: `merge ${ids.join(' ')}`,
    brief: plainBrief(`${ids.join(', ')} on top of what was merged before.`),
    startSha: onto,
    part: { role: 'merge', tools: [], verifyOn: 'never', setup: session.setup, work },
    events: [{ type: 'bead.merging', data: { beads: ids, onto } }],
  };
}

/** One that may change checks is merged by itself: what it may, others may not. */
function nextBatch({ queue, open }: BeadsState): BeadTry[] {
  const mayChange = ({ bead_id: id, completion }: BeadTry): boolean =>
    hasChangedChecks(completion) || (open.find((bead) => bead.id === id)?.fields.changesChecks ?? false);
  const first = queue.findIndex(mayChange);
  return queue.slice(0, first === 0 ? 1 : Math.min(first < 0 ? MOST_AT_ONCE : first, MOST_AT_ONCE));
}

function hasChangedChecks(completion: Completion | null): boolean {
  return completion?.judgement?.trust === 'verified_checks_changed';
}

async function executeMerge(
  course: AttemptCourse<MergeWork>,
  { store, referee, treeOf }: MergeWorkOptions,
): Promise<AttemptEnd> {
  const { engine, attempt, work, signal } = course;
  const { trace, workspace } = engine;
  const { onto } = work;
  const { stack, conflicts } = await stackBeads(course);
  if (signal.aborted) return 'interrupted';
  const ids = work.beads.map(({ beadId }) => beadId);
  const { sessionId: swarmId } = attempt;
  const { projectId } = work;
  const { beads, earlier } = await store.read(async (db) => ({
    beads: await findBeads(db, projectId, ids),
    earlier: await listEarlierChecks(db, { swarmId, projectId }),
  }));
  const baseTree = () => treeOf(attempt.spec.projectPath, onto);
  const found = await unlessAborted(signal, () =>
    findCulprit(stack.length, (count) =>
      act(trace, 'verify_merge', {
        perform: () =>
          checkTogether({ course, referee }, { stack: stack.slice(0, count), beads, earlier, baseTree }),
      }),
    ),
  );
  if (found === null) return 'interrupted';
  const merged = stack.slice(0, found.good);
  const last = merged.at(-1);
  const own: MergeReport = {
    ...{
      onto,
      merged,
      conflicts: realConflicts(conflicts, found.good),
      judgement: found.goodCheck?.judgement ?? null,
      outdated: found.goodCheck?.outdated,
    },
    culprit: found.badCheck && { bead: stack[found.good]!, reasons: found.badCheck.reasons },
  };
  // What comes back to its worker must be found as well.
  const kept = own.culprit?.bead.commit ?? last?.commit;
  if (kept) await act(trace, 'publish', { perform: () => workspace.publish(attempt, kept) });
  const verification: VerificationRecord[] = (found.goodCheck ?? found.badCheck)?.records ?? [];
  const made = { commit: last?.commit ?? null, tree: last?.tree ?? null, files: filesOf(merged) };
  return course.report({ ...course.emptyResult(null), own, ...made, verification });
}

function filesOf(merged: readonly StackedBead[]): string[] {
  return [...new Set(merged.flatMap(({ files }) => files))].toSorted();
}

/** Each on the one before. One that does not fit is left out. */
async function stackBeads({
  engine,
  attempt,
  work,
  signal,
}: AttemptCourse<MergeWork>): Promise<{ stack: StackedBead[]; conflicts: MergeConflict[] }> {
  const stack: StackedBead[] = [];
  const conflicts: MergeConflict[] = [];
  for (const { tryId, beadId, change } of work.beads) {
    if (signal.aborted) break;
    const on = { parent: stack.at(-1)?.commit ?? work.onto, trailers: { 'Pulse-Bead': beadId } };
    const unit = await act(engine.trace, 'commit', {
      perform: () => engine.workspace.commitAgain(attempt, change, on),
    });
    if (unit?.commit) stack.push({ tryId, commit: unit.commit, tree: unit.tree, files: unit.files });
    else conflicts.push({ tryId, on: stack.length });
  }
  return { stack, conflicts };
}

interface Checking {
  course: AttemptCourse<MergeWork>;
  referee: Referee;
}

interface Together extends Pick<LandRequest, 'earlier' | 'baseTree'> {
  stack: readonly StackedBead[];
  beads: readonly Bead[];
}

/** What verifies any of them, or has verified those before them, holds on the tree that has all of them. */
async function checkTogether(
  { course, referee }: Checking,
  { stack, beads, ...land }: Together,
): Promise<CheckedLanding> {
  const { attempt, work, signal } = course;
  const planned = stack.map(({ tryId }) => work.beads.find((one) => one.tryId === tryId)!);
  const merged = planned.flatMap(({ beadId }) => beads.find(({ id }) => id === beadId) ?? []);
  const checks = merged.flatMap(({ id, title, fields }) =>
    (fields.verify ?? []).map((check) => ({ ...check, whose: `${id} (${title})` })),
  );
  const checked = await runLandChecks(referee, attempt, {
    ...{ tree: stack.at(-1)!.tree, baseSha: work.onto, declared: [], signal, ...land },
    checks,
    // Each was judged for itself before it came here.
    changesChecks:
      planned.some((one) => one.changesChecks) || merged.some(({ fields }) => fields.changesChecks),
  });
  return { ...checked, reasons: nameOwners(checked.reasons, checks) };
}
