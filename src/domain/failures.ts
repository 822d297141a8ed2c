/** Why a run did not succeed, and what happens next. Retries are not iterations. */
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
  | { kind: 'patience'; firstMs: number; longestMs: number; quickRetries: number }
  | { kind: 'wait'; maxWaits: number; maxTotalMs: number }
  | { kind: 'end_iteration'; maxInARow: number }
  | { kind: 'block' }
  | { kind: 'as_asked' };

/** How long a session waits in a row for a service that does not answer, unless its settings say otherwise. */
export const DEFAULT_PATIENCE_MS = 6 * 60 * 60 * 1000;
export const CRASH_DELAYS_MS: readonly number[] = [1_000, 5_000];

/** After its quick retries (a minute in all) a service counts as away, and the breaker keeps others from it. */
const SERVICE_AWAY = { kind: 'patience', firstMs: 2_000, longestMs: 15 * 60_000, quickRetries: 5 } as const;
const CRASH: FailurePolicy = { kind: 'retry', delaysMs: CRASH_DELAYS_MS };
const TIMEOUT: FailurePolicy = { kind: 'end_iteration', maxInARow: 3 };
const DAY_MS = 24 * 60 * 60 * 1000;

/** The service behind the agent, not the agent: what its breaker counts. */
export function isServiceFailure(
  failureClass: FailureClass | null | undefined,
): failureClass is FailureClass {
  return !!failureClass && FAILURE_POLICIES[failureClass] === SERVICE_AWAY;
}

/** Whether a service that has failed this many retries in a row is taken for away. */
export function isAway(retries: number): boolean {
  return retries >= SERVICE_AWAY.quickRetries;
}

export const FAILURE_POLICIES: Record<FailureClass, FailurePolicy> = {
  crashed: CRASH,
  spawn_failed: CRASH,
  network: SERVICE_AWAY,
  overloaded: SERVICE_AWAY,
  rate_limit: SERVICE_AWAY,
  usage_limit: { kind: 'wait', maxWaits: 5, maxTotalMs: DAY_MS },
  timeout_idle: TIMEOUT,
  timeout_hard: TIMEOUT,
  auth: { kind: 'block' },
  denied: { kind: 'block' },
  context_overflow: { kind: 'retry', delaysMs: [0] },
  cancelled: { kind: 'as_asked' },
};
