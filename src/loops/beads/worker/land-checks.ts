/** All that must hold on a tree that lands: what its beads are verified by, and what verified those before them. */
import type { HeldAttempt, Referee } from '../../../engine/ports.ts';
import type { Check } from '../graph/bead.ts';
import { type CheckedBead, type CheckRequest, runBeadChecks } from './bead-checks.ts';
import {
  type EarlierCheck,
  runEarlierChecks,
  splitEarlier,
  toOutdated,
  withEarlier,
} from './earlier-checks.ts';
import type { OutdatedCheck } from './model.ts';

export interface LandRequest extends CheckRequest {
  earlier: readonly EarlierCheck[];
  /** The tree of `baseSha`. */
  baseTree(): Promise<string>;
}

export interface CheckedLanding extends CheckedBead {
  /** Earlier checks that the beads end, with the plan's leave. */
  outdated: OutdatedCheck[];
}

/** `seen` is of the beads' own checks. What these refuse is not asked further. */
export async function runLandChecks(
  referee: Referee,
  attempt: HeldAttempt,
  { earlier, baseTree, ...request }: LandRequest,
): Promise<CheckedLanding> {
  const { checks: own, changesChecks = false } = request;
  const { others, shared } = splitEarlier(earlier, own);
  // Where a bead that changes checks expects something else of the same command, its word replaces the earlier one.
  const replaced = changesChecks ? shared : [];
  const asked: Check[] = changesChecks ? [...own] : [...own, ...shared];
  const checked = await runBeadChecks(referee, attempt, { ...request, checks: asked });
  const seen = checked.seen.slice(0, own.length);
  if (checked.reasons.length > 0)
    return { ...checked, seen, reasons: nameOwners(checked.reasons, shared), outdated: [] };
  const after = await runEarlierChecks(referee, attempt, { ...request, checks: others, baseTree });
  const outdated = [...replaced.map(toOutdated), ...after.outdated];
  return {
    records: [...checked.records, ...after.records],
    judgement: withEarlier(checked.judgement, { ...after, outdated }),
    reasons: after.reasons,
    seen,
    outdated,
  };
}

/** Which beads have the command that a reason is about. */
export function nameOwners(
  reasons: readonly string[],
  checks: readonly { command: string; whose: string }[],
): string[] {
  return reasons.map((reason) => {
    const owners = checks
      .filter(({ command }) => reason.startsWith(`${command}: `))
      .map(({ whose }) => whose);
    return owners.length === 0 ? reason : `The check of ${[...new Set(owners)].join(', ')}: ${reason}`;
  });
}
