/** Jest: the failures below each `FAIL file`, and the summary at the end. */
import type { ParsedIssue } from '../issue.ts';
import {
  countTests,
  type NamedTests,
  namesOf,
  noNames,
  type TestCounts,
  type TestNames,
  testName,
} from '../tests.ts';
import {
  anyLine,
  failingSuite,
  failingTest,
  firstWords,
  type OutputParser,
  type ParserInput,
  unnamedFailures,
} from './parser.ts';

const SUITES = /^Test Suites: .*\d+ total$/;
const TESTS = /^Tests: {2,}(?<parts>(?:\d+ \w+, )*)\d+ total$/;
const NO_TESTS = /^No tests found, exiting with code \d/;
const FILE = /^ ?(?<result>FAIL|PASS) +(?<file>\S.*?)(?: \(\d[^()]*\))?$/;
const FAILURE = /^ {2}● (?<name>\S.*)$/;
const SUMMARY_OF_ALL = /^Summary of all failing tests$/;
const LISTED = /^(?<indent> +)(?:(?<sign>[✓√✕×○✎]) (?:skipped |todo )?)?(?<name>\S.*?)(?: \([\d.]+ m?s\))?$/u;
const THRESHOLD = /^Jest: (?<message>.*coverage threshold.*not met.*)$/;

export const jest: OutputParser = {
  name: 'jest',
  runs: ([tool = '', ...rest]) => tool === 'jest' || (tool === 'react-scripts' && rest[0] === 'test'),
  recognises: ({ lines }) => anyLine(lines, SUITES) || anyLine(lines, NO_TESTS),
  parse(input) {
    const tests = readCounts(input);
    const issues = readFailures(input);
    if (issues.length === 0 && tests !== null) issues.push(...unnamedFailures(tests.failed));
    return { issues, tests, names: readNames(input, issues, tests) };
  },
};

function readFailures(input: ParserInput): ParsedIssue[] {
  const issues: ParsedIssue[] = [];
  let file: string | null = null;
  let isRepeated = false;
  input.lines.forEach((line, index) => {
    if (SUMMARY_OF_ALL.test(line)) isRepeated = true; // with many suites every failure is printed a second time
    if (SUITES.test(line)) isRepeated = false;
    if (isRepeated) return;
    const heading = FILE.exec(line)?.groups;
    if (heading !== undefined) file = heading.result === 'FAIL' ? withoutProject(heading.file!) : null;
    const name = FAILURE.exec(line)?.groups?.name;
    if (name !== undefined && file !== null && name !== 'Console') {
      const detail = firstWords(input.lines, index + 1);
      if (name === 'Test suite failed to run') issues.push(failingSuite(input, file, detail));
      else issues.push(failingTest(input, { file, name, detail }));
    }
    const threshold = line.startsWith('Jest: ') ? THRESHOLD.exec(line)?.groups?.message : undefined;
    if (threshold) issues.push({ ...failingTest(input, { file: null, name: threshold }), code: 'coverage' });
  });
  return issues;
}

/** In a run of several projects the project's name stands before the path. */
function withoutProject(file: string): string {
  return /^\S+ (?<path>\S+\.\w+)$/.exec(file)?.groups?.path ?? file;
}

function readCounts({ lines, isOneRun }: ParserInput): TestCounts | null {
  let counts: Record<'passed' | 'failed' | 'skipped', number> | null = null;
  for (const line of lines) {
    const tests = TESTS.exec(line);
    if (tests === null && !NO_TESTS.test(line)) continue;
    if (isOneRun) counts = null;
    counts ??= { passed: 0, failed: 0, skipped: 0 };
    for (const [, count, what] of (tests?.groups?.parts ?? '').matchAll(/(\d+) (\w+)/g)) {
      if (what === 'failed' || what === 'passed') counts[what] += Number(count);
      if (what === 'skipped' || what === 'todo') counts.skipped += Number(count);
    }
  }
  return counts && countTests(counts);
}

/** Only the verbose list names all; failing tests are named below their file in any case. */
function readNames(
  input: ParserInput,
  issues: readonly ParsedIssue[],
  tests: TestCounts | null,
): TestNames | null {
  const named = readList(input);
  const told = issues.filter(({ file, code }) => file !== null && code === null);
  const failing = told.map(({ file, message }) => testName([file, message.replaceAll(' › ', ' > ')]));
  return namesOf({ ...named, failed: named.failed.length === tests?.failed ? named.failed : failing }, tests);
}

/** Right below `PASS file` or `FAIL file`, until the next empty line: tests have a sign, suites have none. */
function readList(input: ParserInput): NamedTests {
  const named = noNames();
  let file: string | null = null;
  let open: { depth: number; name: string }[] = [];
  for (const line of input.lines) {
    const heading = FILE.exec(line)?.groups;
    if (heading !== undefined) {
      file = input.path(withoutProject(heading.file!));
      open = [];
      continue;
    }
    const item = file === null || line.startsWith('  ●') ? undefined : LISTED.exec(line)?.groups;
    if (item === undefined) {
      file = null;
      continue;
    }
    const depth = item.indent!.length;
    open = open.filter((suite) => suite.depth < depth);
    if (item.sign === undefined) open.push({ depth, name: item.name! });
    else listOf(named, item.sign).push(testName([file, ...open.map((suite) => suite.name), item.name]));
  }
  return named;
}

function listOf({ passed, failed, skipped }: NamedTests, sign: string): string[] {
  if (sign === '✓' || sign === '√') return passed;
  return sign === '○' || sign === '✎' ? skipped : failed;
}
