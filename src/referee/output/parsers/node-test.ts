/** node:test: the spec reporter's lists and numbers, the dot reporter, and TAP (of any producer). */
import type { ParsedIssue } from '../issue.ts';
import {
  addCounts,
  addNames,
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
  type OutputParser,
  type ParserInput,
  unnamedFailures,
} from './parser.ts';
import { countPoints, isFailure, isTap, readPoints } from './tap.ts';

const COUNT = /^ℹ (?<what>tests|suites|pass|fail|cancelled|skipped|todo) (?<count>\d+)$/u;
const PLACE = /^test at (?<file>\S.*?):(?<line>\d+):\d+$/;
const FAILED = /^✖ (?<name>\S.*?)(?: \([\d.]+ ?ms\))?$/u;
const OPENED = /^(?<indent> *)▶ (?<name>\S.*)$/u;
const LISTED =
  /^(?<indent> *)(?<sign>[✔✖﹣⚠]) (?<name>\S.*?)(?: \([\d.]+ ?ms\))?(?: # (?<mark>SKIP|TOD[O])\b.*)?$/u;
/** By its name, or because a command names it: node runs such a file and reports it like a test. */
const TEST_FILE =
  /(?:^|[\\/])(?:test[\\/]\S*|test-[^\s\\/]+|test|[^\s\\/]+[._-](?:test|spec))\.(?:[cm]?[jt]s|[jt]sx)$/;
const ANY_FILE = /^\S+\.(?:[cm]?[jt]s|[jt]sx)$/;
const TAP_WORD = /^(?:--(?:test-)?reporter=)?tap(?:-flat)?$|^--tap$/;

export const nodeTest: OutputParser = {
  name: 'node:test/tap',
  runs: ([tool = '', ...rest]) =>
    (tool === 'node' && rest.some((word) => /^--test(?:$|-)/.test(word))) ||
    ['tap', 'tape', 'bats'].includes(tool) ||
    rest.some((word) => TAP_WORD.test(word)),
  recognises: ({ lines }) => anyLine(lines, /^ℹ tests \d+$/u) || isTap(lines),
  parse(input) {
    const points = isTap(input.lines) ? readPoints(input.lines) : [];
    const tapFailures = points.filter(isFailure).map((point) => failure(input, point));
    const isTest = ({ name, path, result }: (typeof points)[number]): boolean =>
      result !== 'passed' || path.length > 0 || !isTestFile(input, name);
    const tap = countPoints(
      input.lines,
      points.filter((point) => !point.isTimed || isTest(point)),
    );
    const spec = readSpec(input);
    const tests = addCounts(addCounts(spec.tests, readDots(input)), isTap(input.lines) ? tap.tests : null);
    const issues = [...readFailures(input), ...tapFailures];
    if (issues.length === 0) issues.push(...unnamedFailures(tests?.failed ?? 0));
    return { issues, tests, names: addNames([spec.names, tap.names].flatMap((names) => names ?? [])) };
  },
};

/** Only the list of failing tests is read: there, a parent whose children failed is not named again. */
function readFailures(input: ParserInput): ParsedIssue[] {
  return input.lines.flatMap((line, index) => {
    const place = line.startsWith('test at ') ? PLACE.exec(line)?.groups : undefined;
    const name = place && FAILED.exec(input.lines[index + 1] ?? '')?.groups?.name;
    if (!place || name === undefined) return [];
    const detail = input.lines[index + 2]?.trim();
    return [failure(input, { file: place.file!, name, detail, line: Number(place.line) })];
  });
}

function failure(
  input: ParserInput,
  { file, name, detail, line }: { file: string | null; name: string; detail?: string; line?: number },
): ParsedIssue {
  // A file that cannot be loaded is reported as a test that has the file's name.
  if (file !== null && input.path(name) === input.path(file)) return failingSuite(input, file, detail);
  return failingTest(input, { file, name, detail, line });
}

/**
 * A file in which no test was found, or none that a filter left, or that ended before its first test, is reported as a
 * test that passed. It is none.
 */
function isTestFile({ commands }: ParserInput, name: string): boolean {
  if (!ANY_FILE.test(name)) return false;
  return TEST_FILE.test(name) || commands.some((words) => words.includes(name));
}

function readSpec(input: ParserInput): { tests: TestCounts | null; names: TestNames | null } {
  const sums = readSums(input);
  if (sums === null) return { tests: null, names: null };
  const { named, total, files } = readList(input);
  const tests = countTests({
    passed: Math.max(0, sums.pass - files),
    failed: sums.fail + sums.cancelled,
    skipped: sums.skipped + sums.todo,
  });
  // A suite cannot be told from a test that has subtests, so neither is named; but all that was counted was seen.
  const names = namesOf(named, tests);
  return { tests, names: names && { ...names, isComplete: total === sums.tests + sums.suites } };
}

type Sums = Record<'tests' | 'suites' | 'pass' | 'fail' | 'cancelled' | 'skipped' | 'todo', number>;

function readSums({ lines, isOneRun }: ParserInput): Sums | null {
  let sums: Sums | null = null;
  for (const line of lines) {
    const groups = line.startsWith('ℹ') ? COUNT.exec(line)?.groups : undefined;
    if (groups === undefined) continue;
    // `tests` is the first of a sum.
    if (isOneRun && groups.what === 'tests') sums = null;
    sums ??= { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };
    sums[groups.what as keyof Sums] += Number(groups.count);
  }
  return sums;
}

function readList(input: ParserInput): { named: NamedTests; total: number; files: number } {
  const named = noNames();
  let [total, files] = [0, 0];
  let open: { depth: number; name: string }[] = [];
  input.lines.forEach((line, index) => {
    const opened = OPENED.exec(line)?.groups;
    if (opened !== undefined) {
      open = open.filter(({ depth }) => depth < opened.indent!.length);
      open.push({ depth: opened.indent!.length, name: opened.name! });
      return;
    }
    // The list of failing tests names them again, each below its place.
    if (input.lines[index - 1]?.startsWith('test at ')) return;
    const item = LISTED.exec(line)?.groups;
    if (item === undefined || line === '✖ failing tests:') return;
    total++;
    const depth = item.indent!.length;
    const isParent = open.some((suite) => suite.depth === depth && suite.name === item.name);
    open = open.filter((suite) => suite.depth < depth);
    if (isParent) return;
    if (item.sign === '✔' && item.mark === undefined && depth === 0 && isTestFile(input, item.name!)) files++;
    else listOf(named, item.sign!, item.mark).push(testName([...open.map(({ name }) => name), item.name]));
  });
  return { named, total, files };
}

function listOf({ passed, failed, skipped }: NamedTests, sign: string, mark: string | undefined): string[] {
  if (mark !== undefined || sign === '﹣' || sign === '⚠') return skipped;
  return sign === '✔' ? passed : failed;
}

/** Suites have a dot too, and so has what was skipped. Only where the command asks for dots: they say too little. */
function readDots({ lines, commands }: ParserInput): TestCounts | null {
  const asks = commands.some((words) =>
    words.some(
      (word, index) =>
        word === '--test-reporter=dot' || (word === 'dot' && words[index - 1] === '--test-reporter'),
    ),
  );
  if (!asks) return null;
  const end = lines.indexOf('Failed tests:');
  const dots = lines
    .slice(0, end === -1 ? undefined : end)
    .filter((line) => /^[.X]+$/.test(line))
    .join('');
  const failed = dots.length - dots.replaceAll('X', '').length;
  return countTests({ passed: dots.length - failed, failed, skipped: 0 });
}
