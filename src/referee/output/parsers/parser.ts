/** What each tool family's parser is given and gives back. */
import type { IssueSource, ParsedIssue } from '../issue.ts';
import type { PathMapper } from '../paths.ts';
import type { TestCounts, TestNames } from '../tests.ts';

export interface ParserInput {
  /** Without colours and cursor movements. */
  text: string;
  lines: readonly string[];
  path: PathMapper;
  normalise(message: string): string;
  /** The simple commands of the verification command, as far as they could be read. */
  commands: readonly (readonly string[])[];
  /** What the plan says the command is for. */
  source: IssueSource;
  /**
   * The command calls one tool, once: it sums up once, at its end. Another sum before it was printed by the code under
   * test. Where the words do not tell, several sums are several runs.
   */
  isOneRun: boolean;
}

export interface ParserResult {
  issues: ParsedIssue[];
  /** Null: nothing was said about tests. */
  tests: TestCounts | null;
  /** Left out, or null: no test is named. */
  names?: TestNames | null;
}

export interface OutputParser {
  name: string;
  /** Does this simple command run the tool? */
  runs(words: readonly string[]): boolean;
  /** Does the output look as the tool's does? Asked when the command's words do not tell. */
  recognises(input: ParserInput): boolean;
  /** Never throws, and takes time in proportion to the text. */
  parse(input: ParserInput): ParserResult;
}

/** A failing test is known by its name alone: what it says when it fails may change from run to run. */
export function failingTest(
  input: ParserInput,
  { file, name, detail, line }: { file: string | null; name: string; detail?: string; line?: number },
): ParsedIssue {
  return {
    issueType: 'Error',
    source: 'Test',
    file: file === null ? null : input.path(file),
    code: null,
    message: input.normalise(name),
    ...(line === undefined ? {} : { line }),
    ...(detail ? { detail: input.normalise(detail) } : {}),
  };
}

/** A test file that fails before any of its tests does. */
export function failingSuite(input: ParserInput, file: string, detail?: string): ParsedIssue {
  return { ...failingTest(input, { file, name: 'the test file fails to run', detail }), code: 'suite' };
}

/** So many tests failed, and the output does not name them: they must be counted all the same. */
export function unnamedFailures(count: number): ParsedIssue[] {
  const unnamed: ParsedIssue = {
    issueType: 'Error',
    source: 'Test',
    file: null,
    code: null,
    message: 'a test fails that the output does not name',
  };
  return Array.from({ length: Math.min(count, 10_000) }, () => ({ ...unnamed }));
}

/** The first line at or after `from` that says something, within a few lines. */
export function firstWords(lines: readonly string[], from: number): string | undefined {
  return lines
    .slice(from, from + 8)
    .find((line) => line.trim() !== '')
    ?.trim();
}

export function anyLine(lines: readonly string[], pattern: RegExp): boolean {
  return lines.some((line) => line !== '' && pattern.test(line));
}
