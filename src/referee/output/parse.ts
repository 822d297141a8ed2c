/** Reads the issues in the output of a verification command. Pure. */
import { type CommandWords, readCommand } from './command-words.ts';
import type { IssueSource, ParsedIssue } from './issue.ts';
import { normaliseMessage } from './normalise.ts';
import { generic } from './parsers/generic.ts';
import type { ParserInput, ParserResult } from './parsers/parser.ts';
import { chooseParsers, isTool } from './parsers/registry.ts';
import { createPathMapper, type Place, rootsOf } from './paths.ts';
import { linesOf, plainText } from './plain-text.ts';
import { type OutputSection, splitSections } from './sections.ts';
import { addCounts, addNames, type TestCounts, type TestNames } from './tests.ts';

export interface CommandOutput extends Place {
  command: string;
  /** What the plan says the command is for. */
  source: IssueSource;
  /** Both streams, whole: a cut output has fewer issues than there are. */
  output: string;
  /** Null when it did not end by itself (killed, out of time): then nothing it printed can be relied on. */
  exit: number | null;
}

export interface ParsedOutput {
  command: string;
  source: IssueSource;
  exit: number | null;
  issues: ParsedIssue[];
  tests: TestCounts | null;
  names: TestNames | null;
  /** A test runner spoke, and no test ran: never a pass, even with exit 0. */
  ranNoTest: boolean;
  /** Who read it. */
  parsers: string[];
}

/** Never throws; takes time in proportion to the output. */
export function parseOutput(run: CommandOutput): ParsedOutput {
  const words = readCommand(run.command);
  const text = plainText(run.output);
  const lines = linesOf(text);
  const sections = splitSections(lines);
  const read = sections.map((section) => {
    const whole = sections.length === 1 ? text : section.lines.join('\n');
    return readSection(
      inputOf(run, words, { text: whole, lines: section.lines, folder: section.cwd }),
      words,
    );
  });
  // Where a tool's own parser has read an error, looser patterns would only find what tests print.
  const isUnread =
    run.exit !== 0 && !read.some(({ results }) => hasError(results.flatMap(({ issues }) => issues)));
  for (const each of read) if (isUnread || each.results.length === 0) each.addGeneric();
  const results = read.flatMap((each) => each.results);
  const silent = sections.flatMap((section, index) =>
    silentFailure(section, read[index]!.results, run.source),
  );
  const issues = withoutRepetitions([...results.flatMap((result) => result.issues), ...silent]);
  const tests = results.reduce<TestCounts | null>((sum, each) => addCounts(sum, each.tests), null);
  return {
    command: run.command,
    source: run.source,
    exit: run.exit,
    issues: judgeByExit(issues, run, lines),
    tests,
    names: namesOfAll(results),
    ranNoTest: tests !== null && tests.ran === 0,
    parsers: [...new Set(read.flatMap(({ names }) => names))],
  };
}

interface SectionReading {
  results: ParserResult[];
  names: string[];
  addGeneric(): void;
}

function readSection(input: ParserInput, words: CommandWords): SectionReading {
  const chosen = chooseParsers(words, input);
  const results = chosen.map((parser) => parser.parse(input));
  const names = chosen.map(({ name }) => name);
  const addGeneric = (): void => {
    results.push(generic.parse(input));
    names.push(generic.name);
  };
  return { results, names, addGeneric };
}

function inputOf(
  run: CommandOutput,
  words: CommandWords,
  { text, lines, folder }: { text: string; lines: readonly string[]; folder: string | null },
): ParserInput {
  const { commands, cd } = words;
  const roots = rootsOf(run);
  const within = (base: string, path: string | null): string =>
    path === null ? base : path.startsWith('/') ? path : `${base}/${path}`;
  return {
    text,
    lines,
    path: createPathMapper({ ...run, cwd: within(within(run.cwd ?? run.root, cd), folder) }),
    normalise: (message) => normaliseMessage(message, roots),
    commands,
    source: run.source,
    isOneRun: words.commands.length === 1 && isTool(words.commands[0]!),
  };
}

function hasError(issues: readonly ParsedIssue[]): boolean {
  return issues.some(({ issueType }) => issueType === 'Error');
}

/** One package of many failed and nobody could read why: it must not hide behind another's errors. */
function silentFailure(
  { name, hasFailed }: OutputSection,
  results: readonly ParserResult[],
  source: IssueSource,
): ParsedIssue[] {
  if (name === null || !hasFailed || hasError(results.flatMap(({ issues }) => issues))) return [];
  return [{ issueType: 'Error', source, file: null, code: null, message: `${name} fails` }];
}

/** The same issue at the same place is one, however often it is printed. Without a column nobody can tell. */
function withoutRepetitions(issues: readonly ParsedIssue[]): ParsedIssue[] {
  const seen = new Set<string>();
  return issues.filter(({ file, code, message, line, column }) => {
    if (line === undefined || column === undefined) return true;
    const place = JSON.stringify([file, code, message, line, column]);
    if (seen.has(place)) return false;
    seen.add(place);
    return true;
  });
}

/** Where one of several runners counts and does not name, the names of the others are not all there are. */
function namesOfAll(results: readonly ParserResult[]): TestNames | null {
  const told = results.flatMap(({ names }) => names ?? []);
  const all = addNames(told);
  const isSilent = results.some(({ tests, names }) => tests !== null && !names);
  return all === null || !isSilent ? all : { ...all, isComplete: false };
}

/**
 * Exit 0 has no errors, even if some are printed. Any other exit has at least one: warnings alone do not explain it, and a
 * failure that nobody could read must not hide behind warnings that were there before.
 */
function judgeByExit(issues: ParsedIssue[], run: CommandOutput, lines: readonly string[]): ParsedIssue[] {
  if (run.exit === 0) return issues.filter(({ issueType }) => issueType !== 'Error');
  if (run.exit !== null && hasError(issues)) return issues;
  return [...issues, exitIssue(run, lines)];
}

function exitIssue({ exit, source }: CommandOutput, lines: readonly string[]): ParsedIssue {
  const spoken = lines
    .slice(-60)
    .filter((line) => line.trim() !== '' && !/^npm (?:error|warn|ERR!)/.test(line));
  const said = spoken.findLast((line) => /error|fail|not found/i.test(line)) ?? spoken.at(-1);
  return {
    issueType: 'Error',
    source,
    file: null,
    code: null,
    message: exit === null ? 'did not end by itself' : `exit ${exit}`,
    ...(said === undefined ? {} : { detail: said.trim().slice(0, 300) }),
  };
}
