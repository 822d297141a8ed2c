/** The go command: build, vet and test, as text and as `go test -json`. */
import type { IssueSource, ParsedIssue } from '../issue.ts';
import { addCounts, type NamedTests, namesOf, noNames, type TestCounts, type TestGroup } from '../tests.ts';
import { anyLine, failingTest, type OutputParser, type ParserInput, type ParserResult } from './parser.ts';

const DIAGNOSTIC =
  /^(?:vet: )?(?<file>(?:[A-Za-z]:)?[^\s:][^:]*\.go):(?<line>\d+)(?::(?<column>\d+))?: (?<message>\S.*)$/;
const RESULT = /^ *--- (?<result>FAIL|PASS|SKIP): (?<name>\S+)(?: \([\d.]+s\))?$/;
/** Behind what a test printed without ending its line. */
const LATE_RESULT = /--- (?<result>FAIL|PASS|SKIP): (?<name>[^\s-]\S*) \([\d.]+s\)$/;
const PACKAGE =
  /^(?<result>ok {2}|FAIL|\? {3})\t(?<name>\S+)(?:\t(?<took>[\d.]+s|\(cached\)))?(?:[\t ](?<note>\[.*\]))?(?:\tcoverage: .*)?$/;
const HEADING = /^# (?<name>\S+)(?: \[.*\])?$/;
const JSON_EVENT = /^\{(?:"Time":"[^"]*",|"ImportPath":"[^"]*",)?"Action":"/;

export const go: OutputParser = {
  name: 'go',
  runs: ([tool = '']) => ['go', 'golangci-lint', 'staticcheck'].includes(tool),
  recognises: ({ lines }) =>
    anyLine(lines, PACKAGE) ||
    anyLine(lines, RESULT) ||
    anyLine(lines, DIAGNOSTIC) ||
    anyLine(lines, JSON_EVENT),
  parse(input) {
    const lines = input.lines.some((line) => JSON_EVENT.test(line)) ? textOfEvents(input) : input.lines;
    return readText(input, lines);
  },
};

/** A package's tests stand before the package's own line; until then they are kept without a name. */
function readText(input: ParserInput, lines: readonly string[]): ParserResult {
  const issues: ParsedIssue[] = [];
  const source = sourceOf(input);
  const built = new Set<string>(); // packages whose errors stand one by one
  const named = noNames();
  const groups: TestGroup[] = [];
  let heading: string | null = null;
  let open: OpenPackage = { results: [], isVerbose: false };
  let tests: TestCounts | null = null;
  for (const line of lines) {
    if (line.startsWith('=== RUN ')) open.isVerbose = true;
    const result = line.includes('--- ') ? (RESULT.exec(line) ?? LATE_RESULT.exec(line))?.groups : undefined;
    if (result !== undefined) open.results.push({ result: result.result!, name: result.name! });
    heading = HEADING.exec(line)?.groups?.name ?? heading;
    const diagnostic = DIAGNOSTIC.exec(line)?.groups;
    if (diagnostic !== undefined) {
      if (heading !== null) built.add(heading);
      issues.push(issueOf(input, diagnostic, source));
    }
    const done = PACKAGE.exec(line)?.groups;
    if (done === undefined) continue;
    const counts = countOf(done, open);
    tests = addCounts(tests, counts);
    if (counts.ran > 0) groups.push({ name: done.name!, ran: counts.ran });
    addResults(named, done.name, open.results);
    issues.push(...failuresOf(input, done, { results: open.results, isExplained: built.has(done.name!) }));
    open = { results: [], isVerbose: false };
  }
  if (open.results.length > 0) {
    tests = addCounts(tests, countOf({ result: 'FAIL' }, open));
    addResults(named, undefined, open.results);
    issues.push(...failuresOf(input, { result: 'ok' }, { results: open.results, isExplained: true }));
  }
  return { issues, tests, names: namesOf(named, tests, groups) };
}

interface OpenPackage {
  results: { result: string; name: string }[];
  isVerbose: boolean;
}

function addResults(named: NamedTests, name: string | undefined, results: Results): void {
  for (const each of results) {
    const list = each.result === 'PASS' ? 'passed' : each.result === 'FAIL' ? 'failed' : 'skipped';
    named[list].push(name === undefined ? each.name : `${name}: ${each.name}`);
  }
}

function sourceOf({ commands }: ParserInput): IssueSource {
  const own = commands.filter((words) => go.runs(words));
  const isLint = ([tool, verb]: readonly string[]): boolean => tool !== 'go' || verb === 'vet';
  return own.length > 0 && own.every(isLint) ? 'Lint' : 'Build';
}

function issueOf(
  input: ParserInput,
  groups: Record<string, string | undefined>,
  source: IssueSource,
): ParsedIssue {
  return {
    issueType: 'Error',
    source,
    file: input.path(groups.file!),
    code: null,
    message: input.normalise(groups.message!),
    line: Number(groups.line),
    ...(groups.column === undefined ? {} : { column: Number(groups.column) }),
  };
}

type Results = readonly { result: string; name: string }[];
type Groups = Record<string, string | undefined>;

/** A parent fails with its subtests; only the subtests are told. A package can also fail without a failing test. */
function failuresOf(
  input: ParserInput,
  { result, name, note }: Groups,
  { results, isExplained }: { results: Results; isExplained: boolean },
): ParsedIssue[] {
  const failed = results.filter((each) => each.result === 'FAIL').map((each) => each.name);
  const parents = new Set(failed.flatMap(parentsOf));
  const label = name === undefined ? '' : `${name}: `;
  const leaves = failed.filter((test) => !parents.has(test));
  const issues = leaves.map((test) => failingTest(input, { file: null, name: `${label}${test}` }));
  if (result !== 'FAIL' || issues.length > 0 || isExplained) return issues;
  const what = note?.replace(/[[\]]/g, '') ?? 'the package fails';
  return [
    { ...failingTest(input, { file: null, name: `${label}${what}` }), source: note ? 'Build' : 'Test' },
  ];
}

function parentsOf(test: string): string[] {
  const parents: string[] = [];
  for (
    let end = test.lastIndexOf('/');
    end > 0 && parents.length < 10;
    end = test.lastIndexOf('/', end - 1)
  ) {
    parents.push(test.slice(0, end));
  }
  return parents;
}

/** Without -v a package says no more than that something in it ran, and what failed. */
function countOf({ result = '', note = '' }: Groups, { results, isVerbose }: OpenPackage): TestCounts {
  const count = (what: string): number => results.filter((each) => each.result === what).length;
  const [failed, told, skipped] = [count('FAIL'), count('PASS'), count('SKIP')];
  const isSilent =
    !isVerbose && told + skipped === 0 && !result.startsWith('?') && !/^\[(?:no test|build|setup)/.test(note);
  const passed = isSilent && failed === 0 && result.startsWith('ok') ? 1 : told;
  return { ran: passed + failed, passed, failed, skipped, ...(isSilent ? { isLowerBound: true } : {}) };
}

interface GoEvent {
  Action?: unknown;
  Package?: unknown;
  Test?: unknown;
  Output?: unknown;
}

/** The events' own output, package by package, as `go test -v` would have printed it. */
function textOfEvents({ lines }: ParserInput): string[] {
  const texts = new Map<string, string[]>();
  const plain: string[] = [];
  for (const line of lines) {
    const event = JSON_EVENT.test(line) ? parseEvent(line) : null;
    if (event === null) plain.push(line);
    else if (typeof event.Output === 'string') {
      const key = typeof event.Package === 'string' ? event.Package : '';
      const text = texts.get(key) ?? [];
      text.push(event.Output);
      texts.set(key, text);
    }
  }
  const printed = [...texts.values()].flatMap((parts) => parts.join('').split('\n'));
  return [...plain, ...printed.map((line) => line.trimEnd())];
}

function parseEvent(line: string): GoEvent | null {
  try {
    return JSON.parse(line) as GoEvent;
  } catch {
    return null; // cut off: read as text
  }
}
