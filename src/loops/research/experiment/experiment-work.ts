/** An experiment's run: one change, measured against the best and decided by Pulse. */
import type { RunReport } from '../../../domain/attempt.ts';
import { summaryBy } from '../../../domain/summary.ts';
import { act } from '../../../engine/actions.ts';
import { unlessAborted } from '../../../engine/attempt/attempt.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { HeldAttempt } from '../../../engine/ports.ts';
import { describeInterruption, plainBrief } from '../../../engine/runner/plain-brief.ts';
import type {
  AttemptCourse,
  AttemptEnd,
  Finding,
  PlannedRun,
  WorkKind,
  WorkRequest,
} from '../../../engine/work.ts';
import { appendEvents } from '../../../store/events.ts';
import type { ExperimentRequest } from '../decide.ts';
import { triedBefore } from '../ideas/tried-idea.ts';
import {
  type MeasureReport,
  type MeasureRequest,
  type Measurer,
  NOTHING_MEASURED,
} from '../measure/measure.ts';
import { countExperiments, insertExperiment, isOvertaken, updateExperiment } from '../rows.ts';
import type { ResearchState } from '../state.ts';
import { type ExperimentWork, experimentWorkSchema, readIdea } from '../work-data.ts';
import type { ComposeExperimentBrief } from './experiment-brief.ts';
import { createExperimentProtocol, type ExperimentProtocolOptions } from './experiment-protocol.ts';

const EXPERIMENT_TOOLS = ['experiment_describe', 'alert', 'show_report'];

export interface ExperimentWorkOptions
  extends Pick<ExperimentProtocolOptions, 'store' | 'onAnnounced' | 'writeReport'> {
  measurer: Measurer;
  compose: ComposeExperimentBrief;
}

export function createExperimentWork(options: ExperimentWorkOptions): WorkKind<ExperimentWork> {
  const { measurer, compose, ...protocol } = options;
  return {
    kind: 'experiment',
    read: (stored) => experimentWorkSchema.parse(stored),
    plan: (engine, request) => planExperiment(engine, request, compose),
    async composeRetryBrief(_, { state, live, work, interruption }) {
      if (work.outdated !== null) return plainBrief(live.task.task_content);
      const { running: experiment } = (state as { own: ResearchState }).own;
      const { number } = work;
      return compose({ state, number, experiment, interruption: describeInterruption(interruption) });
    },
    git: ({ baseSha, number }) => ({
      parent: baseSha,
      isUnit: true,
      trailers: { 'Pulse-Experiment': String(number) },
    }),
    message: ({ result: { run }, agent }) => ({ subject: `experiment: ${subjectOf(run, agent)}` }),
    runsWithoutAgent: ({ outdated }) => outdated !== null,
    protocol: (run) => createExperimentProtocol({ ...run, ...protocol }),
    execute: (course) =>
      course.work.outdated === null
        ? null
        : executeOutdated(course, { measurer, change: course.work.outdated }),
    examine: async (course, { unit, run }) =>
      found(
        await unlessAborted(course.signal, () =>
          measure(course, { measurer, commit: unit.commit!, tree: unit.tree, run }),
        ),
      ),
  };
}

function subjectOf(run: RunReport | null, agent: string): string {
  return (
    readIdea(run)?.split('\n')[0]?.trim() || summaryBy(agent, run?.finalMessage ?? '') || 'no description'
  );
}

function found(report: MeasureReport | null): Finding | null {
  return report && { own: report, ownMs: report.durationMs };
}

export function measureRequest({ research, bestSha }: ResearchState): MeasureRequest {
  return {
    content: research.content,
    reference: research.reference as MeasureRequest['reference'],
    bestSha,
    goodRunsMs: research.good_runs_ms,
    host: research.host,
  };
}

async function planExperiment(
  _: Engine,
  { state, data: { experiment } }: WorkRequest<ResearchState, ExperimentRequest>,
  compose: ComposeExperimentBrief,
): Promise<PlannedRun> {
  const { session, own } = state;
  const { file, lead, bestSha, count } = own;
  const isOwn = lead.id === session.id;
  const number = experiment?.number ?? count + 1;
  const outdated = experiment?.is_outdated ? experiment.wip_sha : null;
  const baseSha = outdated ? bestSha : (experiment?.start_sha ?? bestSha);
  const brief = outdated
    ? plainBrief(`Experiment ${number} again, on top of what was kept meanwhile.`)
    : await compose({ state, number, experiment });
  const work: ExperimentWork = {
    kind: 'experiment',
    number,
    baseSha,
    description: experiment?.description || null,
    request: { ...measureRequest(own), bestSha: baseSha },
    leadId: isOwn ? null : lead.id,
    outdated,
  };
  return {
    unit: `exp-${number}`,
    brief,
    startSha: outdated ? baseSha : (experiment?.wip_sha ?? baseSha),
    part: {
      role: 'experiment',
      verifyOn: 'never',
      setup: file.setup ?? session.setup,
      work,
      ...(outdated ? { tools: [] } : {}),
    },
    moreTools: EXPERIMENT_TOOLS,
    events: isOwn && !experiment ? [{ type: 'experiment.started', data: { number } }] : [],
    // Another worker may have been quicker.
    isStillDue: async (db) => experiment !== null || (await countExperiments(db, lead.id)) === count,
    async write(db) {
      if (experiment) {
        const again = outdated ? { start_sha: baseSha, is_outdated: 0 } : { runs: experiment.runs + 1 };
        return updateExperiment(db, experiment, again);
      }
      const worker_id = isOwn ? '' : session.id;
      await insertExperiment(db, { session_id: lead.id, number, start_sha: baseSha, worker_id });
      const event = { type: 'experiment.started' as const, data: { number, worker: session.id } };
      if (!isOwn) await appendEvents(db, lead.id, [event]);
    },
  };
}

/** An experiment's change, put on top of what was kept meanwhile, and measured there. */
async function executeOutdated(
  course: AttemptCourse<ExperimentWork>,
  { measurer, change }: { measurer: Measurer; change: string },
): Promise<AttemptEnd> {
  const { engine, attempt, signal } = course;
  const { trace, workspace } = engine;
  const setupFailure = await course.setUp();
  if (signal.aborted) return 'interrupted';
  const unit = setupFailure
    ? null
    : await act(trace, 'commit', { perform: () => workspace.commitAgain(attempt, change) });
  const { commit = null, tree = null, files = [] } = unit ?? {};
  if (commit) await act(trace, 'publish', { perform: () => workspace.publish(attempt, commit) });
  const measured = commit
    ? await unlessAborted(signal, () => measure(course, { measurer, commit, tree, run: null }))
    : { ...NOTHING_MEASURED, isInConflict: unit === null };
  if (measured === null) return 'interrupted';
  return course.report({ ...course.emptyResult(setupFailure), commit, tree, files, ...found(measured) });
}

interface Candidate {
  measurer: Measurer;
  commit: string;
  tree: string | null;
  run: RunReport | null;
}

async function measure(
  { engine, attempt, work, signal }: AttemptCourse<ExperimentWork>,
  { measurer, commit, tree, run }: Candidate,
): Promise<MeasureReport> {
  const { trace, store } = engine;
  const tried = await triedBefore(store, { sessionId: attempt.sessionId, work }, { run, tree });
  if (tried) return tried;
  return act(trace, 'measure', {
    perform: () =>
      measurer.experiment(
        attempt,
        {
          request: work.request,
          commit,
          leadId: work.leadId,
          isOutdated: () => isOutdated(engine, attempt, work),
        },
        signal,
      ),
  });
}

/** Something else was kept since the attempt began, or the best was read on a host that is not this one. */
async function isOutdated(
  { store, host }: Engine,
  _: HeldAttempt,
  { request, leadId, baseSha }: ExperimentWork,
): Promise<boolean> {
  if (request.host !== null && request.host !== host) return true;
  return leadId !== null && (await store.read((db) => isOvertaken(db, leadId, baseSha)));
}
