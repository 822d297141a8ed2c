/** Why a run did not succeed, and what happens next (contract 1.6). Retries are not iterations. */
export const FAILURE_CLASSES = [
  'crashed',
  'spawn_failed',
  'network',
  'overloaded',
  'rate_limit',
  'usage_limit',
  'timeout_idle',
  'timeout_hard',
  'auth',
  'denied',
  'context_overflow',
  'cancelled',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

export type FailurePolicy =
  | { kind: 'retry'; delaysMs: readonly number[] }
  | { kind: 'wait'; maxWaits: number; maxTotalMs: number }
  | { kind: 'end_iteration'; maxInARow: number }
  | { kind: 'block' }
  | { kind: 'as_asked' };

const FLAKY_SERVICE: FailurePolicy = { kind: 'retry', delaysMs: [2_000, 4_000, 8_000, 16_000, 32_000] };
const CRASH: FailurePolicy = { kind: 'retry', delaysMs: [1_000, 5_000] };
const TIMEOUT: FailurePolicy = { kind: 'end_iteration', maxInARow: 3 };
const DAY_MS = 24 * 60 * 60 * 1000;

/** The service behind the agent, not the agent: what its breaker counts. */
export function isServiceFailure(
  failureClass: FailureClass | null | undefined,
): failureClass is FailureClass {
  return !!failureClass && FAILURE_POLICIES[failureClass] === FLAKY_SERVICE;
}

export const FAILURE_POLICIES: Record<FailureClass, FailurePolicy> = {
  crashed: CRASH,
  spawn_failed: CRASH,
  network: FLAKY_SERVICE,
  overloaded: FLAKY_SERVICE,
  rate_limit: FLAKY_SERVICE,
  usage_limit: { kind: 'wait', maxWaits: 5, maxTotalMs: DAY_MS },
  timeout_idle: TIMEOUT,
  timeout_hard: TIMEOUT,
  auth: { kind: 'block' },
  denied: { kind: 'block' },
  context_overflow: { kind: 'retry', delaysMs: [0] },
  cancelled: { kind: 'as_asked' },
};
