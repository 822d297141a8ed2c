/** The state machines of sessions and iterations: a table, and one function that applies it. */
import { PulseError } from './errors.ts';

export const SESSION_STATUSES = [
  'pending',
  'running',
  'complete',
  'blocked',
  'failed',
  'paused',
  'aborted',
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export function isSessionStatus(text: string): text is SessionStatus {
  return (SESSION_STATUSES as readonly string[]).includes(text);
}

export const SESSION_TRANSITIONS: Record<SessionStatus, readonly SessionStatus[]> = {
  pending: ['running', 'aborted'],
  running: ['complete', 'blocked', 'failed', 'paused', 'aborted'],
  blocked: ['running', 'aborted'],
  paused: ['running', 'aborted'],
  failed: ['running', 'aborted'],
  complete: [],
  aborted: [],
};

/** Every stop has one reason from this closed list, and the reason fixes the status. */
export const STOP_REASONS = {
  complete: ['completed', 'iteration_limit'],
  blocked: [
    'blocked_by_agent',
    'signal_conflict',
    'no_signal',
    'iteration_limit',
    'budget_cost',
    'budget_tokens',
    'budget_time',
    'stagnation',
    'verification_failed',
    'checks_changed',
    'unresolved_issues',
    'extension_requested',
    'approval_required',
    'merge_conflict',
    'usage_limit',
    'service_unavailable',
    'agent_auth',
  ],
  failed: ['agent_unavailable', 'agent_error', 'preflight_failed', 'pulse_failed', 'internal_error'],
  paused: ['paused_by_user'],
  aborted: ['aborted_by_user'],
} as const;
export type StoppedStatus = keyof typeof STOP_REASONS;
export type StopReason = (typeof STOP_REASONS)[StoppedStatus][number];

export const EXIT_CODES: Record<SessionStatus, number> = {
  pending: 0,
  running: 0,
  complete: 0,
  failed: 1,
  blocked: 3,
  paused: 4,
  aborted: 5,
};

export const ITERATION_STATUSES = [
  'pending',
  'dispatched',
  'running',
  'complete',
  'failed',
  'timeout',
] as const;
export type IterationStatus = (typeof ITERATION_STATUSES)[number];

/** An attempt that is taken back is dispatched again on the same row; nothing else goes backwards. */
export const ITERATION_TRANSITIONS: Record<IterationStatus, readonly IterationStatus[]> = {
  pending: ['dispatched', 'failed'],
  dispatched: ['running', 'failed'],
  running: ['complete', 'failed', 'timeout', 'dispatched'],
  complete: [],
  failed: [],
  timeout: [],
};

export const ITERATION_OUTCOMES = [
  'continued',
  'completed',
  'rejected',
  'blocked',
  'kept',
  'discarded',
  'crashed',
  'timeout',
] as const;
export type IterationOutcome = (typeof ITERATION_OUTCOMES)[number];

export const TERMINAL_STATUSES: readonly SessionStatus[] = ['complete', 'aborted'];
export const RESUMABLE_STATUSES: readonly SessionStatus[] = ['blocked', 'paused', 'failed'];
export const LIVE_ITERATION_STATUSES: readonly IterationStatus[] = ['pending', 'dispatched', 'running'];

/** The only way to a new session status. Throws `invalid_transition` where the table has no such edge. */
export function transition(from: SessionStatus, to: SessionStatus): SessionStatus {
  if (SESSION_TRANSITIONS[from].includes(to)) return to;
  throw new PulseError('invalid_transition', `A session that is ${from} cannot become ${to}.`, {
    hint: from === 'complete' || from === 'aborted' ? 'It has ended; start a new session.' : undefined,
    data: { from, to },
  });
}

export function transitionIteration(from: IterationStatus, to: IterationStatus): IterationStatus {
  if (ITERATION_TRANSITIONS[from].includes(to)) return to;
  throw new PulseError('internal_error', `An iteration that is ${from} cannot become ${to}.`, {
    data: { from, to },
  });
}
