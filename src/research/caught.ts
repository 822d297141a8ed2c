/** What makes an experiment void whatever it measured (contract 5, "Caught and named"). The first found is its reason. */
import type { ScopeBreach } from './scope.ts';

export const CAUGHT_REASONS = [
  'tried_before',
  'pinned_file_changed',
  'changed_outside_scope',
  'state_left_outside_commit',
  'pattern_not_once',
  'guard_failed',
  'confirm_disagrees',
] as const;
export type CaughtReason = (typeof CAUGHT_REASONS)[number];

export interface Findings {
  breaches: readonly ScopeBreach[];
  /** Paths that measuring left behind or depended on, outside the commit. */
  stateLeft: readonly string[];
  /** How often the pattern matched; `null`: there is none. */
  patternMatches: number | null;
  /** `null`: no guard, or not asked yet. */
  isGuardPassed: boolean | null;
  /** `null`: no held-out command, or not asked yet: it is asked only when a keep is near. */
  doesConfirmAgree: boolean | null;
}

export interface Caught {
  reason: CaughtReason;
  text: string;
}

export function firstCaught(findings: Findings): Caught | null {
  const { breaches, stateLeft, patternMatches } = findings;
  const pathsOf = (kind: ScopeBreach['kind']): string[] =>
    breaches.filter((breach) => breach.kind === kind).map(({ path }) => path);
  const [pinned, outside] = [pathsOf('pinned'), pathsOf('outside')];
  if (pinned.length > 0)
    return caught('pinned_file_changed', `It changed what measures it: ${list(pinned)}.`);
  if (outside.length > 0)
    return caught('changed_outside_scope', `It changed files out of scope: ${list(outside)}.`);
  if (stateLeft.length > 0) {
    return caught('state_left_outside_commit', `It left state outside its commit: ${list(stateLeft)}.`);
  }
  if (patternMatches !== null && patternMatches !== 1) {
    return caught('pattern_not_once', `The metric's pattern matched ${patternMatches} times, not once.`);
  }
  if (findings.isGuardPassed === false) return caught('guard_failed', 'The guard command failed.');
  if (findings.doesConfirmAgree === false) {
    return caught('confirm_disagrees', 'The held-out confirm command does not agree.');
  }
  return null;
}

function caught(reason: CaughtReason, text: string): Caught {
  return { reason, text };
}

const SHOWN = 5;

function list(paths: readonly string[]): string {
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
  return paths.slice(0, SHOWN).join(', ') + more;
}
