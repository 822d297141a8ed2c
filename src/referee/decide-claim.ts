/** What the runs of the checks mean for a claim (docs/protocol/referee.md). Pure. */
import type { CheckPolicy, KnownFailures } from '../domain/check-words.ts';
import type { CheckChange, DeclaredChange, Judgement } from '../domain/judgement.ts';
import { compareTests } from './output/compare-tests.ts';
import type { TestCounts } from './output/tests.ts';
import type { CheckRun } from './run-commands.ts';

export interface ClaimFacts {
  /** What the checks are held against; `null`: nobody has committed it. */
  baseSha: string | null;
  policy: CheckPolicy;
  known: KnownFailures;
  /** The same commands on the base, where they ran. */
  base: readonly CheckRun[];
  claim: readonly CheckRun[];
  changes: readonly CheckChange[];
  declared: readonly DeclaredChange[];
  /** A person has approved that this unit changes the checks. */
  changesChecks: boolean;
  /** The old checks on the claim; `null`: none was changed, or they need not run. */
  replay: { tree: string; runs: readonly CheckRun[] } | null;
  notes: Judgement['notes'];
}

/** Whether the old checks have to run on the claim before it can be decided. */
export function needsReplay(facts: Omit<ClaimFacts, 'replay'>): boolean {
  return facts.changes.length > 0 && failuresIn(facts.claim, facts).length === 0;
}

export function decideClaim(facts: ClaimFacts): Judgement {
  const { claim, changes, declared, replay, notes } = facts;
  const failures = failuresIn(claim, facts);
  const old = replay
    ? [...failuresIn(replay.runs, facts), ...lostIn(replay.runs, facts), ...forgivenIn(replay.runs, claim)]
    : [];
  const weakened = [...weakenedIn(claim, facts), ...(replay ? old.map(asOld) : [])];
  const common = {
    changes: [...changes],
    declared: [...declared],
    base: { commit: facts.baseSha, tests: countsOf(facts.base) },
    replay: replay && {
      tree: replay.tree,
      passed: old.length === 0,
      commands: replay.runs.map(({ record, holds }) => ({
        command: record.command,
        exit: record.exit,
        passed: holds,
        outputHash: record.outputHash,
      })),
    },
    notes: [...notes],
    flaky: [...claim, ...(replay?.runs ?? [])].filter(({ record }) => record.isFlaky).map(nameFlaky),
  };
  if (failures.length > 0) {
    const reasons = [...failures, ...beforeIn(claim, facts)];
    return { ...common, verdict: 'rejected', trust: 'verified', reasons };
  }
  if (weakened.length === 0) return { ...common, verdict: 'accepted', trust: 'verified', reasons: [] };
  return { ...common, ...decideWeakened(facts, weakened) };
}

function decideWeakened(
  { policy, changes, declared, changesChecks }: ClaimFacts,
  weakened: string[],
): Pick<Judgement, 'verdict' | 'trust' | 'reasons' | 'allowedBy'> {
  const trust = 'verified_checks_changed';
  if (policy === 'forbid')
    return {
      verdict: 'rejected',
      trust,
      reasons: [...weakened, 'The checks may not be changed: restore them.'],
    };
  if (changesChecks || policy === 'allow')
    return {
      verdict: 'accepted',
      trust,
      reasons: weakened,
      allowedBy: changesChecks ? 'plan' : 'policy',
    };
  const missing = undeclared(changes, declared);
  if (declared.length > 0 && missing.length === 0) return { verdict: 'ask', trust, reasons: weakened };
  return { verdict: 'rejected', trust, reasons: [...weakened, howToDeclare(missing)] };
}

function countsOf(base: readonly CheckRun[]): Record<string, TestCounts> {
  return Object.fromEntries(
    base.flatMap(({ record, tests: { counts } }) => (counts ? [[record.command, counts]] : [])),
  );
}

function undeclared(changes: readonly CheckChange[], declared: readonly DeclaredChange[]): string[] {
  const named = new Set(declared.map(({ path }) => path.replace(/^\.\//, '')));
  return changes.map(({ path }) => path).filter((path) => !named.has(path));
}

function howToDeclare(paths: readonly string[]): string {
  const named = paths.length === 0 ? '' : ` Not declared: ${paths.join(', ')}.`;
  return `Restore the checks as they were.${named} If the goal itself makes an old check wrong, say so when you say COMPLETE: add <checks_changed>path: reason</checks_changed> for each file, or checksChanged: [{path, reason}] to the tool call; a person then decides.`;
}

/** What alone refuses a claim. */
function failuresIn(
  runs: readonly CheckRun[],
  { base, known }: Pick<ClaimFacts, 'base' | 'known'>,
): string[] {
  return runs.flatMap((run) => {
    const { command, exit } = run.record;
    if (run.tests.ranNoTest) return [`${command} ran no test.`];
    const before = baseOf(base, command);
    if (run.swallowed > 0 && (before?.swallowed ?? 0) === 0)
      return [`${command} ended with exit 0 although ${run.swallowed} of its tests failed.`];
    if (isFalselyFlaky(run, before))
      return [
        `${command} failed and then passed${nameSome(run.failedFirst ?? [])} It failed on the base, too: it has to pass every time.`,
      ];
    if (run.holds) return [];
    if (known === 'may-fail' && isKnownFailure(run, before)) return [];
    const failed = run.tests.names?.failed ?? [];
    const named = failed.length > 0 ? `: ${listNames(failed)}` : '';
    return [`${command} failed (${exit === null ? 'it was stopped' : `exit ${exit}`})${named}`];
  });
}

/** What fails as it did before: a reader then looks for the cause in another place. */
function beforeIn(runs: readonly CheckRun[], { base }: Pick<ClaimFacts, 'base'>): string[] {
  return runs.flatMap((run) => {
    const { command } = run.record;
    const before = baseOf(base, command);
    if (run.holds || before === null || before.record.passed) return [];
    const isTold = run.tests.names !== null && before.tests.names !== null;
    const { knownFailed } = compareTests(before.tests, run.tests);
    if (isTold && knownFailed.length === 0) return [];
    return [`${command} failed on the base, too${nameSome(knownFailed)}`];
  });
}

/** What the work was to mend is not excused: code could fail once and pass then. */
function isFalselyFlaky({ record, failedFirst = [] }: CheckRun, base: CheckRun | null): boolean {
  if (!record.isFlaky || base === null || base.record.passed) return false;
  const known = base.tests.names?.failed ?? [];
  if (failedFirst.length === 0 || known.length === 0) return true;
  return failedFirst.some((name) => known.includes(name));
}

/** Every test that fails was failing on the base, and no other. */
function isKnownFailure(run: CheckRun, base: CheckRun | null): boolean {
  if (base === null || base.record.passed || run.record.exit !== base.record.exit) return false;
  const { newlyFailed, knownFailed } = compareTests(base.tests, run.tests);
  const isTold = run.tests.names !== null && base.tests.names !== null;
  return isTold ? newlyFailed.length === 0 && knownFailed.length > 0 : false;
}

/** What makes the checks say less than they did on the base. */
function weakenedIn(claim: readonly CheckRun[], { base, changes }: ClaimFacts): string[] {
  return claim.flatMap((run) => {
    const { command } = run.record;
    const before = baseOf(base, command);
    const reasons = run.tampered.map((path) => `${command} changes ${path} while it runs.`);
    if (before === null) return reasons;
    const { fewer, moreSkipped, newlySkipped, ...found } = compareTests(before.tests, run.tests);
    const missing = found.missing.filter((name) => !isUnreadFile(name, before));
    if (fewer > 0) reasons.push(`${command} ran ${fewer} fewer tests than on the base${nameSome(missing)}`);
    // The tests are the same files, and still some of them did not run.
    else if (missing.length > 0 && changes.length === 0)
      reasons.push(`${command} no longer runs ${listNames(missing)}`);
    if (moreSkipped > 0)
      reasons.push(`${command} skipped ${moreSkipped} more tests than on the base${nameSome(newlySkipped)}`);
    return reasons;
  });
}

/** Tests of the base that the old checks do not run on the claim. */
function lostIn(runs: readonly CheckRun[], { base }: ClaimFacts): string[] {
  return runs.flatMap((run) => {
    const before = baseOf(base, run.record.command);
    if (before === null) return [];
    const { fewer, moreSkipped, ...found } = compareTests(before.tests, run.tests);
    const missing = found.missing.filter((name) => !isUnreadFile(name, before));
    if (fewer === 0 && missing.length === 0 && moreSkipped === 0) return [];
    return [`${run.record.command} runs fewer of them${nameSome(missing)}`];
  });
}

/**
 * What a loop forgives because it failed on the base, and what fails with the old checks alone: the claim has changed the
 * very check that it did not mend.
 */
function forgivenIn(runs: readonly CheckRun[], claim: readonly CheckRun[]): string[] {
  return runs.flatMap((run) => {
    const now = baseOf(claim, run.record.command);
    if (!run.holds || run.record.passed || now === null) return [];
    const isTold = run.tests.names !== null && now.tests.names !== null;
    const { newlyFailed } = compareTests(now.tests, run.tests);
    if (isTold ? newlyFailed.length === 0 : !now.record.passed) return [];
    return [`${run.record.command} failed (exit ${run.record.exit})${nameSome(newlyFailed)}`];
  });
}

/** A file that could not be loaded on the base is told as one failing test, with the name of the file. */
function isUnreadFile(name: string, { tests }: CheckRun): boolean {
  return /^[^\s>]+\.\w{1,5}$/.test(name) && (tests.names?.failed.includes(name) ?? false);
}

function asOld(reason: string): string {
  return `With the checks as they were on the base: ${reason}`;
}

function baseOf(base: readonly CheckRun[], command: string): CheckRun | null {
  return base.find(({ record }) => record.command === command) ?? null;
}

function nameFlaky({ record, tests }: CheckRun): string {
  const failed = tests.names?.failed ?? [];
  return failed.length > 0 ? `${record.command}: ${listNames(failed)}` : record.command;
}

const NAMES_TOLD = 10;

function nameSome(names: readonly string[]): string {
  return names.length === 0 ? '.' : `: ${listNames(names)}`;
}

function listNames(names: readonly string[]): string {
  const more = names.length - NAMES_TOLD;
  return `${names.slice(0, NAMES_TOLD).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
