import type { LiveIteration, SessionState, Step } from '../../engine/loop.ts';
import { budgetStop } from '../../engine/runner/budget.ts';
import { PAUSED } from '../../engine/runner/settle.ts';
import type { RetryCounters } from '../../store/sessions.ts';

/**
 * What is the same in every loop: starting, being stopped, waiting for an attempt, taking a lost one back. Returns
 * `null` when the question is the loop's own: what does this result mean, or what comes next. Pure.
 */
export function baseStep({ session, control, live }: SessionState): Step | null {
  if (session.status === 'pending') return { do: 'start' };
  if (session.status !== 'running') return { do: 'leave' };
  if (!live) return control.request ? { do: 'end', stop: PAUSED } : null;
  if (live.task.result?.stage === 'reported') return null;
  if (control.request === 'stop') return { do: 'interrupt', live };
  if (control.request === 'pause' && live.isWaiting) return { do: 'interrupt', live };
  if (live.lease === 'lost') return takeBack(live, control.counters);
  if (live.task.status === 'pending' && !live.task.result) {
    const stop = budgetStop(session);
    if (stop) return { do: 'end', stop };
  }
  return { do: 'wait' };
}

/** Nothing is tried for ever: an attempt that its daemons keep dying over ends the session. */
function takeBack(live: LiveIteration, { service, usageWaits }: RetryCounters): Step {
  const { attempt, max_attempts: most } = live.task;
  // One that waited long for its service was tried often, and broken off by nobody.
  const times = attempt - service - usageWaits;
  if (times < most || live.task.result) return { do: 'requeue', live };
  const detail = `The attempt was given up after it had been interrupted ${times} times.`;
  return { do: 'end', stop: { status: 'failed', reason: 'internal_error', detail } };
}
