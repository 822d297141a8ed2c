/** What an unsuccessful run leads to: a retry, a wait, the end of the iteration, or of the session. */
import type { AttemptResult, RunReport } from '../../domain/attempt.ts';
import { cannotBegin } from '../../domain/cannot-begin.ts';
import { formatDuration } from '../../domain/durations.ts';
import {
  CRASH_DELAYS_MS,
  DEFAULT_PATIENCE_MS,
  FAILURE_POLICIES,
  type FailureClass,
  type FailurePolicy,
} from '../../domain/failures.ts';
import { tellingLines } from '../../domain/telling-lines.ts';
import type { LiveIteration, SessionState, Step, Stop, Verdict } from '../../engine/loop.ts';
import { budgetStop } from '../../engine/runner/budget.ts';
import { PAUSED } from '../../engine/runner/settle.ts';
import type { RetryCounters } from '../../store/sessions.ts';
import { iterationStop } from './iteration-limit.ts';
import { outcomesInARow } from './stagnation.ts';

/** A limit without a stated reset is looked at again after this long. */
const UNKNOWN_RESET_MS = 60 * 60 * 1000;

type Failure = NonNullable<RunReport['failure']>;

/** `null` when the attempt succeeded and its signal counts. */
export function judgeFailure(state: SessionState, live: LiveIteration, result: AttemptResult): Step | null {
  if (result.setupFailure) {
    const { text, mendedBy } = cannotBegin(live.task.spec, result.setupFailure);
    const told = tellingLines(result.setupFailure.outputTail, 3);
    const mend = `pulse resume ${state.session.id} --${mendedBy} CMD continues with another command; or set \`${mendedBy}\` in .pulse/config.yaml, then resume it.`;
    const detail = [text, ...told, mend].join('\n');
    return fail(live, result, {
      stop: { status: 'failed', reason: 'preflight_failed', detail },
      failureClass: null,
    });
  }
  const failure = result.run?.failure;
  if (!failure) return stopAtBudget(state, live, result);
  const policy = FAILURE_POLICIES[failure.class];
  switch (policy.kind) {
    case 'retry':
      return retryOrFail(state, live, { result, failure, delaysMs: policy.delaysMs });
    case 'patience':
      return waitForService(state, live, { result, failure, policy });
    case 'wait':
      return waitOrBlock(state, live, { result, failure, ...policy });
    case 'end_iteration':
      return timeOut(state, live, { result, failure, maxInARow: policy.maxInARow });
    case 'block':
      return fail(live, result, {
        stop: { status: 'blocked', reason: 'agent_auth', detail: failure.message },
        failureClass: failure.class,
      });
    case 'as_asked':
      return fail(live, result, { stop: PAUSED, failureClass: failure.class });
  }
}

/** Pulse ended the run at a budget: its work is kept, but it did not come to its own end and so gives no signal. */
function stopAtBudget({ session }: SessionState, live: LiveIteration, result: AttemptResult): Step | null {
  const reason = result.run?.stopped;
  if (!reason) return null;
  const detail = budgetStop(session)?.detail ?? 'The limit was reached while the agent ran.';
  const stop: Stop = { status: 'blocked', reason, detail };
  const verdict: Verdict = {
    ...NO_SIGNAL,
    status: 'complete',
    outcome: 'blocked',
    reason: detail,
    failureClass: null,
    stop,
  };
  return { do: 'settle', live, result, verdict };
}

function retryOrFail(
  { control }: SessionState,
  live: LiveIteration,
  { result, failure, delaysMs }: { result: AttemptResult; failure: Failure; delaysMs: readonly number[] },
): Step {
  const counter = failure.class === 'context_overflow' ? 'overflow' : 'crash';
  const done = control.counters[counter];
  const delayMs = delaysMs[done];
  if (delayMs === undefined) {
    const detail = `${failure.message} (tried ${done + 1} times)`;
    const stop: Stop = { status: 'failed', reason: 'agent_error', detail };
    return fail(live, result, { stop, failureClass: failure.class });
  }
  const counters: RetryCounters = { ...control.counters, [counter]: done + 1 };
  const { class: failureClass, message } = failure;
  return {
    do: 'retry',
    live,
    result,
    retry: { delayMs, failureClass, message, counters },
  };
}

/** Tried again with growing pauses for as long as the session is patient. Waiting is no iteration and no running time. */
function waitForService(
  state: SessionState,
  live: LiveIteration,
  {
    result,
    failure,
    policy,
  }: { result: AttemptResult; failure: Failure; policy: Extract<FailurePolicy, { kind: 'patience' }> },
): Step {
  const { counters, settings } = state.control;
  const patienceMs = settings.patienceMs ?? DEFAULT_PATIENCE_MS;
  if (patienceMs === 0) return retryOrFail(state, live, { result, failure, delaysMs: CRASH_DELAYS_MS });
  const { service: retries, serviceWaitMs: waitedMs } = counters;
  const other = retries >= RETRIES_BEFORE_FALLBACK ? handOver(state, live, { result, failure }) : null;
  if (other) return other;
  if (waitedMs >= patienceMs) {
    const detail = `${failure.message} (tried ${retries + 1} times, waited ${formatDuration(waitedMs)})`;
    const stop: Stop = { status: 'blocked', reason: 'service_unavailable', detail };
    return fail(live, result, { stop, failureClass: failure.class });
  }
  const { firstMs, longestMs } = policy;
  const delayMs = Math.min(firstMs * 2 ** Math.min(retries, 20), longestMs, patienceMs - waitedMs);
  const after = { ...counters, service: retries + 1, serviceWaitMs: waitedMs + delayMs };
  return waitFor(live, { result, failure, delayMs, counters: after, patienceMs });
}

/** A few seconds of trouble are no reason to change the agent. */
const RETRIES_BEFORE_FALLBACK = 3;

/** `null` where no other agent is named, or the attempt was already its. */
function handOver(
  { control: { counters, settings } }: SessionState,
  live: LiveIteration,
  { result, failure }: { result: AttemptResult; failure: Failure },
): Step | null {
  const { fallbackAgent: agent } = settings;
  if (!agent || live.task.spec.agent === agent) return null;
  const { class: failureClass } = failure;
  const message = `${failure.message} ${agent} takes over.`;
  return { do: 'retry', live, result, retry: { delayMs: 0, failureClass, message, counters, agent } };
}

interface Wait {
  result: AttemptResult;
  failure: Failure;
  delayMs: number;
  counters: RetryCounters;
  patienceMs?: number;
}

function waitFor(live: LiveIteration, { result, failure, delayMs, counters, patienceMs }: Wait): Step {
  const { class: failureClass, message } = failure;
  const since = counters.waiting?.since ?? result.run!.endedAt;
  const after: RetryCounters = { ...counters, waiting: { failureClass, since } };
  const retry = { delayMs, failureClass, message, counters: after, patienceMs };
  return { do: 'retry', live, result, retry };
}

function waitOrBlock(
  state: SessionState,
  live: LiveIteration,
  {
    result,
    failure,
    maxWaits,
    maxTotalMs,
  }: { result: AttemptResult; failure: Failure; maxWaits: number; maxTotalMs: number },
): Step {
  const { counters, settings } = state.control;
  const other = handOver(state, live, { result, failure });
  if (other) return other;
  const endedAt = Date.parse(result.run!.endedAt);
  const delayMs = failure.resetAt ? Math.max(1000, Date.parse(failure.resetAt) - endedAt) : UNKNOWN_RESET_MS;
  const isAllowed =
    settings.limitsWait && counters.usageWaits < maxWaits && counters.usageWaitMs + delayMs <= maxTotalMs;
  if (!isAllowed) {
    const stop: Stop = { status: 'blocked', reason: 'usage_limit', detail: failure.message };
    return fail(live, result, { stop, failureClass: failure.class });
  }
  const after: RetryCounters = {
    ...counters,
    usageWaits: counters.usageWaits + 1,
    usageWaitMs: counters.usageWaitMs + delayMs,
  };
  return waitFor(live, { result, failure, delayMs, counters: after });
}

/** The iteration is over and its work kept; the next one is told. */
function timeOut(
  state: SessionState,
  live: LiveIteration,
  { result, failure, maxInARow }: { result: AttemptResult; failure: Failure; maxInARow: number },
): Step {
  const { session, control, recent } = state;
  const { iteration_number: number } = live.iteration;
  const inARow = outcomesInARow(recent, 'timeout', control.window_from) + 1;
  const tooMany: Stop = { status: 'failed', reason: 'agent_error', detail: failure.message };
  const stop =
    inARow >= maxInARow
      ? tooMany
      : control.request
        ? PAUSED
        : (budgetStop(session) ?? iterationStop(number, session.max_iterations));
  return {
    do: 'settle',
    live,
    result,
    verdict: {
      ...NO_SIGNAL,
      status: 'timeout',
      outcome: 'timeout',
      reason: failure.message,
      failureClass: failure.class,
      stop,
    },
  };
}

function fail(
  live: LiveIteration,
  result: AttemptResult,
  { stop, failureClass }: { stop: Stop; failureClass: FailureClass | null },
): Step {
  const verdict: Verdict = {
    ...NO_SIGNAL,
    status: 'failed',
    outcome: 'crashed',
    reason: stop.detail,
    failureClass,
    stop,
  };
  return { do: 'settle', live, result, verdict };
}

/** A run that did not succeed has no signal. */
const NO_SIGNAL = { signal: null, signalSource: null, signalRule: null, anchorHint: null } as const;
