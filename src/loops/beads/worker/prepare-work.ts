/** The lead's own checkout, set up once: workers get copies of what setup made there. No agent ever works in it. */
import type { SessionState } from '../../../engine/loop.ts';
import type { Referee } from '../../../engine/ports.ts';
import { plainBrief } from '../../../engine/runner/plain-brief.ts';
import type { AttemptCourse, AttemptEnd, PlannedRun, WorkKind, WorkRequest } from '../../../engine/work.ts';
import type { BeadsState } from './state.ts';
import { type PrepareWork, prepareWorkSchema } from './work-data.ts';

export function createPrepareWork({ referee }: { referee: Referee }): WorkKind<PrepareWork> {
  return {
    kind: 'prepare_swarm',
    read: (stored) => prepareWorkSchema.parse(stored),
    plan: (_, request) => planPrepare(request),
    composeRetryBrief: async (_, { live }) => plainBrief(live.task.task_content),
    git: () => ({ beginsClean: true }),
    runsWithoutAgent: () => true,
    execute: (course) => executePrepare(course, referee),
  };
}

async function planPrepare({ state }: WorkRequest<BeadsState>): Promise<PlannedRun> {
  const { session, own } = state as SessionState<BeadsState>;
  const work: PrepareWork = { kind: 'prepare_swarm' };
  return {
    unit: 'prepare',
    brief: plainBrief('A checkout that the workers start from.'),
    startSha: own.leadHead,
    part: { role: 'setup', tools: [], verifyOn: 'never', setup: session.setup, work },
  };
}

async function executePrepare(course: AttemptCourse<PrepareWork>, referee: Referee): Promise<AttemptEnd> {
  const { attempt, signal } = course;
  const setupFailure = await course.setUp();
  if (signal.aborted) return 'interrupted';
  // The room of the merge queue begins with the same.
  const { worktreePath: source, startSha: baseSha } = attempt.spec;
  const failure =
    setupFailure ?? (await referee.readBase(attempt, { source, commands: [], baseSha, signal }));
  if (signal.aborted) return 'interrupted';
  return course.report(course.emptyResult(failure));
}
