/** How many tests a run had, and what they are called. */

export interface TestCounts {
  /** Passed and failed. A test that ran and whose failure would not have mattered (todo, xfail) is skipped. */
  ran: number;
  passed: number;
  failed: number;
  skipped: number;
  /** The runner kept silent about passes (`go test` without -v, Gradle): there were at least so many. */
  isLowerBound?: true;
}

export interface TestNames {
  /** With the suites around it, and its file where that is told: `a.test.ts > cart > adds`. */
  passed: string[];
  failed: string[];
  skipped: string[];
  /** Every test of the run is named: one that is not named was not there. */
  isComplete: boolean;
  /** How many tests ran in a file, class or package: often told where the names of passing tests are not. */
  groups: TestGroup[];
}

export interface TestGroup {
  name: string;
  ran: number;
}

/** What one run of a check showed of its tests. */
export interface TestsSeen {
  /** Null: nothing was said about tests. */
  counts: TestCounts | null;
  names: TestNames | null;
  /** A test runner spoke, and no test ran: never a pass, even with exit 0. */
  ranNoTest: boolean;
}

export type NamedTests = Pick<TestNames, 'passed' | 'failed' | 'skipped'>;

const MAX_PART = 500;
const MAX_PARTS = 32;
const MAX_NAME = 1500;

export function countTests({ passed, failed, skipped }: Omit<TestCounts, 'ran'>): TestCounts {
  return { ran: passed + failed, passed, failed, skipped };
}

export function addCounts(a: TestCounts | null, b: TestCounts | null): TestCounts | null {
  if (a === null || b === null) return a ?? b;
  return {
    ran: a.ran + b.ran,
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    ...(a.isLowerBound || b.isLowerBound ? { isLowerBound: true } : {}),
  };
}

/** Several runs in one output: complete only if each of them is. */
export function addNames(all: readonly TestNames[]): TestNames | null {
  if (all.length < 2) return all[0] ?? null;
  return {
    passed: all.flatMap(({ passed }) => passed),
    failed: all.flatMap(({ failed }) => failed),
    skipped: all.flatMap(({ skipped }) => skipped),
    isComplete: all.every(({ isComplete }) => isComplete),
    groups: all.flatMap(({ groups }) => groups),
  };
}

export function noNames(): NamedTests {
  return { passed: [], failed: [], skipped: [] };
}

/** Complete where there are exactly as many names as tests were counted. Null where nothing is named. */
export function namesOf(
  { passed, failed, skipped }: NamedTests,
  counts: TestCounts | null,
  groups: TestGroup[] = [],
): TestNames | null {
  if (counts === null) return null;
  const isComplete =
    !counts.isLowerBound &&
    passed.length === counts.passed &&
    failed.length === counts.failed &&
    skipped.length === counts.skipped;
  const isEmpty = passed.length + failed.length + skipped.length + groups.length === 0;
  return isEmpty && !isComplete ? null : { passed, failed, skipped, isComplete, groups };
}

/** Bounded: suites can be nested as deep as a line is long, and every test in them would carry all of their names. */
export function testName(parts: readonly (string | null | undefined)[]): string {
  const told = parts.filter((part): part is string => Boolean(part)).map((part) => part.slice(0, MAX_PART));
  return told.slice(0, MAX_PARTS).join(' > ').slice(0, MAX_NAME);
}
