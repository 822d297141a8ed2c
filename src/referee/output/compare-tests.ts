/** What became of the tests that there were: on the base commit, and on the claimed one. Pure. */
import { normaliseMessage } from './normalise.ts';
import type { TestCounts, TestGroup, TestNames, TestsSeen } from './tests.ts';

export interface TestChanges {
  /** So many tests fewer ran. */
  fewer: number;
  /** Tests of the base that are not there now: by name where all are named, else by file, with how many. */
  missing: string[];
  /** Ran on the base, and are skipped now. */
  newlySkipped: string[];
  moreSkipped: number;
  newlyFailed: string[];
  /** Fail as they did on the base. */
  knownFailed: string[];
}

/** Where names are not told, only numbers count. A claim that says nothing of tests has lost all of them. */
export function compareTests(base: TestsSeen, claim: TestsSeen): TestChanges {
  const fewer = countFewer(base, claim);
  const [then, now] = [base.names, claim.names];
  const failed = new NameBag(then?.failed ?? []).take(now?.failed ?? []);
  return {
    fewer,
    missing: findMissing(base, claim, fewer),
    newlySkipped: findSkipped(then, now),
    moreSkipped: Math.max(
      0,
      (claim.counts?.skipped ?? 0) - (base.counts?.skipped ?? Number.POSITIVE_INFINITY),
    ),
    newlyFailed: failed.others,
    knownFailed: failed.taken,
  };
}

function countFewer(base: TestsSeen, claim: TestsSeen): number {
  if (base.counts === null) return 0;
  if (claim.counts === null) return base.counts.ran;
  if (areSilent(base, claim)) return sumOf(lostGroups(base.names?.groups ?? [], claim.names?.groups ?? []));
  return Math.max(0, base.counts.ran - ranOf(claim));
}

/** Neither counts what passes: all that can be seen is whether a package still has tests. */
function areSilent({ counts: then }: TestsSeen, { counts: now }: TestsSeen): boolean {
  return then?.isLowerBound === true && now?.isLowerBound === true;
}

/** The same command counts alike: what is silent in the claim alone ended before its tests. */
function ranOf({ counts, names }: TestsSeen): number {
  if (counts?.isLowerBound) return (names?.passed.length ?? 0) + (names?.failed.length ?? 0);
  return counts?.ran ?? 0;
}

function findMissing(base: TestsSeen, claim: TestsSeen, fewer: number): string[] {
  const [then, now] = [base.names, claim.names];
  if (then === null) return [];
  const all = [...then.passed, ...then.failed, ...then.skipped];
  if (claim.counts === null) return all.length > 0 ? all : then.groups.map(({ name }) => name);
  if (areSilent(base, claim)) return lostGroups(then.groups, now?.groups ?? []).map(({ name }) => name);
  if (now !== null && (now.isComplete || claim.counts.isLowerBound)) {
    return new NameBag([...now.passed, ...now.failed, ...now.skipped]).take(all).others;
  }
  const isTold = isCounted(then.groups, base.counts) && isCounted(now?.groups ?? [], claim.counts);
  if (fewer === 0 || !isTold) return [];
  const left = new Map((now?.groups ?? []).map(({ name, ran }) => [name, ran]));
  return then.groups.flatMap(({ name, ran }) => {
    const gone = ran - (left.get(name) ?? 0);
    return gone > 0 ? [`${name} (${gone} fewer)`] : [];
  });
}

/** Only what the base is known to have run, or all where that is not known. */
function findSkipped(then: TestNames | null, now: TestNames | null): string[] {
  if (now === null) return [];
  const skipped = new NameBag(then?.skipped ?? []).take(now.skipped).others;
  if (!then?.isComplete) return skipped;
  return new NameBag([...then.passed, ...then.failed]).take(skipped).taken;
}

function lostGroups(then: readonly TestGroup[], now: readonly TestGroup[]): TestGroup[] {
  const names = new Set(now.map(({ name }) => name));
  return then.filter(({ name, ran }) => ran > 0 && !names.has(name));
}

/** Some reporters tell of failing files only. */
function isCounted(groups: readonly TestGroup[], counts: TestCounts | null): boolean {
  return counts !== null && sumOf(groups) === counts.ran;
}

function sumOf(groups: readonly TestGroup[]): number {
  return groups.reduce((sum, { ran }) => sum + ran, 0);
}

/**
 * Names, each as often as it was told. A duration, seed or date in a name changes from run to run, so every number is like
 * every other. A test that moved to another file is the same test.
 */
class NameBag {
  readonly #names: readonly string[];

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Which of these are in the bag, each of its own used once: as they are, but for numbers, but for their file. */
  take(names: readonly string[]): { taken: string[]; others: string[] } {
    let others = [...names.keys()];
    let left = this.#names;
    for (const form of FORMS) ({ others, left } = takeBy(form, names, { others, left }));
    const isOther = new Set(others);
    return {
      taken: names.filter((_, at) => !isOther.has(at)),
      others: others.map((at) => names[at]!),
    };
  }
}

const FORMS: readonly ((name: string) => string)[] = [
  (name) => name,
  formOf,
  (name) => formOf(withoutFile(name)),
];

/** What is still not found, by its place in `names`, and what is still in the bag. */
interface Search {
  others: number[];
  left: readonly string[];
}

function takeBy(form: (name: string) => string, names: readonly string[], { others, left }: Search): Search {
  const stock = new Map<string, string[]>();
  for (const name of left) {
    const key = form(name);
    const kept = stock.get(key);
    if (kept === undefined) stock.set(key, [name]);
    else kept.push(name);
  }
  const missed = others.filter((at) => stock.get(form(names[at]!))?.pop() === undefined);
  return { others: missed, left: [...stock.values()].flat() };
}

function formOf(name: string): string {
  return normaliseMessage(name).replace(/\d+/g, '#');
}

function withoutFile(name: string): string {
  return name.replace(/^\S+\.\w+(?: > |::)/, '');
}
