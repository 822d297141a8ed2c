/** A bead that was accepted, put on top of what was merged meanwhile, and verified there. No agent takes part. */
import { act } from '../../../engine/actions.ts';
import { unlessAborted } from '../../../engine/attempt/attempt.ts';
import type { SessionState } from '../../../engine/loop.ts';
import type { Referee } from '../../../engine/ports.ts';
import { plainBrief } from '../../../engine/runner/plain-brief.ts';
import type { AttemptCourse, AttemptEnd, PlannedRun, WorkKind, WorkRequest } from '../../../engine/work.ts';
import type { Store } from '../../../store/store.ts';
import { findBead } from '../graph/rows.ts';
import { runBeadChecks } from './bead-checks.ts';
import { MERGE_UNIT } from './decide.ts';
import { commitSubject } from './model.ts';
import type { BeadsState } from './state.ts';
import { type MergeReport, type MergeWork, mergeWorkSchema } from './work-data.ts';

export interface MergeWorkOptions {
  store: Store;
  referee: Referee;
}

export function createMergeWork(options: MergeWorkOptions): WorkKind<MergeWork> {
  return {
    kind: 'merge_bead',
    read: (stored) => mergeWorkSchema.parse(stored),
    plan: (_, request) => planMerge(request),
    composeRetryBrief: async (_, { live }) => plainBrief(live.task.task_content),
    git: ({ onto, beadId }) => ({
      parent: onto,
      beginsClean: true,
      isUnit: true,
      trailers: { 'Pulse-Bead': beadId },
    }),
    message: ({ work }) => ({ subject: commitSubject({ id: work.beadId, type: work.type }, work.summary) }),
    runsWithoutAgent: () => true,
    execute: (course) => executeMerge(course, options),
  };
}

async function planMerge({ state }: WorkRequest<BeadsState>): Promise<PlannedRun> {
  const { session, own } = state as SessionState<BeadsState>;
  const { swarm, leadHead } = own;
  const { try: one, bead } = own.current!;
  const work: MergeWork = {
    ...{ kind: 'merge_bead', tryId: one.id, beadId: bead.id, type: bead.type },
    ...{ projectId: swarm.project_id, feature: swarm.feature, summary: one.completion!.summary },
    ...{ change: one.wip_sha!, onto: leadHead },
  };
  return {
    unit: `${MERGE_UNIT}${bead.id}`,
    brief: plainBrief(`${bead.id} again, on top of what was merged meanwhile.`),
    startSha: leadHead,
    part: { role: 'merge', tools: [], verifyOn: 'never', setup: session.setup, work },
    events: [{ type: 'bead.merging', data: { bead: bead.id, onto: leadHead } }],
  };
}

async function executeMerge(
  course: AttemptCourse<MergeWork>,
  { store, referee }: MergeWorkOptions,
): Promise<AttemptEnd> {
  const { engine, attempt, work, signal } = course;
  const { trace, workspace } = engine;
  const setupFailure = await course.setUp();
  if (signal.aborted) return 'interrupted';
  if (setupFailure) return course.report(course.emptyResult(setupFailure));
  const unit = await act(trace, 'commit', { perform: () => workspace.commitAgain(attempt, work.change) });
  const empty = course.emptyResult(null);
  const { onto } = work;
  if (!unit?.commit) {
    const own: MergeReport = { onto, conflict: true, files: [], reasons: [], judgement: null };
    return course.report({ ...empty, own });
  }
  const { commit, tree, files } = unit;
  await act(trace, 'publish', { perform: () => workspace.publish(attempt, commit) });
  const bead = await store.read((db) => findBead(db, work.projectId, work.beadId));
  const checked = await unlessAborted(signal, () =>
    act(trace, 'verify_merge', {
      perform: () =>
        runBeadChecks(referee, attempt, {
          ...{ tree, baseSha: onto, checks: bead?.fields.verify ?? [], declared: [], signal },
          changesChecks: bead?.fields.changesChecks,
        }),
    }),
  );
  if (checked === null) return 'interrupted';
  const { reasons, judgement, records } = checked;
  const own: MergeReport = { onto, conflict: false, files, reasons, judgement };
  return course.report({ ...empty, own, commit, tree, files, verification: records });
}
