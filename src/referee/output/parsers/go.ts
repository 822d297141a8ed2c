/** The go command: build, vet and test, as text and as `go test -json`. */
import type { IssueSource, ParsedIssue, TestCounts } from '../issue.ts';
import { anyLine, failingTest, type OutputParser, type ParserInput } from './parser.ts';

const DIAGNOSTIC =
  /^(?:vet: )?(?<file>(?:[A-Za-z]:)?[^\s:][^:]*\.go):(?<line>\d+)(?::(?<column>\d+))?: (?<message>\S.*)$/;
const RESULT = /^ *--- (?<result>FAIL|PASS|SKIP): (?<name>\S+)(?: \([\d.]+s\))?$/;
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
function readText(
  input: ParserInput,
  lines: readonly string[],
): { issues: ParsedIssue[]; tests: TestCounts | null } {
  const issues: ParsedIssue[] = [];
  const source = sourceOf(input);
  const built = new Set<string>(); // packages whose errors stand one by one
  let heading: string | null = null;
  let results: { result: string; name: string }[] = [];
  let tests: TestCounts | null = null;
  for (const line of lines) {
    const result = line.includes('--- ') ? RESULT.exec(line)?.groups : undefined;
    if (result !== undefined) results.push({ result: result.result!, name: result.name! });
    heading = HEADING.exec(line)?.groups?.name ?? heading;
    const diagnostic = DIAGNOSTIC.exec(line)?.groups;
    if (diagnostic !== undefined) {
      if (heading !== null) built.add(heading);
      issues.push(issueOf(input, diagnostic, source));
    }
    const done = PACKAGE.exec(line)?.groups;
    if (done === undefined) continue;
    tests = add(tests, countOf(done, results));
    issues.push(...failuresOf(input, done, { results, isExplained: built.has(done.name!) }));
    results = [];
  }
  if (results.length > 0) {
    tests = add(tests, countOf({ result: 'FAIL' }, results));
    issues.push(...failuresOf(input, { result: 'ok' }, { results, isExplained: true }));
  }
  return { issues, tests };
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

/** Without -v a package that is `ok` says no more than that something in it ran. */
function countOf({ result = '', note = '' }: Groups, results: Results): TestCounts {
  const count = (what: string): number => results.filter((each) => each.result === what).length;
  const [failed, passed, skipped] = [count('FAIL'), count('PASS'), count('SKIP')];
  const saysNothing = passed + failed + skipped === 0;
  const ran =
    saysNothing && result.startsWith('ok') && !note.includes('no tests to run') ? 1 : passed + failed;
  return { ran, failed, skipped };
}

function add(a: TestCounts | null, b: TestCounts): TestCounts {
  if (a === null) return b;
  return { ran: a.ran + b.ran, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
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
