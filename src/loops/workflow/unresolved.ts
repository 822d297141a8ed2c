/** Issues that pulses were accepted with. Every view must show them to the person who reviews. */
import type { Trust } from '../../domain/check-words.ts';
import type { UnresolvedIssue } from './model.ts';

export interface Unresolved extends UnresolvedIssue {
  /** The plan's id of the pulse. */
  pulse: string;
}

interface Pulse {
  planned_pulse_id: string;
  status: string;
  unresolved_issues: readonly UnresolvedIssue[];
}

/** Of the newest row of each planned pulse, in order. */
export function unresolvedOf(pulses: readonly Pulse[]): Unresolved[] {
  const newest = new Map(pulses.map((pulse) => [pulse.planned_pulse_id, pulse]));
  return [...newest.values()]
    .filter(({ status }) => status === 'succeeded')
    .flatMap(({ planned_pulse_id: pulse, unresolved_issues: issues }) =>
      issues.map(({ issue, reason }) => ({ pulse, issue, reason })),
    );
}

/** How far a workflow can be relied on: `unverified` once something is done and no check was ever asked. */
export function workflowTrust(
  { trust }: { trust: Trust | null },
  pulses: readonly { status: string }[],
): Trust | null {
  return trust ?? (pulses.some(({ status }) => status === 'succeeded') ? 'unverified' : null);
}

/** One line for each. */
export function unresolvedLines(unresolved: readonly Unresolved[]): string[] {
  return unresolved.map(({ pulse, issue, reason }) => `${pulse}: ${issue} (${reason})`);
}

/** Why a workflow waits for review: what was not resolved is the first thing that a reviewer should know. */
export function reviewDetail(pulses: readonly Pulse[]): string {
  const done = 'All pulses are done: the workflow waits for review.';
  const left = unresolvedLines(unresolvedOf(pulses));
  return left.length === 0 ? done : [done, 'Not resolved, and accepted so:', ...left].join('\n');
}
