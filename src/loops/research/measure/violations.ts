/** What makes an experiment void; the first that is found is its reason (docs/protocol/research.md, Violations). */
import { tellingLines } from '../../../domain/telling-lines.ts';
import type { ScopeBreach } from './scope.ts';

export const VIOLATION_REASONS = [
  'tried_before',
  'pinned_file_changed',
  'changed_outside_scope',
  'state_left_outside_commit',
  'pattern_not_once',
  'guard_failed',
  'confirm_disagrees',
] as const;
export type CaughtReason = (typeof VIOLATION_REASONS)[number];

export interface Findings {
  breaches: readonly ScopeBreach[];
  /** Paths that measuring left behind or depended on, outside the commit. */
  stateLeft: readonly string[];
  /** How often the pattern matched; `null`: there is none. */
  patternMatches: number | null;
  /** `null`: no guard, or not asked yet. */
  isGuardPassed: boolean | null;
  /** The end of what it printed. */
  guardOutput?: string;
  /** `null`: no held-out command, or not asked yet: it is asked only when a keep is near. */
  doesConfirmAgree: boolean | null;
}

export interface Caught {
  reason: CaughtReason;
  text: string;
}

export function firstViolation(findings: Findings): Caught | null {
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
  if (findings.isGuardPassed === false) return caught('guard_failed', guardText(findings.guardOutput ?? ''));
  if (findings.doesConfirmAgree === false) {
    return caught('confirm_disagrees', 'The held-out confirm command does not agree.');
  }
  return null;
}

const GUARD_FAILED = 'The guard command failed.';
const GUARD_OUTPUT = 2_000;

/** Its first line names what failed, where the output does; then the output itself. */
function guardText(output: string): string {
  const [telling = ''] = tellingLines(output, 1);
  const first = [GUARD_FAILED, telling].filter((part) => part !== '').join(' ');
  const tail = output.trim().slice(-GUARD_OUTPUT).toWellFormed();
  return tail === '' || tail === telling ? first : `${first}\n${tail}`;
}

/** Whether an experiment was discarded for it. */
export function isGuardFailure(reason: string): boolean {
  return reason.startsWith(GUARD_FAILED);
}

function caught(reason: CaughtReason, text: string): Caught {
  return { reason, text };
}

const SHOWN = 5;

function list(paths: readonly string[]): string {
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
  return paths.slice(0, SHOWN).join(', ') + more;
}
