/** The workflow (seed 2): preflight once, then pulses one after the other, each ended by a judged completion. */
import type { AttemptResult, AttemptSpec, RunReport } from '../domain/attempt.ts';
import type { NewEvent } from '../domain/events.ts';
import { parsePlan } from '../domain/plan.ts';
import { readSignal } from '../domain/signals.ts';
import { reviewDetail } from '../domain/unresolved.ts';
import { AUTOMATIC_EXTENSIONS, PREFLIGHT_UNIT, RUNS_PER_PULSE } from '../domain/workflow.ts';
import { commonStep, PAUSED } from '../engine/decide.ts';
import { budgetStop } from '../engine/governor.ts';
import type {
  LiveIteration,
  Loop,
  PulseChange,
  SessionState,
  Step,
  Stop,
  Verdict,
  WorkflowState,
} from '../engine/loop.ts';
import { addUsage } from '../engine/usage-meter.ts';
import type { PulseRow } from '../store/workflows.ts';
import { judgeFailure } from './failures.ts';

const PLAN_UNIT = 'plan';
const DRAFTS_IN_A_ROW = 3;

export const workflowLoop: Loop = {
  kind: 'workflow',
  decide(state) {
    const flow = state.workflow!;
    const { live } = state;
    const pulse = runningPulse(flow);
    if (pulse && isStopped(state) && live?.task.result?.stage !== 'reported') {
      if (live) return { do: 'abandon', live, pulse };
      return { do: 'give_up', change: giveUp(pulse, STOPPED), stop: PAUSED };
    }
    const common = commonStep(state);
    if (common) return common;
    return live ? judge(state, flow, live) : next(state, flow);
  },
};

/** `workflow stop`: at once, and the pulse is not gone on with. A pause leaves it to the resume. */
function isStopped({ session, control }: SessionState): boolean {
  return session.status === 'running' && control.request === 'stop';
}

const STOPPED = { to: 'stopped', reason: 'stopped by a person' } as const;

function runningPulse({ pulses }: Pick<WorkflowState, 'pulses'>): PulseRow | null {
  return pulses.find((pulse) => pulse.status === 'running') ?? null;
}

/** Nothing is in hand: whoever's turn it is, a person's or the next run's. */
function next(state: SessionState, flow: WorkflowState): Step {
  const { session } = state;
  const { workflow, preflight } = flow;
  if (workflow.merged_sha !== null) return end('complete', 'completed', null);
  const budget = budgetStop(session);
  if (budget) return { do: 'end', stop: budget };
  if (workflow.plan.pulses.length === 0) return { do: 'plan' };
  if (workflow.approved_at === null)
    return end('blocked', 'approval_required', 'The plan waits for approval.');
  if (preflight?.status !== 'completed') return { do: 'preflight' };
  const running = runningPulse(flow);
  if (running?.failure_reason) return deny(running, running.failure_reason);
  if (running?.extension) return end('blocked', 'extension_requested', running.extension.reason);
  if (running && isMoved(state, running, null))
    return { do: 'give_up', change: giveUp(running, MOVED), stop: null };
  if (running) return { do: 'pulse', pulse: running };
  return nextPulse(flow);
}

/**
 * A person has committed on the workflow's branch since the pulse began (a resume notes where it is), so that the
 * pulse cannot be landed on it. Where the pulse's own commit is there, it has landed.
 */
function isMoved({ control }: SessionState, { start_sha: start }: PulseRow, commit: string | null): boolean {
  const head = control.head_sha;
  return head !== null && head !== start && head !== commit;
}

const MOVED = { to: 'stopped', reason: 'the branch of the workflow was moved meanwhile' } as const;

/** A person refused the extension: what the pulse has is kept on its branch. */
function deny(pulse: PulseRow, reason: string): Step {
  const stop: Stop = { status: 'failed', reason: 'pulse_failed', detail: reason };
  return { do: 'give_up', change: giveUp(pulse, { to: 'failed', reason }), stop };
}

function nextPulse({ workflow, pulses }: WorkflowState): Step {
  const newest = newestRows(pulses);
  const waiting = [...newest.values()].filter(({ status }) => status !== 'succeeded');
  if (waiting.length === 0) {
    return end('blocked', 'approval_required', reviewDetail(pulses));
  }
  const needs = new Map(workflow.plan.pulses.map(({ id, dependsOn = [] }) => [id, dependsOn]));
  const ready = waiting.find(({ planned_pulse_id: id }) =>
    (needs.get(id) ?? []).every((needed) => newest.get(needed)?.status === 'succeeded'),
  );
  if (ready) return { do: 'pulse', pulse: ready };
  const ids = waiting.map((pulse) => pulse.planned_pulse_id).join(', ');
  return end(
    'failed',
    'pulse_failed',
    `Nothing can be started: ${ids} depend on pulses that did not succeed.`,
  );
}

/** A retry is a new row of the same planned pulse: the newest counts. */
function newestRows(pulses: readonly PulseRow[]): Map<string, PulseRow> {
  return new Map(pulses.map((pulse) => [pulse.planned_pulse_id, pulse]));
}

function end(status: Stop['status'], reason: Stop['reason'], detail: string | null): Step {
  return { do: 'end', stop: { status, reason, detail } };
}

function judge(state: SessionState, flow: WorkflowState, live: LiveIteration): Step {
  const result = live.task.result!;
  if (live.iteration.unit === PREFLIGHT_UNIT) return judgePreflight(state, live, result);
  if (live.iteration.unit === PLAN_UNIT) return judgePlan(state, live, result);
  const pulse = runningPulse(flow)!;
  // What was accepted is done, however the agent ended after that.
  if (result.run?.completion && isMoved(state, pulse, result.commit))
    return beginAnew(state, { live, result, pulse });
  if (result.run?.completion) return succeed(state, { live, result, pulse });
  const step = judgeUnfinished(state, flow, { live, result, pulse });
  if (!isStopped(state) || step.do !== 'settle' || step.verdict.pulse?.to !== 'running') return step;
  return { ...step, verdict: { ...step.verdict, pulse: giveUp(pulse, STOPPED), stop: PAUSED } };
}

function judgeUnfinished(
  state: SessionState,
  flow: WorkflowState,
  { live, result, pulse }: { live: LiveIteration; result: AttemptResult; pulse: PulseRow },
): Step {
  const failure = judgeFailure(state, live, result);
  if (failure) return failure.do === 'settle' ? keptForLater(state, failure, pulse) : failure;
  return judgeRun(state, flow, { live, result, pulse });
}

function judgePlan(state: SessionState, live: LiveIteration, result: AttemptResult): Step {
  const failure = judgeFailure(state, live, result);
  if (failure) return failure;
  const plan = result.run?.plan ? parsePlan(result.run.plan) : null;
  const tries = state.recent.filter(({ unit }) => unit === PLAN_UNIT).length + 1;
  const detail = 'The agent proposed no plan.';
  const stop: Stop | null = plan
    ? goesOnStop(state)
    : tries >= DRAFTS_IN_A_ROW
      ? { status: 'blocked', reason: 'blocked_by_agent', detail }
      : goesOnStop(state);
  const verdict: Verdict = {
    ...said(plan ? 'COMPLETE' : 'CONTINUE'),
    status: 'complete',
    outcome: plan ? 'completed' : 'continued',
    reason: plan ? null : detail,
    ...(plan ? { plan } : {}),
    stop,
  };
  return { do: 'settle', live, result, verdict };
}

function judgePreflight(state: SessionState, live: LiveIteration, result: AttemptResult): Step {
  const { setupFailure, preflight, run } = result;
  const isTooLong = run?.failure?.class === 'timeout_hard';
  const failure = run && !isTooLong ? judgeFailure(state, live, result) : null;
  if (failure) return failure;
  const error = setupFailure
    ? `${setupFailure.command} failed (exit ${setupFailure.exit ?? 'none'}).`
    : isTooLong
      ? run.failure!.message
      : (preflight?.error ?? null);
  const stop: Stop | null =
    error === null
      ? goesOnStop(state)
      : { status: 'failed', reason: 'preflight_failed', detail: `Preflight failed: ${error}` };
  const verdict: Verdict = {
    ...said(error === null ? 'COMPLETE' : 'BLOCKED'),
    status: error === null ? 'complete' : 'failed',
    outcome: error === null ? 'completed' : 'crashed',
    reason: error,
    stop,
  };
  return { do: 'settle', live, result, verdict };
}

/** A run that failed or hit a limit has not finished its pulse: its work is kept and the next run goes on with it. */
function keptForLater(state: SessionState, step: Extract<Step, { do: 'settle' }>, pulse: PulseRow): Step {
  const { verdict } = step;
  if (verdict.status !== 'timeout' || verdict.stop) {
    return { ...step, verdict: { ...verdict, pulse: wip(state, { ...step, pulse }) } };
  }
  return afterUnfinishedRun(state, { step, pulse });
}

function judgeRun(
  state: SessionState,
  { workflow }: WorkflowState,
  { live, result, pulse }: { live: LiveIteration; result: AttemptResult; pulse: PulseRow },
): Step {
  const { extension, finalMessage, toolSignal } = result.run!;
  if (extension) {
    const count = pulse.extensions + 1;
    const isAsked = workflow.extensions === 'ask' || count > AUTOMATIC_EXTENSIONS;
    const stop: Stop | null = isAsked
      ? { status: 'blocked', reason: 'extension_requested', detail: extension.reason }
      : goesOnStop(state);
    const change = wip(state, { live, result, pulse });
    const event: NewEvent = {
      type: 'pulse.extended',
      data: { pulseId: pulse.id, plannedPulseId: pulse.planned_pulse_id, ...extension },
    };
    const patch = {
      ...change.patch,
      extensions: count,
      extension: isAsked ? JSON.stringify(extension) : null,
    };
    const verdict: Verdict = {
      ...said(isAsked ? 'BLOCKED' : 'CONTINUE'),
      status: 'complete',
      outcome: isAsked ? 'blocked' : 'continued',
      reason: extension.reason,
      pulse: { ...change, events: [event], patch },
      stop,
    };
    return { do: 'settle', live, result, verdict };
  }
  const signal = readSignal({ message: finalMessage, toolSignal, succeeded: true });
  if (signal?.signal === 'BLOCKED' && (signal.source === 'explicit' || signal.source === 'tool')) {
    const detail = signal.reason ?? 'The agent gave no reason.';
    const verdict: Verdict = {
      ...said('BLOCKED'),
      signalSource: signal.source,
      signalRule: signal.rule,
      status: 'complete',
      outcome: 'blocked',
      reason: detail,
      pulse: wip(state, { live, result, pulse }),
      stop: { status: 'blocked', reason: 'blocked_by_agent', detail },
    };
    return { do: 'settle', live, result, verdict };
  }
  const verdict: Verdict = {
    ...said('CONTINUE'),
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
    return { ...step, verdict: { ...verdict, pulse: change, stop: verdict.stop ?? goesOnStop(state) } };
  }
  const detail = `${pulse.planned_pulse_id} was not finished within ${RUNS_PER_PULSE} runs.`;
  return {
    ...step,
    verdict: {
      ...verdict,
      ...said('BLOCKED'),
      outcome: 'blocked',
      reason: detail,
      pulse: giveUp(pulse, { to: 'failed', reason: detail }),
      stop: { status: 'failed', reason: 'pulse_failed', detail },
    },
  };
}

function succeed(
  state: SessionState,
  { live, result, pulse }: { live: LiveIteration; result: AttemptResult; pulse: PulseRow },
): Step {
  const { summary, unresolvedIssues } = result.run!.completion!;
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
    landing: 'branch',
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
    ...said('COMPLETE'),
    status: 'complete',
    outcome: 'completed',
    reason: summary,
    pulse: change,
    stop: isHalted ? { status: 'blocked', reason: 'unresolved_issues', detail } : goesOnStop(state),
  };
  return { do: 'settle', live, result, verdict };
}

/** Accepted, but on top of what the workflow's branch no longer is. */
function beginAnew(
  state: SessionState,
  { live, result, pulse }: { live: LiveIteration; result: AttemptResult; pulse: PulseRow },
): Step {
  const verdict: Verdict = {
    ...said('CONTINUE'),
    status: 'complete',
    outcome: 'continued',
    reason: MOVED.reason,
    pulse: giveUp(pulse, MOVED),
    stop: goesOnStop(state),
  };
  return { do: 'settle', live, result, verdict };
}

function wip(
  { session }: SessionState,
  { live, result, pulse }: { live: LiveIteration; result: AttemptResult; pulse: PulseRow },
): PulseChange {
  const { commit, run } = result;
  return {
    pulse,
    to: 'running',
    landing: 'wip',
    events: [],
    patch: {
      wip_sha: commit ?? pulse.wip_sha,
      calls: JSON.stringify(run?.calls ?? pulse.calls),
      ...(run ? sessionLeft(session.agent, live.task.spec, run) : {}),
    },
  };
}

/**
 * The agent's own session, for the next run to go on with, and what it has spent since its beginning. Another agent that
 * took over leaves none: the next run is the session's own agent's again.
 */
function sessionLeft(
  agent: string,
  { agent: ranAs, resume = null, resumeUsage }: AttemptSpec,
  run: RunReport,
) {
  const id = ranAs === agent ? (run.agentSessionId ?? resume) : null;
  const isSame = id !== null && id === resume && resumeUsage;
  const usage = isSame ? addUsage(resumeUsage, run.usage) : run.usage;
  return { agent_session_id: id, agent_usage: id === null ? null : JSON.stringify(usage) };
}

/** What it has goes onto its own branch, marked; a resume begins it anew. */
function giveUp(pulse: PulseRow, { to, reason }: { to: 'failed' | 'stopped'; reason: string }): PulseChange {
  const data = { pulseId: pulse.id, plannedPulseId: pulse.planned_pulse_id, reason };
  return {
    pulse,
    to,
    landing: 'recovery',
    events: [{ type: `pulse.${to}`, data }],
    patch: { failure_reason: reason, extension: null },
  };
}

function said(signal: 'CONTINUE' | 'COMPLETE' | 'BLOCKED') {
  return { signal, signalSource: 'loop', signalRule: null, anchorHint: null, failureClass: null } as const;
}

function goesOnStop({ session, control }: SessionState): Stop | null {
  return control.request ? PAUSED : budgetStop(session);
}
