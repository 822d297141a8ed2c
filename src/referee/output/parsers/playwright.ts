/** Playwright's own test runner: the list reporter, and the numbers that every reporter for people ends with. */
import type { ParsedIssue } from '../issue.ts';
import { countTests, namesOf, noNames, type TestCounts, testName } from '../tests.ts';
import { anyLine, failingTest, type OutputParser, type ParserInput, unnamedFailures } from './parser.ts';

const RUNNING = /^Running \d+ tests? using \d+ workers?(?:, shard \d+ of \d+)?$/;
const NO_TESTS = /^Error: No tests found(?:\.|$)/;
const SUM = /^ {2}(?<count>\d+) (?<what>failed|flaky|skipped|passed|interrupted|did not run)(?: \(.*\))?$/;
const LISTED =
  /^ +(?<sign>✓|✘|-|ok|x) +\d+ (?<name>\S.*? › .*?)(?: \(retry #\d+\))?(?: \([\d.]+(?:ms|s|m|h)\))?$/u;
const ITEM = /^ {4}(?<name>\S.*? › .*?)(?: ─+)?$/u;
const PLACE = /^(?:\[(?<project>[^\]]*)\] › )?(?<file>\S.*?):(?<line>\d+):\d+ › (?<name>.*)$/u;

export const playwright: OutputParser = {
  name: 'playwright',
  runs: ([tool = '', verb = '']) => tool === 'playwright' && verb === 'test',
  recognises: ({ lines }) => anyLine(lines, RUNNING) || anyLine(lines, NO_TESTS),
  parse(input) {
    const tests = readCounts(input);
    const { sums, listed } = readNames(input.lines);
    const told = sums.failed.map((name) => placeOf(input, name));
    const issues: ParsedIssue[] = told.map((place) => failingTest(input, place));
    if (issues.length === 0) issues.push(...unnamedFailures(tests?.failed ?? 0));
    const named = noNames();
    // Tried again after a failure, the last try counts: it passed, or the test is among the failed ones.
    for (const [name, sign] of listed) {
      if (sign === '✓' || sign === 'ok') named.passed.push(fullName(placeOf(input, name)));
      if (sign === '-') named.skipped.push(fullName(placeOf(input, name)));
    }
    named.failed.push(...told.map(fullName));
    return { issues, tests, names: namesOf(named, tests) };
  },
};

/** A flaky test passed in the end; one that did not run is skipped. */
function readCounts({ lines, commands }: ParserInput): TestCounts | null {
  const isNamed = commands.some((words) => playwright.runs(words));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const spoke = anyLine(lines, RUNNING) || anyLine(lines, NO_TESTS);
  // With --pass-with-no-tests it says nothing at all.
  if (!spoke && !(isNamed && lines.every((line) => line.trim() === ''))) return null;
  for (const line of lines) {
    const groups = SUM.exec(line)?.groups;
    if (groups === undefined) continue;
    if (groups.what === 'passed' || groups.what === 'flaky') counts.passed += Number(groups.count);
    else if (groups.what === 'failed' || groups.what === 'interrupted') counts.failed += Number(groups.count);
    else counts.skipped += Number(groups.count);
  }
  return countTests(counts);
}

function readNames(lines: readonly string[]): { sums: { failed: string[] }; listed: Map<string, string> } {
  const failed: string[] = [];
  const listed = new Map<string, string>();
  let sum: string | null = null;
  for (const line of lines) {
    const item = LISTED.exec(line)?.groups;
    if (item !== undefined) listed.set(item.name!, item.sign!);
    sum = SUM.exec(line)?.groups?.what ?? (line.startsWith('    ') ? sum : null);
    const name = sum === 'failed' || sum === 'interrupted' ? ITEM.exec(line)?.groups?.name : undefined;
    if (name !== undefined) failed.push(name);
  }
  return { sums: { failed }, listed };
}

interface NamedPlace {
  file: string | null;
  name: string;
  line?: number;
}

function placeOf(input: ParserInput, text: string): NamedPlace {
  const place = PLACE.exec(text)?.groups;
  if (place === undefined) return { file: null, name: text };
  const project = place.project === undefined ? '' : `[${place.project}] `;
  const name = `${project}${place.name!.replaceAll(' › ', ' > ')}`;
  return { file: input.path(place.file!), name, line: Number(place.line) };
}

function fullName({ file, name }: NamedPlace): string {
  return testName([file, name]);
}
