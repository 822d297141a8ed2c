/** Vitest: the default, verbose and dot reporters share the list of failures and the summary. */
import type { ParsedIssue } from '../issue.ts';
import { countTests, namesOf, type TestCounts, type TestNames, testName } from '../tests.ts';
import {
  anyLine,
  failingSuite,
  failingTest,
  firstWords,
  type OutputParser,
  type ParserInput,
  unnamedFailures,
} from './parser.ts';
import { readLists } from './vitest-names.ts';

const RUN = /^ ?(?:RUN|DEV) {2}v\d/;
const SUMMARY = /^ *Test Files {2}\S/;
const TESTS = /^ *Tests {2}(?:no tests|(?<parts>\d+ [a-z ]+(?: \| \d+ [a-z ]+)*) \(\d+\))$/;
const NO_FILES = /^No test files found, exiting with code \d/;
const FAIL = /^ ?FAIL {1,2}(?:\|[^|]*\| | [^\s|]+ {2})?(?<file>\S.*?)(?: > (?<name>.*))?$/;
const SUITE = /^(?<file>.+) \[ .+ \]$/;
const UNHANDLED = /^⎯+ Unhandled (?:Errors?|Rejection|Exception|Source Error)s? ⎯+$/;
const ORIGIN = /^This error originated in "(?<file>[^"]+)" test file\./;
const COVERAGE = /^ERROR: (?<message>Coverage for .* does not meet .*threshold.*)$/;

export const vitest: OutputParser = {
  name: 'vitest',
  runs: ([tool = '']) => tool === 'vitest',
  recognises: ({ lines }) => anyLine(lines, RUN) || anyLine(lines, SUMMARY),
  parse(input) {
    const { tests, expected } = readCounts(input);
    const issues = readFailures(input);
    const named = issues.some(({ source, code }) => source === 'Test' && code !== 'unhandled');
    if (!named && tests !== null) issues.push(...unnamedFailures(tests.failed));
    return { issues, tests, names: readNames(input, tests, expected) };
  },
};

function readFailures(input: ParserInput): ParsedIssue[] {
  const issues: ParsedIssue[] = [];
  let unhandled: string | undefined;
  const flush = (file: string | null): void => {
    if (unhandled === undefined) return;
    issues.push({ ...failingTest(input, { file, name: unhandled }), code: 'unhandled' });
    unhandled = undefined;
  };
  input.lines.forEach((line, index) => {
    const fail = line.includes('FAIL') ? FAIL.exec(line)?.groups : undefined;
    if (fail !== undefined) {
      const suite = fail.name === undefined ? SUITE.exec(fail.file!)?.groups?.file : undefined;
      const detail = firstWords(input.lines, afterFails(input.lines, index));
      if (fail.name === undefined) issues.push(failingSuite(input, suite ?? fail.file!, detail));
      else issues.push(failingTest(input, { file: fail.file!, name: fail.name, detail }));
    } else if (UNHANDLED.test(line)) {
      flush(null);
      // The first headline only counts them; each has a headline of its own below it.
      if (!/Errors/.test(line)) unhandled = firstWords(input.lines, index + 1) ?? 'unhandled error';
    } else if (line.startsWith('This error')) {
      const origin = ORIGIN.exec(line)?.groups?.file;
      if (origin !== undefined) flush(origin);
    } else if (line.startsWith('ERROR: ')) {
      const message = COVERAGE.exec(line)?.groups?.message;
      if (message) issues.push({ ...failingTest(input, { file: null, name: message }), code: 'coverage' });
    }
  });
  flush(null);
  return issues;
}

/** Tests that fail alike are listed one below the other, and the error stands once below the last. */
function afterFails(lines: readonly string[], index: number): number {
  let next = index + 1;
  while (next < index + 20 && FAIL.test(lines[next] ?? '')) next++;
  return next;
}

/** A test that is expected to fail (`it.fails`) is skipped: nobody would see that its subject breaks. */
function readCounts({ lines, isOneRun }: ParserInput): { tests: TestCounts | null; expected: number } {
  let counts: Record<'passed' | 'failed' | 'skipped', number> | null = null;
  let expected = 0;
  for (const line of lines) {
    const tests = /Tests {2}/.test(line) ? TESTS.exec(line) : null;
    if (tests === null && !NO_FILES.test(line)) continue;
    if (isOneRun) [counts, expected] = [null, 0];
    counts ??= { passed: 0, failed: 0, skipped: 0 };
    for (const [, count, what] of (tests?.groups?.parts ?? '').matchAll(/(\d+) ([a-z]+)/g)) {
      if (what === 'failed' || what === 'passed') counts[what] += Number(count);
      else counts.skipped += Number(count);
      if (what === 'expected') expected += Number(count);
    }
  }
  return { tests: counts && countTests(counts), expected };
}

function readNames(input: ParserInput, tests: TestCounts | null, expected: number): TestNames | null {
  const { named, groups } = readLists(input);
  const fails = input.lines.flatMap((line) => {
    const fail = line.includes('FAIL') ? FAIL.exec(line)?.groups : undefined;
    return fail?.name === undefined ? [] : [testName([input.path(fail.file!), fail.name])];
  });
  // A test with several errors is listed once for each.
  const failed = fails.length > (tests?.failed ?? 0) ? [...new Set(fails)] : fails;
  // The lists show a test that is expected to fail among those that passed.
  const listed = tests && { ...tests, passed: tests.passed + expected, skipped: tests.skipped - expected };
  return namesOf({ ...named, failed }, listed, groups);
}
