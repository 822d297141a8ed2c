/** The research loop: an experiment is one change. The model has the idea; Pulse measures and decides. */
import type { AttemptResult } from '../../domain/attempt.ts';
import { readSignal } from '../../domain/signals.ts';
import type { LiveIteration, SessionState as State, Step, Stop, Verdict } from '../../engine/loop.ts';
import { budgetStop } from '../../engine/runner/budget.ts';
import { baseStep } from '../shared/base-step.ts';
import { judgeFailure } from '../shared/failures.ts';
import { loopSignal, stopBeforeNext } from '../shared/verdict-parts.ts';
import { describedBy } from './ideas/description.ts';
import { ideaFingerprint } from './ideas/fingerprint.ts';
import { experimentLanding } from './landings.ts';
import { type CrashKind, mayFix } from './measure/crash.ts';
import type { Direction } from './measure/decision.ts';
import { explainDecision } from './measure/decision-words.ts';
import { BASELINE_UNIT, type MeasureReport } from './measure/measure.ts';
import { isSurprising } from './measure/surprise.ts';
import type { Experiment } from './rows.ts';
import type { ExperimentChange, ResearchState } from './state.ts';
import { readIdea, readMeasured } from './work-data.ts';

type SessionState = State<ResearchState>;

export function decideResearch(state: SessionState): Step {
  const { own: flow } = state;
  // A pause goes to the workers first: each finishes its current experiment.
  if (state.session.status === 'running' && state.control.request && isAtWork(flow)) return { do: 'wait' };
  const common = baseStep(state);
  if (common) return common;
  return state.live ? judge(state, flow, state.live) : next(state, flow);
}

/** `null`: a new one; else the next run of the current one, on the work of its last run. */
export interface ExperimentRequest {
  experiment: Experiment | null;
}

function experimentStep(experiment: Experiment | null): Step {
  return { do: 'run', work: 'experiment', data: { experiment } satisfies ExperimentRequest };
}

function isAtWork({ workers }: ResearchState): boolean {
  return workers.some(({ status }) => status === 'running' || status === 'pending');
}

function next({ session }: SessionState, flow: ResearchState): Step {
  const { research, running, count, file, lead, isReadElsewhere } = flow;
  const isLead = lead.id === session.id;
  const stop = budgetStop(session);
  if (stop && !isAtWork(flow)) return { do: 'end', stop };
  if (research.reference === null || isReadElsewhere)
    return isLead ? { do: 'run', work: 'baseline' } : { do: 'wait' };
  const { direction, target } = file.metric;
  if (research.best !== null && target !== undefined && reaches(research.best, target, direction)) {
    return { do: 'end', stop: { status: 'complete', reason: 'completed', detail: null } };
  }
  if (isLead && research.parallel > 1) return nextOfLead(flow);
  if (running) return experimentStep(running);
  if (research.iterations !== null && count >= research.iterations) {
    return { do: 'end', stop: { status: 'complete', reason: 'iteration_limit', detail: null } };
  }
  return experimentStep(null);
}

/** Its workers experiment; it has what they stopped for, once all have stopped. */
function nextOfLead(flow: ResearchState): Step {
  const { research, workers } = flow;
  if (workers.length === 0)
    return { do: 'spawn', children: Array.from({ length: research.parallel }, () => ({})) };
  if (isAtWork(flow)) return { do: 'wait' };
  const stopped = workers.find(({ status }) => status !== 'complete');
  if (!stopped) return { do: 'end', stop: { status: 'complete', reason: 'iteration_limit', detail: null } };
  const { status, stop_reason, blocked_reason: detail } = stopped;
  return {
    do: 'end',
    stop: { status: status as Stop['status'], reason: stop_reason ?? 'internal_error', detail },
  };
}

function reaches(metric: number, target: number, direction: Direction): boolean {
  return direction === 'higher' ? metric >= target : metric <= target;
}

function judge(state: SessionState, flow: ResearchState, live: LiveIteration): Step {
  const result = live.task.result!;
  if (live.iteration.unit === BASELINE_UNIT) return judgeBaseline(state, live, result);
  const experiment = flow.running!;
  // Setup failed on this experiment's own change: drop it; the next idea starts from the best commit.
  if (result.setupFailure && experiment.wip_sha !== null)
    return settleWith(state, live, { result, change: brokenSetup(experiment, result) });
  const failure = judgeFailure(state, live, result);
  if (failure?.do === 'settle') {
    const isTimeout = failure.verdict.status === 'timeout';
    // Nothing lands that was not measured: what a budget cut short waits for the next run.
    const change = isTimeout
      ? discard(experiment, result, { reason: 'The run took too long.', report: null })
      : wip(experiment, result, { description: ideaSoFar(experiment, result) });
    const { verdict } = failure;
    // The limit counts experiments, not fix-up runs; `next()` enforces it.
    const stop = verdict.stop?.reason === 'iteration_limit' ? null : verdict.stop;
    return { ...failure, verdict: { ...verdict, ...landed(flow, change, result), stop } };
  }
  if (failure) return failure;
  const { finalMessage = '', toolSignal = null } = result.run ?? {};
  const signal = readSignal({ message: finalMessage, toolSignal, succeeded: true });
  if (signal?.signal === 'BLOCKED' && (signal.source === 'explicit' || signal.source === 'tool')) {
    const detail = signal.reason ?? 'The agent gave no reason.';
    const stop: Stop = { status: 'blocked', reason: 'blocked_by_agent', detail };
    const verdict: Verdict = {
      ...loopSignal('BLOCKED'),
      status: 'complete',
      outcome: 'blocked',
      reason: detail,
      ...landed(flow, wip(experiment, result, { description: ideaSoFar(experiment, result) }), result),
      stop,
    };
    return { do: 'settle', live, result, verdict };
  }
  return settleWith(state, live, { result, change: judgeExperiment(flow, { experiment, result }) });
}

function settleWith(
  state: SessionState,
  live: LiveIteration,
  { result, change }: { result: AttemptResult; change: ExperimentChange },
): Step {
  const outcome = { keep: 'kept', discard: 'discarded', crash: 'crashed', running: 'continued' } as const;
  const verdict: Verdict = {
    ...loopSignal('CONTINUE'),
    status: 'complete',
    outcome: outcome[change.status],
    reason: String(change.patch.reason ?? '') || null,
    ...landed(state.own, change, result),
    stop: stopBeforeNext(state),
  };
  return { do: 'settle', live, result, verdict };
}

function judgeBaseline(state: SessionState, live: LiveIteration, result: AttemptResult): Step {
  const { setupFailure } = result;
  const report = readMeasured(result);
  const error = setupFailure
    ? `${setupFailure.command} failed (exit ${setupFailure.exit ?? 'none'}).`
    : report?.crash
      ? `The metric could not be measured (${report.crash.kind}):\n${report.crash.tail.slice(-1_000)}`
      : null;
  const stop: Stop | null =
    error === null ? stopBeforeNext(state) : { status: 'failed', reason: 'preflight_failed', detail: error };
  const verdict: Verdict = {
    ...loopSignal(error === null ? 'CONTINUE' : 'BLOCKED'),
    status: error === null ? 'complete' : 'failed',
    outcome: error === null ? 'completed' : 'crashed',
    reason: error,
    stop,
  };
  return { do: 'settle', live, result, verdict };
}

function judgeExperiment(
  { research, bestSha }: ResearchState,
  { experiment, result }: { experiment: Experiment; result: AttemptResult },
): ExperimentChange {
  const report = readMeasured(result);
  if (report?.isInConflict) {
    const reason = 'It does not fit on what was kept meanwhile.';
    return discard(experiment, result, { reason, report: null });
  }
  if (!result.commit || !report)
    return discard(experiment, result, { reason: 'It changed nothing.', report: null });
  const { crash, caught, decision } = report;
  // The best commit changed while this ran, so the result is stale, unless the best is this very commit (landed just
  // before a crash).
  const isOvertaken = experiment.start_sha !== bestSha && bestSha !== result.commit;
  if (report.isOutdated || (isOvertaken && !caught)) return wip(experiment, result, { is_outdated: 1 });
  if (crash) {
    const crashes = [...experiment.crashes, crash.kind] as CrashKind[];
    const patch = { crashes: JSON.stringify(crashes), reason: `${crash.kind}: ${crash.tail.slice(-2_000)}` };
    if (mayFix(crashes)) return wip(experiment, result, patch);
    return ended(experiment, result, { status: 'crash', report, patch });
  }
  const figures = decision && {
    metric: decision.metric,
    delta: decision.metric === null ? null : decision.metric - decision.best,
    decision: JSON.stringify(decision),
  };
  if (caught)
    return ended(experiment, result, {
      status: 'discard',
      report,
      patch: { ...figures, reason: caught.text },
    });
  if (!decision) return discard(experiment, result, { reason: 'Nothing was measured.', report });
  const reason = explainDecision(decision);
  const patch = { ...figures, reason };
  if (decision.verdict === 'discard') return ended(experiment, result, { status: 'discard', report, patch });
  const change = ended(experiment, result, { status: 'keep', report, patch });
  const surprise = isSurprising(decision)
    ? [{ type: 'experiment.surprised' as const, data: { number: experiment.number, reason } }]
    : [];
  return {
    ...change,
    events: [...change.events, ...surprise],
    research: {
      ...change.research,
      best: decision.metric ?? research.best,
      best_experiment: experiment.number,
      best_sha: result.commit,
    },
  };
}

/** What it did to the setup cannot be mended either: an agent needs a worktree that is set up. */
function brokenSetup(experiment: Experiment, result: AttemptResult): ExperimentChange {
  const { command, outputTail } = result.setupFailure!;
  const crashes = JSON.stringify([...experiment.crashes, 'external' satisfies CrashKind]);
  const reason = `external: Setup failed: ${command}\n${outputTail.slice(-2_000)}`;
  return ended(experiment, result, { status: 'crash', report: null, patch: { crashes, reason } });
}

function landed({ lead }: ResearchState, change: ExperimentChange, { commit }: AttemptResult) {
  return { landing: experimentLanding(lead, change, commit), change };
}

function discard(
  experiment: Experiment,
  result: AttemptResult,
  { reason, report }: { reason: string; report: MeasureReport | null },
): ExperimentChange {
  return ended(experiment, result, { status: 'discard', report, patch: { reason } });
}

const EVENTS = {
  keep: 'experiment.kept',
  discard: 'experiment.discarded',
  crash: 'experiment.crashed',
} as const;

function ended(
  experiment: Experiment,
  result: AttemptResult,
  {
    status,
    report,
    patch,
  }: { status: keyof typeof EVENTS; report: MeasureReport | null; patch: ExperimentChange['patch'] },
): ExperimentChange {
  const description = descriptionOf(experiment, result);
  const { metric = null, delta = null, reason = null } = patch;
  return {
    experiment,
    status,
    patch: {
      ...patch,
      description,
      fingerprint: ideaFingerprint(description),
      commit_hash: result.commit ?? experiment.wip_sha,
      wip_sha: null,
      duration_ms: experiment.duration_ms + Math.round(result.run?.durationMs ?? 0),
    },
    research: report?.reference
      ? { reference: JSON.stringify(report.reference), good_runs_ms: JSON.stringify(report.goodRunsMs) }
      : {},
    events: [
      {
        type: EVENTS[status],
        data: { number: experiment.number, description, metric, delta, reason, commit: result.commit },
      },
    ],
  };
}

/** The next run continues it: a crash to be mended, or a question that a person answers. */
function wip(
  experiment: Experiment,
  result: AttemptResult,
  patch: ExperimentChange['patch'],
): ExperimentChange {
  const { description = descriptionOf(experiment, result) } = patch;
  return {
    experiment,
    status: 'running',
    patch: {
      ...patch,
      description,
      fingerprint: ideaFingerprint(String(description)),
      wip_sha: result.commit ?? experiment.wip_sha,
      duration_ms: experiment.duration_ms + Math.round(result.run?.durationMs ?? 0),
    },
    research: {},
    events: [],
  };
}

/** The first run's words: a fix is still the same idea. */
function descriptionOf({ description }: Experiment, { run }: AttemptResult): string {
  return description || (run && describedBy({ ...run, description: readIdea(run) })) || 'no description';
}

/** The last words of a run that asks are its question: an idea is what was told, or what was begun. */
function ideaSoFar(experiment: Experiment, result: AttemptResult): string {
  if (result.commit) return descriptionOf(experiment, result);
  return experiment.description || readIdea(result.run) || '';
}
