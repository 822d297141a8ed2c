/** The words about checks that people write and read. Help reads them, so nothing is loaded here. */

/** What is done with a claim that changed the checks so that the old ones no longer hold. */
export const CHECK_POLICIES = ['ask', 'allow', 'forbid'] as const;
export type CheckPolicy = (typeof CHECK_POLICIES)[number];

/** Whether what failed on the base must pass for a completion. */
export const KNOWN_FAILURES = ['must-pass', 'may-fail'] as const;
export type KnownFailures = (typeof KNOWN_FAILURES)[number];

/** What a failing held-out check tells the agent. */
export const REVEALS = ['names', 'nothing', 'output'] as const;

/** How far a result can be relied on, in one word on every surface. */
export const TRUST_WORDS = ['verified', 'verified_checks_changed', 'unverified', 'stale', 'false'] as const;
export type Trust = (typeof TRUST_WORDS)[number];

export function formatTrust(trust: Trust): string {
  return trust === 'verified_checks_changed' ? 'verified, checks changed' : trust;
}

/** What is still at work may lose it. */
export function describeTrust(status: string, trust: Trust): string {
  const isOpen = status !== 'complete' && trust.startsWith('verified');
  return `${formatTrust(trust)}${isOpen ? ' so far' : ''}`;
}

/** A whole is worth as much as the least of its parts: the words stand from most to least. */
export function leastTrust(before: Trust | null, now: Trust): Trust {
  if (before === null) return now;
  return TRUST_WORDS.indexOf(before) > TRUST_WORDS.indexOf(now) ? before : now;
}

export interface Result {
  kind: string;
  status: string;
  trust: Trust | null;
  verify: readonly string[];
}

/** `null`: nothing was claimed yet, or its loop has another measure. */
export function trustOf({ kind, status, trust, verify }: Result): Trust | null {
  if (trust) return trust;
  // Version 0.1 has kept no word. Of a goal, its commands tell.
  if (kind !== 'goal' || status !== 'complete') return null;
  return verify.length > 0 ? 'verified' : 'unverified';
}
