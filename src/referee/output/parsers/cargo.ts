/** cargo and rustc: build, clippy, fmt --check and test; long and short messages. */
import type { IssueSource, IssueType, ParsedIssue } from '../issue.ts';
import {
  countTests,
  type NamedTests,
  namesOf,
  noNames,
  type TestCounts,
  type TestGroup,
  testName,
} from '../tests.ts';
import { anyLine, failingTest, type OutputParser, type ParserInput } from './parser.ts';

const LONG = /^(?<type>error|warning)(?:\[(?<code>[\w:]+)\])?: (?<message>\S.*)$/;
const PLACE = /^ *--> (?<file>\S.*?):(?<line>\d+):(?<column>\d+)$/;
const SHORT =
  /^(?<file>[^\s:][^:]*\.rs):(?<line>\d+):(?<column>\d+): (?<type>error|warning)(?:\[(?<code>[\w:]+)\])?: (?<message>\S.*)$/;
const CLIPPY = /^ *= help: for further information visit \S+#(?<lint>\w+)$/;
/** Says again what stands above it, or what will be read below. */
const ECHO =
  /^(?:`?[\w -]+`? \([^)]*\) generated \d+ warnings?|could not compile |aborting due to |\d+ targets? failed|(?:test|doctest|bench) failed, to rerun|build failed, waiting|\d+ warnings? emitted)/;
const RESULT = /^test result: \w+\. (?<passed>\d+) passed; (?<failed>\d+) failed; (?<ignored>\d+) ignored;/;
const TARGET = /^ +Running (?:unittests )?(?<file>\S+\.rs) \(/;
const LISTED = /^test (?<name>\S.*?)(?: - should panic)? \.\.\. (?<result>ok|FAILED|ignored(?:, .*)?)$/;
const DOC_TESTS = /^ +Doc-tests (?<name>\S+)$/;
const CRASH = /^ +process didn't exit successfully: (?<message>.*)$/;
const UNFORMATTED = /^Diff in (?<file>\S.*?)(?::| at line )(?<line>\d+):?$/;

export const cargo: OutputParser = {
  name: 'cargo',
  runs: ([tool = '']) => tool === 'cargo' || tool === 'rustc' || tool === 'cross',
  recognises: ({ lines }) =>
    anyLine(lines, PLACE) ||
    anyLine(lines, SHORT) ||
    anyLine(lines, RESULT) ||
    anyLine(lines, /^ {3,}Compiling \S+ v\d/),
  parse(input) {
    const tests = readCounts(input.lines);
    const { named, groups } = readNames(input);
    return {
      issues: [...readDiagnostics(input), ...readTests(input)],
      tests,
      names: namesOf(named, tests, groups),
    };
  },
};

function readDiagnostics(input: ParserInput): ParsedIssue[] {
  const issues: ParsedIssue[] = [];
  const source = sourceOf(input);
  let open: ParsedIssue | null = null;
  for (const line of input.lines) {
    const groups = (SHORT.exec(line) ?? LONG.exec(line))?.groups;
    if (groups !== undefined) {
      open = ECHO.test(groups.message!) ? null : issueOf(input, groups, source);
      if (open !== null) issues.push(open);
      continue;
    }
    const unformatted = UNFORMATTED.exec(line)?.groups;
    if (unformatted !== undefined) {
      const found = { ...unformatted, type: 'error', code: 'fmt', message: 'is not formatted' };
      issues.push(issueOf(input, found, 'Lint'));
    }
    if (open === null) continue;
    const place = open.file === null ? PLACE.exec(line)?.groups : undefined;
    if (place !== undefined) {
      Object.assign(open, {
        file: input.path(place.file!),
        line: Number(place.line),
        column: Number(place.column),
      });
    }
    // rustc names a lint at its first place only, clippy at each: the one can be part of a fingerprint.
    const lint = CLIPPY.exec(line)?.groups?.lint;
    if (lint !== undefined) Object.assign(open, { code: `clippy::${lint}`, source: 'Lint' });
  }
  return issues;
}

function sourceOf({ commands }: ParserInput): IssueSource {
  const verbs = commands.filter(([tool]) => tool === 'cargo').map((words) => words[1]);
  return verbs.length > 0 && verbs.every((verb) => verb === 'clippy' || verb === 'fmt') ? 'Lint' : 'Build';
}

function issueOf(
  input: ParserInput,
  groups: Record<string, string | undefined>,
  source: IssueSource,
): ParsedIssue {
  const { file, line, column, type, code, message = '' } = groups;
  const issueType: IssueType = type === 'warning' ? 'Warning' : 'Error';
  return {
    issueType,
    source,
    file: file === undefined ? null : input.path(file),
    code: code ?? null,
    message: input.normalise(message),
    ...(line === undefined ? {} : { line: Number(line) }),
    ...(column === undefined ? {} : { column: Number(column) }),
  };
}

/** The names stand in the list right before the result; output of the tests may be in between. */
function readTests(input: ParserInput): ParsedIssue[] {
  const issues: ParsedIssue[] = [];
  const details = new Map<string, string>();
  let file: string | null = null;
  let speaker: string | null = null;
  let names: string[] | null = null;
  input.lines.forEach((line, index) => {
    const target = TARGET.exec(line)?.groups?.file;
    if (target !== undefined) file = target;
    const crash = CRASH.exec(line)?.groups?.message;
    if (crash !== undefined)
      issues.push(failingTest(input, { file, name: `the test process crashed: ${crash}` }));
    speaker = /^---- (?<name>\S.*) stdout ----$/.exec(line)?.groups?.name ?? speaker;
    if (speaker !== null && /^thread '.*' (?:\(\d+\) )?panicked at /.test(line)) {
      details.set(speaker, input.lines[index + 1] ?? '');
      speaker = null;
    }
    if (line === 'failures:') names = [];
    else if (names !== null && /^ {4}\S/.test(line)) names.push(line.trim());
    else if (RESULT.test(line)) {
      for (const name of names ?? []) issues.push(testOf(input, { file, name, detail: details.get(name) }));
      names = null;
    }
  });
  return issues;
}

/** A doc test's name begins with its file and ends with its line. */
function testOf(
  input: ParserInput,
  test: { file: string | null; name: string; detail?: string },
): ParsedIssue {
  const doc = /^(?<file>\S+\.(?:rs|md)) - (?<name>.*)$/.exec(test.name)?.groups;
  if (doc === undefined) return failingTest(input, test);
  return failingTest(input, { file: doc.file!, name: `doc test ${doc.name}`, detail: test.detail });
}

/** What a filter leaves out is not skipped: it is not there. */
function readCounts(lines: readonly string[]): TestCounts | null {
  let counts: Record<'passed' | 'failed' | 'skipped', number> | null = null;
  for (const line of lines) {
    const groups = RESULT.exec(line)?.groups;
    if (groups === undefined) continue;
    counts ??= { passed: 0, failed: 0, skipped: 0 };
    counts.passed += Number(groups.passed);
    counts.failed += Number(groups.failed);
    counts.skipped += Number(groups.ignored);
  }
  return counts && countTests(counts);
}

/** One line a test, and the names of those that failed again before the result; with -q only these. */
function readNames(input: ParserInput): { named: NamedTests; groups: TestGroup[] } {
  const named = noNames();
  const groups: TestGroup[] = [];
  let target: string | null = null;
  let failures: string[] | null = null;
  for (const line of input.lines) {
    const file = TARGET.exec(line)?.groups?.file;
    if (file !== undefined) target = input.path(file);
    if (DOC_TESTS.test(line)) target = null; // the name of a doc test begins with its file
    const item = line.startsWith('test ') ? LISTED.exec(line)?.groups : undefined;
    if (item !== undefined && !item.name!.includes(' ... ')) {
      if (item.result === 'ok') named.passed.push(testName([target, item.name]));
      else if (item.result !== 'FAILED') named.skipped.push(testName([target, item.name]));
    }
    if (line === 'failures:') failures = [];
    else if (failures !== null && /^ {4}\S/.test(line)) failures.push(testName([target, line.trim()]));
    const result = RESULT.exec(line)?.groups;
    if (result === undefined) continue;
    named.failed.push(...(failures ?? []).slice(0, Number(result.failed)));
    const ran = Number(result.passed) + Number(result.failed);
    if (target !== null && ran > 0) groups.push({ name: target, ran });
    failures = null;
  }
  return { named, groups };
}
