/** The words about checks that people write and read. Help reads them, so nothing is loaded here. */

/** What is done with a claim that changed the checks so that the old ones no longer hold. */
export const CHECK_POLICIES = ['ask', 'allow', 'forbid'] as const;
export type CheckPolicy = (typeof CHECK_POLICIES)[number];

/** Whether what failed on the base must pass for a completion. */
export const KNOWN_FAILURES = ['must-pass', 'may-fail'] as const;
export type KnownFailures = (typeof KNOWN_FAILURES)[number];

/** How far a result can be relied on, in one word on every surface. */
export const TRUST_WORDS = ['verified', 'verified_checks_changed', 'unverified', 'stale', 'false'] as const;
export type Trust = (typeof TRUST_WORDS)[number];

export function formatTrust(trust: Trust): string {
  return trust === 'verified_checks_changed' ? 'verified, checks changed' : trust;
}
