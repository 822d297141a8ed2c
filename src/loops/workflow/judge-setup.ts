/** What the runs before the first pulse mean: a drafted plan, a preflight. */
import type { AttemptResult } from '../../domain/attempt.ts';
import type { LiveIteration, SessionState as State, Step, Stop, Verdict } from '../../engine/loop.ts';
import { judgeFailure } from '../shared/failures.ts';
import { loopSignal, stopBeforeNext } from '../shared/verdict-parts.ts';
import { parsePlan } from './plan.ts';
import { PLAN_UNIT, type WorkflowChange, type WorkflowState } from './state.ts';
import { readPreflightReport, readRun } from './work-data.ts';

type SessionState = State<WorkflowState>;

const DRAFTS_IN_A_ROW = 3;

export function judgePlan(state: SessionState, live: LiveIteration, result: AttemptResult): Step {
  const failure = judgeFailure(state, live, result);
  if (failure) return failure;
  const { plan: proposed } = readRun(result);
  const plan = proposed ? parsePlan(proposed) : null;
  const tries = state.recent.filter(({ unit }) => unit === PLAN_UNIT).length + 1;
  const detail = 'The agent proposed no plan.';
  const stop: Stop | null = plan
    ? stopBeforeNext(state)
    : tries >= DRAFTS_IN_A_ROW
      ? { status: 'blocked', reason: 'blocked_by_agent', detail }
      : stopBeforeNext(state);
  const verdict: Verdict = {
    ...loopSignal(plan ? 'COMPLETE' : 'CONTINUE'),
    status: 'complete',
    outcome: plan ? 'completed' : 'continued',
    reason: plan ? null : detail,
    ...(plan ? { change: { plan } satisfies WorkflowChange } : {}),
    stop,
  };
  return { do: 'settle', live, result, verdict };
}

export function judgePreflight(state: SessionState, live: LiveIteration, result: AttemptResult): Step {
  const { setupFailure, run } = result;
  const preflight = readPreflightReport(result);
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
      ? stopBeforeNext(state)
      : { status: 'failed', reason: 'preflight_failed', detail: `Preflight failed: ${error}` };
  const verdict: Verdict = {
    ...loopSignal(error === null ? 'COMPLETE' : 'BLOCKED'),
    status: error === null ? 'complete' : 'failed',
    outcome: error === null ? 'completed' : 'crashed',
    reason: error,
    stop,
  };
  return { do: 'settle', live, result, verdict };
}
