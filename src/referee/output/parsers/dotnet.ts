/** dotnet build and test: MSBuild's lines, VSTest's and the newer test platform's results. */
import type { ParsedIssue } from '../issue.ts';
import { addCounts, countTests, namesOf, noNames, type TestCounts, type TestNames } from '../tests.ts';
import {
  anyLine,
  failingTest,
  firstWords,
  type OutputParser,
  type ParserInput,
  unnamedFailures,
} from './parser.ts';

const MSBUILD =
  /^ *(?<file>\S[^():]*(?::[\\/][^():]*)?)(?:\((?<line>\d+)(?:,(?<column>\d+)(?:,\d+,\d+)?)?\))? ?: (?<type>error|warning) (?<code>[A-Z]+\d+): (?<message>.*?)(?: \[[^\]]+\])?$/;
const VSTEST =
  /^(?:Failed|Passed|Skipped)! +- Failed: +(?<failed>\d+), Passed: +(?<passed>\d+), Skipped: +(?<skipped>\d+), Total: +\d+/;
const PLATFORM =
  /^(?:Test (?:run )?summary: .*?)?\s*total: (?<total>\d+),? *failed: (?<failed>\d+),? *succeeded: (?<passed>\d+),? *skipped: (?<skipped>\d+)/;
const NO_TEST = /^No test (?:is available in|matches the given testcase filter) /;
const FAILED = /^ {2}Failed (?<name>\S.*?)(?: \[[^\]]*\d m?s[^\]]*\])?$/;
const PLATFORM_FAILED = /^failed (?<name>\S.*?) \((?:\d+m )?(?:\d+s )?\d+m?s\)$/;
/** Of VSTest with `-v normal`, and of the newer platform with `--output detailed`. */
const LISTED =
  /^(?: {2}(?<result>Passed|Skipped)|(?<platform>passed|skipped)) (?<name>\S.*?)(?: \[[^\]]*\d m?s[^\]]*\]| \((?:\d+m )?(?:\d+s )?\d+m?s\))?$/;
const XUNIT_SKIP = /^\[xUnit\.net [\d:.]+\] +(?<name>\S.*) \[SKIP\]$/;
const TERMINAL_FAILED = /^ {4,}(?<name>\S.*?) \([\d.,]+ ?m?s\): Error Message: ?(?<detail>.*)$/;

export const dotnet: OutputParser = {
  name: 'dotnet',
  runs: ([tool = '']) => tool === 'dotnet' || tool === 'msbuild',
  recognises: ({ lines }) =>
    lines.some((line) => MSBUILD.test(line) && !/ TS\d+: /.test(line)) ||
    anyLine(lines, VSTEST) ||
    anyLine(lines, /^Test (?:run )?summary: /) ||
    anyLine(lines, NO_TEST),
  parse(input) {
    const failures = readFailures(input);
    const tests = readCounts(input);
    const unnamed = failures.length === 0 ? unnamedFailures(tests?.failed ?? 0) : [];
    const names = readNames(input.lines, failures, tests);
    return { issues: [...readBuild(input), ...failures, ...unnamed], tests, names };
  },
};

function readBuild(input: ParserInput): ParsedIssue[] {
  // The summary prints every line a second time.
  const lines = [...new Set(input.lines.map((line) => line.trim()))];
  return lines.flatMap((line): ParsedIssue[] => {
    const groups =
      line.includes(': error ') || line.includes(': warning ') ? MSBUILD.exec(line)?.groups : undefined;
    if (groups === undefined) return [];
    const file = groups.file!.trim();
    return [
      {
        issueType: groups.type === 'warning' ? 'Warning' : 'Error',
        source: 'Build',
        file: /[./\\]/.test(file) ? input.path(file) : null, // CSC and MSBUILD are no files
        code: groups.code!,
        message: input.normalise(groups.message!),
        ...(groups.line === undefined
          ? {}
          : { line: Number(groups.line), column: Number(groups.column ?? 0) }),
      },
    ];
  });
}

function readFailures(input: ParserInput): ParsedIssue[] {
  return input.lines.flatMap((line, index): ParsedIssue[] => {
    const terminal = TERMINAL_FAILED.exec(line)?.groups;
    if (terminal !== undefined)
      return [failingTest(input, { file: null, name: terminal.name!, detail: terminal.detail })];
    const name = FAILED.exec(line)?.groups?.name ?? PLATFORM_FAILED.exec(line)?.groups?.name;
    if (name === undefined) return [];
    const isTitled = /^ *Error Message:$/.test(input.lines[index + 1] ?? '');
    return [
      failingTest(input, { file: null, name, detail: firstWords(input.lines, index + (isTitled ? 2 : 1)) }),
    ];
  });
}

function readNames(
  lines: readonly string[],
  failures: readonly ParsedIssue[],
  tests: TestCounts | null,
): TestNames | null {
  const named = noNames();
  const skips: string[] = []; // xUnit says it by itself where VSTest does not
  named.failed.push(...failures.map(({ message }) => message));
  for (const line of lines) {
    const item = LISTED.exec(line)?.groups;
    if (item !== undefined)
      named[/^p/i.test(item.result ?? item.platform!) ? 'passed' : 'skipped'].push(item.name!);
    const skip = XUNIT_SKIP.exec(line)?.groups?.name;
    if (skip !== undefined) skips.push(skip);
  }
  return namesOf({ ...named, skipped: named.skipped.length > 0 ? named.skipped : skips }, tests);
}

function readCounts({ lines, text }: ParserInput): TestCounts | null {
  let counts: TestCounts | null = null;
  const add = ({ passed, failed, skipped }: Record<string, string | undefined>): void => {
    const told = { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
    counts = addCounts(counts, countTests(told));
  };
  for (const line of lines) {
    const groups =
      VSTEST.exec(line)?.groups ??
      (line.startsWith('Test summary:') ? PLATFORM.exec(line)?.groups : undefined);
    if (groups !== undefined) add(groups);
    else if (NO_TEST.test(line)) add({ passed: '0', failed: '0', skipped: '0' });
  }
  if (counts === null) {
    // The newer platform writes its summary over several lines.
    const start = text.lastIndexOf('Test run summary:');
    const groups =
      start === -1 ? undefined : PLATFORM.exec(text.slice(start, start + 600).replace(/\s+/g, ' '))?.groups;
    if (groups !== undefined) add(groups);
  }
  return counts;
}
