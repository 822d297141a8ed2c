/** Whether a command that failed shows a test that fails first (docs/protocol/beads.md, Tests first). */
import type { VerificationRecord } from '../../../domain/attempt.ts';
import { isUnread, type ParsedIssue } from '../../../referee/output/issue.ts';
import { type MissingCode, readMissingCode } from '../../../referee/output/missing-code.ts';
import { type CommandOutput, type ParsedOutput, parseOutput } from '../../../referee/output/parse.ts';
import { judgeExpect, parseExpect } from '../graph/expect.ts';

export interface RedRun {
  record: Pick<VerificationRecord, 'exit' | 'tests'>;
  output: CommandOutput;
  expect?: string;
  /** Asked only where nothing but loading has failed. */
  areUnwritten(missing: readonly MissingCode[]): Promise<boolean>;
}

/** These read compilers and linters: what they find is no failing test. */
const NO_RUNNERS = new Set(['generic', 'tsc', 'eslint', 'biome']);
/** Of a test: a file that could not be loaded, what was thrown outside of every test, a threshold. */
const NO_TEST_CODES = new Set(['suite', 'unhandled', 'coverage']);
/** How unittest tells a module that it could not import. */
const NOT_IMPORTED = /^unittest\.loader\._FailedTest\b/;
/** What starts a command says that there is none; its own exit does not. */
const NOT_STARTED = [
  /^g?make(?:\[\d+\])?: \*\*\* No (?:rule to make target|targets)/m,
  /^g?make(?:\[\d+\])?: \*\*\* .*\bError 12[67]$/m,
  /^npm (?:error|ERR!) Missing script:/m,
  /^error: Justfile does not contain recipe/m,
];
const HINT =
  'Write the test so that it is loaded and then fails: import what is not there yet inside of the test, or let the test call what is there.';

/** Why it is no such failure; `null`: it is one. */
export async function redFault({ record, output, expect, areUnwritten }: RedRun): Promise<string | null> {
  const { exit, tests } = record;
  if (exit === 0) return 'It passes already: a test that fails first is needed.';
  if (exit === null) return 'It was stopped.';
  if (exit === 126 || exit === 127) return 'The command could not be started.';
  const judged = () =>
    judgeExpect(parseExpect(expect), { exit, output: output.output }, { isFailureWanted: true });
  const read = parseOutput(output);
  if (hasFailingTest(read, tests)) return judged();
  if (NOT_STARTED.some((pattern) => pattern.test(output.output))) return 'The command could not be started.';
  const hasRunner = read.parsers.some((parser) => !NO_RUNNERS.has(parser));
  if (hasRunner) {
    const missing = readMissingCode(output);
    if (missing.length > 0 && (await areUnwritten(missing))) return judged();
    return loadFault(read, missing);
  }
  if (read.issues.some(isCompileError))
    return `No test failed: there is a compile error or a finding. ${HINT}`;
  if (expect === undefined)
    return 'Its output tells of no test that Pulse can read, so that nobody knows why it failed. The red step of the bead needs an expect: what the failure must show. A person gives it: pulse bead update ID --red CMD --green CMD --red-expect TEXT.';
  return judged();
}

function hasFailingTest({ tests, issues }: ParsedOutput, counted: RedRun['record']['tests']): boolean {
  // Only a report file has told of them.
  if (tests === null) return (counted?.failed ?? 0) > 0;
  return tests.failed > 0 && issues.some(isFailingTest);
}

function isFailingTest(issue: ParsedIssue): boolean {
  const { issueType, source, code, message } = issue;
  if (issueType !== 'Error' || source !== 'Test' || isUnread(issue)) return false;
  return !NO_TEST_CODES.has(code ?? '') && !NOT_IMPORTED.test(message);
}

function isCompileError({ issueType, code }: ParsedIssue): boolean {
  return issueType === 'Error' && /^TS\d+$/.test(code ?? '');
}

function loadFault({ tests, issues }: ParsedOutput, missing: readonly MissingCode[]): string {
  const isLoaded = !issues.some(({ code, message }) => code === 'suite' || NOT_IMPORTED.test(message));
  if (missing.length === 0 && isLoaded && tests?.ran === 0) return 'It ran no test.';
  const names = missing.slice(0, 5).map(({ name }) => name);
  const told =
    names.length === 0
      ? ''
      : ` Not found: ${names.join(', ')}, which is not code that the bead's files are to have.`;
  return `No test failed: it ended in another way, such as an error while loading or compiling.${told} ${HINT}`;
}
