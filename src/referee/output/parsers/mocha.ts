/** Mocha, and what prints as it does (Cypress): the spec list, the numbers, the list of failures. */
import type { ParsedIssue } from '../issue.ts';
import { countTests, type NamedTests, namesOf, noNames, type TestCounts, testName } from '../tests.ts';
import {
  anyLine,
  failingTest,
  firstWords,
  type OutputParser,
  type ParserInput,
  unnamedFailures,
} from './parser.ts';

const PASSING = /^ +(?<count>\d+) passing(?: \(\d+(?:ms|s|m|h|d)\))?$/;
const OTHERS = /^ +(?<count>\d+) (?<what>pending|failing)$/;
const LISTED =
  /^(?<indent> {2,})(?:(?<sign>[✔✓√]|-|\d+\)) )?(?<name>\S.*?)(?: \(\d+(?:\.\d+)?(?:ms|s|m)\))?$/u;
const FAILURE = /^ {2}\d+\) (?<suite>\S.*)$/;
const MAX_SUITES = 20;

export const mocha: OutputParser = {
  name: 'mocha',
  runs: ([tool = '']) => tool === 'mocha' || tool === '_mocha',
  recognises: ({ lines }) => anyLine(lines, PASSING),
  parse(input) {
    const tests = readCounts(input);
    const failures = readFailures(input);
    const named = readList(input.lines);
    const issues: ParsedIssue[] = failures.map(({ path, detail }) =>
      failingTest(input, { file: null, name: path.join(' > '), detail }),
    );
    if (issues.length === 0) issues.push(...unnamedFailures(tests?.failed ?? 0));
    const failed = failures.map(({ path }) => testName(path));
    return { issues, tests, names: namesOf({ ...named, failed }, tests) };
  },
};

function readCounts({ lines, isOneRun }: ParserInput): TestCounts | null {
  let counts: Record<'passed' | 'failed' | 'skipped', number> | null = null;
  for (const line of lines) {
    const passing = line.includes('passing') ? PASSING.exec(line)?.groups : undefined;
    if (passing !== undefined) {
      if (isOneRun) counts = null;
      counts ??= { passed: 0, failed: 0, skipped: 0 };
      counts.passed += Number(passing.count);
    }
    const other = counts === null ? undefined : OTHERS.exec(line)?.groups;
    if (counts === null || other === undefined) continue;
    counts[other.what === 'pending' ? 'skipped' : 'failed'] += Number(other.count);
  }
  return counts && countTests(counts);
}

/** The tree above the numbers. What a test prints can look like a suite: then the names do not add up to the counts. */
function readList(lines: readonly string[]): NamedTests {
  const named = noNames();
  let open: { depth: number; name: string }[] = [];
  let isBelow = false; // below the numbers stand the failures
  for (const line of lines) {
    if (PASSING.test(line)) isBelow = true;
    // npm and pnpm begin each run with a line that stands at the edge.
    else if (/^\S/.test(line)) isBelow = false;
    const item = isBelow ? undefined : LISTED.exec(line)?.groups;
    if (item === undefined) continue;
    const depth = item.indent!.length;
    open = open.filter((suite) => suite.depth < depth);
    const { sign, name = '' } = item;
    if (sign === undefined) open.push({ depth, name });
    else if (sign === '-') named.skipped.push(testName([...open.map((suite) => suite.name), name]));
    else if (!sign.endsWith(')')) named.passed.push(testName([...open.map((suite) => suite.name), name]));
  }
  return named;
}

interface Failure {
  path: string[];
  detail?: string;
}

/** `  1) suite`, then what is in it one below the other, and the last ends with a colon. */
function readFailures({ lines }: ParserInput): Failure[] {
  const start = lines.findIndex((line) => PASSING.test(line));
  if (start === -1) return [];
  const failures: Failure[] = [];
  for (let index = start; index < lines.length; index++) {
    const suite = FAILURE.exec(lines[index]!)?.groups?.suite;
    if (suite === undefined) continue;
    const path = [suite];
    let next = index + 1;
    while (!path.at(-1)!.endsWith(':') && path.length < MAX_SUITES && /^ {7,}\S/.test(lines[next] ?? '')) {
      path.push(lines[next]!.trim());
      next++;
    }
    if (!path.at(-1)!.endsWith(':')) continue;
    path.push(path.pop()!.slice(0, -1));
    failures.push({ path, detail: firstWords(lines, next) });
  }
  return failures;
}
