/** What the held-out checks mean for a claim that nothing else speaks against. Pure. */
import type { HeldOut, Judgement } from '../domain/judgement.ts';
import { compareTests } from './output/compare-tests.ts';
import type { CheckRun } from './run-commands.ts';

export interface HeldOutRun {
  check: HeldOut;
  /** `null`: its files are gone, and it did not run. */
  run: CheckRun | null;
  /** The files that it ran with. */
  digest: string | null;
}

export interface HeldOutFacts {
  /** The same on the base; none where the base was not read. */
  base: readonly HeldOutRun[];
  claim: readonly HeldOutRun[];
  /** A part of a larger work: what failed on the base may fail still. */
  mayFailAsBefore: boolean;
}

export function decideHeldOut(judgement: Judgement, facts: HeldOutFacts): Judgement {
  const { claim } = facts;
  if (claim.length === 0) return judgement;
  const told = {
    ...judgement,
    heldOut: claim.map(({ run }) => ({ holds: run?.holds ?? false, tests: run?.tests.counts ?? null })),
  };
  const failures = claim.flatMap(({ run, ...found }) => (run ? failureOf({ ...found, run }, facts) : []));
  if (failures.length > 0) return { ...told, verdict: 'rejected', reasons: failures };
  if (!claim.some((found) => isChanged(found, facts)) || judgement.allowedBy) return told;
  // A person has to know, no matter who changed them.
  return {
    ...told,
    verdict: 'ask',
    trust: 'verified_checks_changed',
    reasons: [...judgement.reasons, 'The held-out files are not those that the session began with.'],
  };
}

function isChanged({ check, digest, run }: HeldOutRun, { base }: HeldOutFacts): boolean {
  if (run === null) return true;
  const before = base.find((found) => isSame(found.check, check));
  return before !== undefined && before.digest !== digest;
}

function failureOf({ check, run, digest }: HeldOutRun & { run: CheckRun }, facts: HeldOutFacts): string[] {
  const before = facts.base.find((found) => isSame(found.check, check) && found.digest === digest)?.run;
  if (run.tests.ranNoTest) return ['A held-out check ran no test.'];
  if (run.swallowed > 0 && (before?.swallowed ?? 0) === 0)
    return [`A held-out check ended with exit 0 although tests failed${named(check, run)}`];
  if (!run.holds) {
    const isOld = facts.mayFailAsBefore && before != null && isNoWorse(run, before);
    return isOld ? [] : [`A held-out check failed${named(check, run)}`];
  }
  if (!before) return [];
  const { fewer, moreSkipped } = compareTests(before.tests, run.tests);
  return fewer > 0 || moreSkipped > 0 ? ['A held-out check ran fewer tests than on the base.'] : [];
}

function isNoWorse(run: CheckRun, before: CheckRun): boolean {
  if (before.holds) return false;
  return compareTests(before.tests, run.tests).newlyFailed.length === 0;
}

function isSame(a: HeldOut, b: HeldOut): boolean {
  return a.from === b.from && a.to === b.to && a.command === b.command;
}

const NAMES_TOLD = 10;
const LINES_TOLD = 60;

/** As much as the setting `reveal` allows. */
function named({ reveal }: HeldOut, { tests, record }: CheckRun): string {
  const failed = tests.names?.failed ?? [];
  if (reveal === 'nothing') return '.';
  const more = failed.length > NAMES_TOLD ? ` and ${failed.length - NAMES_TOLD} more` : '';
  const names = failed.length === 0 ? '.' : `: ${failed.slice(0, NAMES_TOLD).join(', ')}${more}`;
  if (reveal === 'names') return names;
  return `${names}\n${record.outputTail.split('\n').slice(-LINES_TOLD).join('\n')}`;
}
