/** What the run of a pulse means. */
import type { AttemptResult } from '../../domain/attempt.ts';
import type { NewEvent } from '../../domain/events.ts';
import { readSignal } from '../../domain/signals.ts';
import type { LiveIteration, SessionState as State, Step, Stop, Verdict } from '../../engine/loop.ts';
import { PAUSED } from '../../engine/runner/settle.ts';
import { askAboutChecks } from '../shared/ask-about-checks.ts';
import { judgeFailure } from '../shared/failures.ts';
import { loopSignal, stopBeforeNext } from '../shared/verdict-parts.ts';
import { landedPulse } from './landings.ts';
import { AUTOMATIC_EXTENSIONS, type Completion, RUNS_PER_PULSE } from './model.ts';
import { given, giveUp, isMoved, isStopped, MOVED, pulseChange, STOPPED, wip } from './pulse-changes.ts';
import type { PulseRow } from './rows.ts';
import type { PulseChange, WorkflowChange, WorkflowState } from './state.ts';
import { readRun } from './work-data.ts';

type SessionState = State<WorkflowState>;

interface PulseResult {
  live: LiveIteration;
  result: AttemptResult;
  pulse: PulseRow;
}

export function judgePulse(state: SessionState, { live, result, pulse }: PulseResult): Step {
  // What was accepted is done, however the agent ended after that.
  const { completion } = readRun(result);
  if (completion && isMoved(state, pulse, result.commit)) return beginAgain(state, { live, result, pulse });
  if (completion) return succeed(state, { live, result, pulse, completion });
  const step = judgeUnfinished(state, { live, result, pulse });
  if (!isStopped(state) || step.do !== 'settle' || pulseChange(step.verdict)?.to !== 'running') return step;
  return { ...step, verdict: { ...step.verdict, ...given(giveUp(pulse, STOPPED)), stop: PAUSED } };
}

function judgeUnfinished(state: SessionState, { live, result, pulse }: PulseResult): Step {
  const failure = judgeFailure(state, live, result);
  if (failure) return failure.do === 'settle' ? keptForLater(state, failure, pulse) : failure;
  return judgeRun(state, { live, result, pulse });
}

/** A run that failed or hit a limit has not finished its pulse: its work is kept and the next run continues it. */
function keptForLater(state: SessionState, step: Extract<Step, { do: 'settle' }>, pulse: PulseRow): Step {
  const { verdict } = step;
  if (verdict.status !== 'timeout' || verdict.stop) {
    return { ...step, verdict: { ...verdict, ...wip(state, { ...step, pulse }) } };
  }
  return afterUnfinishedRun(state, { step, pulse });
}

function judgeRun(state: SessionState, { live, result, pulse }: PulseResult): Step {
  const { workflow } = state.own;
  const { finalMessage, toolSignal } = result.run!;
  const { extension } = readRun(result);
  if (extension) {
    const count = pulse.extensions + 1;
    const isAsked = workflow.extensions === 'ask' || count > AUTOMATIC_EXTENSIONS;
    const stop: Stop | null = isAsked
      ? { status: 'blocked', reason: 'extension_requested', detail: extension.reason }
      : stopBeforeNext(state);
    const { landing, change } = wip(state, { live, result, pulse });
    const event: NewEvent = {
      type: 'pulse.extended',
      data: { pulseId: pulse.id, plannedPulseId: pulse.planned_pulse_id, ...extension },
    };
    const patch = {
      ...change.pulse.patch,
      extensions: count,
      extension: isAsked ? JSON.stringify(extension) : null,
    };
    const verdict: Verdict = {
      ...loopSignal(isAsked ? 'BLOCKED' : 'CONTINUE'),
      status: 'complete',
      outcome: isAsked ? 'blocked' : 'continued',
      reason: extension.reason,
      landing,
      change: { pulse: { ...change.pulse, events: [event], patch } } satisfies WorkflowChange,
      stop,
    };
    return { do: 'settle', live, result, verdict };
  }
  const signal = readSignal({ message: finalMessage, toolSignal, succeeded: true });
  if (signal?.signal === 'BLOCKED' && (signal.source === 'explicit' || signal.source === 'tool')) {
    const detail = signal.reason ?? 'The agent gave no reason.';
    const verdict: Verdict = {
      ...loopSignal('BLOCKED'),
      signalSource: signal.source,
      signalRule: signal.rule,
      status: 'complete',
      outcome: 'blocked',
      reason: detail,
      ...wip(state, { live, result, pulse }),
      stop: { status: 'blocked', reason: 'blocked_by_agent', detail },
    };
    return { do: 'settle', live, result, verdict };
  }
  const verdict: Verdict = {
    ...loopSignal('CONTINUE'),
    status: 'complete',
    outcome: 'continued',
    reason: 'The run ended without pulse_done or request_extension.',
    stop: null,
  };
  return afterUnfinishedRun(state, { step: { do: 'settle', live, result, verdict }, pulse });
}

/** It counts against the pulse; after the last one allowed the pulse has failed. */
function afterUnfinishedRun(
  state: SessionState,
  { step, pulse }: { step: Extract<Step, { do: 'settle' }>; pulse: PulseRow },
): Step {
  const { verdict } = step;
  // A run that asked for an extension does not count.
  if (pulse.runs - pulse.extensions < RUNS_PER_PULSE) {
    const change = wip(state, { ...step, pulse });
    return { ...step, verdict: { ...verdict, ...change, stop: verdict.stop ?? stopBeforeNext(state) } };
  }
  const detail = `${pulse.planned_pulse_id} was not finished within ${RUNS_PER_PULSE} runs.`;
  return {
    ...step,
    verdict: {
      ...verdict,
      ...loopSignal('BLOCKED'),
      outcome: 'blocked',
      reason: detail,
      ...given(giveUp(pulse, { to: 'failed', reason: detail })),
      stop: { status: 'failed', reason: 'pulse_failed', detail },
    },
  };
}

function succeed(
  state: SessionState,
  { live, result, pulse, completion }: PulseResult & { completion: Completion },
): Step {
  const { summary, unresolvedIssues, judgement } = completion;
  const isHalted = unresolvedIssues.length > 0;
  const detail = isHalted
    ? `${pulse.planned_pulse_id} is done but for ${unresolvedIssues.map(({ issue }) => issue).join('; ')}`
    : null;
  const event: NewEvent = {
    type: 'PulseCompleted',
    data: {
      pulseId: pulse.id,
      plannedPulseId: pulse.planned_pulse_id,
      checkpointCommitSha: result.commit,
      description: summary,
      hasUnresolvedIssues: isHalted,
      unresolvedIssues,
    },
  };
  const change: PulseChange = {
    pulse,
    to: 'succeeded',
    isGivenUp: false,
    events: [event],
    patch: {
      checkpoint_commit_sha: result.commit,
      diff_artifact_id: `${pulse.start_sha}..${result.commit}`,
      description: summary,
      has_unresolved_issues: isHalted ? 1 : 0,
      unresolved_issues: JSON.stringify(unresolvedIssues),
      wip_sha: null,
      extension: null,
    },
  };
  const verdict: Verdict = {
    ...loopSignal('COMPLETE'),
    status: 'complete',
    outcome: 'completed',
    reason: summary,
    landing: landedPulse(state.session, pulse, result.commit!),
    change: { pulse: change } satisfies WorkflowChange,
    ...(judgement ? { judgement } : {}),
    stop:
      judgement?.verdict === 'ask'
        ? { status: 'blocked', reason: 'checks_changed', detail: askAboutChecks(judgement) }
        : isHalted
          ? { status: 'blocked', reason: 'unresolved_issues', detail }
          : stopBeforeNext(state),
  };
  return { do: 'settle', live, result, verdict };
}

/** Accepted, but on top of what the workflow's branch no longer is. */
function beginAgain(state: SessionState, { live, result, pulse }: PulseResult): Step {
  const verdict: Verdict = {
    ...loopSignal('CONTINUE'),
    status: 'complete',
    outcome: 'continued',
    reason: MOVED.reason,
    ...given(giveUp(pulse, MOVED)),
    stop: stopBeforeNext(state),
  };
  return { do: 'settle', live, result, verdict };
}
