/** dotnet build and test: MSBuild's lines, VSTest's and the newer test platform's results. */
import type { ParsedIssue, TestCounts } from '../issue.ts';
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
    return { issues: [...readBuild(input), ...failures, ...unnamed], tests };
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

function readCounts({ lines, text }: ParserInput): TestCounts | null {
  let counts: TestCounts | null = null;
  const add = (groups: Record<string, string | undefined>): void => {
    counts ??= { ran: 0, failed: 0, skipped: 0 };
    counts.ran += Number(groups.passed) + Number(groups.failed);
    counts.failed += Number(groups.failed);
    counts.skipped += Number(groups.skipped);
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
