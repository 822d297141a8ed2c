/** Maven and Gradle: what javac and kotlinc say through them, surefire's and Gradle's test results. */
import type { IssueType, ParsedIssue } from '../issue.ts';
import { addCounts, namesOf, noNames, type TestCounts, type TestNames } from '../tests.ts';
import { anyLine, failingTest, type OutputParser, type ParserInput, unnamedFailures } from './parser.ts';

const MAVEN_PLACE =
  /^\[(?<type>ERROR|WARNING)\] (?<file>\S.*?):\[(?<line>\d+)(?:,(?<column>\d+))?\] (?<message>\S.*)$/;
const JAVAC =
  /^(?:(?::[\w-]+)+(?=\/))?(?<file>\S.*?\.(?:java|groovy|scala)):(?<line>\d+): (?<type>error|warning): (?:\[(?<code>[\w-]+)\] )?(?<message>\S.*)$/;
const SYMBOL = /^(?:\[ERROR\])? +symbol: +(?<symbol>\S.*)$/;
const KOTLIN = /^(?<type>[ew]): (?<file>\S.*?\.kts?):(?<line>\d+):(?<column>\d+):? (?<message>\S.*)$/;
const SUREFIRE =
  /^\[ERROR\] +(?!Tests run:)(?<name>\S.*?) +(?:-- )?Time elapsed: [\d.,]+ s +<<< (?:FAILURE|ERROR)!/;
/** The sum of a module; the line of one class continues with its time. */
const SUREFIRE_SUM =
  /^\[\w+\] Tests run: (?<run>\d+), Failures: (?<failed>\d+), Errors: (?<errors>\d+), Skipped: (?<skipped>\d+)$/;
/** In one class. The line of a class that holds only nested ones says 0, and theirs are counted below it. */
const SUREFIRE_CLASS =
  /^\[\w+\] Tests run: (?<run>\d+), Failures: \d+, Errors: \d+, Skipped: (?<skipped>\d+), Time elapsed: .*? in (?<name>\S+)$/;
const MAVEN_NO_TESTS =
  /^\[\w+\] No tests (?:to run\.|were executed)|No tests (?:matching pattern|were executed)/;
const GOAL =
  /^\[ERROR\] Failed to execute goal (?<goal>[\w.-]+:[\w.-]+)\S* .*?on project (?<project>[^:]+): (?<message>.*)$/;
const GOAL_ECHO = /^(?:Compilation failure|There (?:are|were) (?:some )?test failures|No tests matching)/;
const GRADLE_TEST = /^(?<name>\S.* > .+) FAILED$/;
/** With `testLogging { events … }`. */
const GRADLE_LISTED = /^(?<name>\S.* > .+) (?<result>PASSED|SKIPPED)$/;
const GRADLE_SUM = /^(?<total>\d+) tests? completed, (?<failed>\d+) failed(?:, (?<skipped>\d+) skipped)?$/;
const GRADLE_TASK =
  /^(?:> Task )?(?<task>(?::[\w-]+)*:(?!clean|compile|process)\w*[tT]est)(?: (?<state>NO-SOURCE|UP-TO-DATE|FROM-CACHE|FAILED|SKIPPED))?$/;
const GRADLE_FAILED = /^Execution failed for task '(?<task>[^']+)'/;
const GRADLE_ECHO = /^> (?:Compilation failed|There were failing tests|Compilation error)/;

export const jvm: OutputParser = {
  name: 'maven/gradle',
  runs: ([tool = '']) => ['mvn', 'mvnw', 'mvnd', 'gradle', 'gradlew'].includes(tool),
  recognises: ({ lines }) =>
    anyLine(lines, /^\[INFO\] (?:BUILD (?:SUCCESS|FAILURE)|Scanning for projects)/) ||
    anyLine(lines, /^(?:> Task :|BUILD (?:SUCCESSFUL|FAILED) in )/) ||
    anyLine(lines, JAVAC),
  parse(input) {
    const failures = input.lines.flatMap((line) => readTest(input, line));
    const { tests, names } = readTests(input.lines, failures);
    const unnamed = failures.length === 0 ? unnamedFailures(tests?.failed ?? 0) : [];
    const built = input.lines.flatMap((_, index) => [
      ...readDiagnostic(input, index),
      ...readTask(input, index),
    ]);
    return { issues: [...built, ...failures, ...unnamed], tests, names };
  },
};

function readDiagnostic(input: ParserInput, index: number): ParsedIssue[] {
  const line = input.lines[index]!;
  const groups = (MAVEN_PLACE.exec(line) ?? JAVAC.exec(line) ?? KOTLIN.exec(line))?.groups;
  if (groups === undefined) return [];
  const issueType: IssueType = /^w/i.test(groups.type!) ? 'Warning' : 'Error';
  return [
    {
      issueType,
      source: 'Build',
      file: input.path(groups.file!),
      code: groups.code ?? null,
      message: input.normalise(`${groups.message}${symbolBelow(input.lines, index)}`),
      line: Number(groups.line),
      ...(groups.column === undefined ? {} : { column: Number(groups.column) }),
    },
  ];
}

/** `cannot find symbol` says which one a few lines further down. */
function symbolBelow(lines: readonly string[], index: number): string {
  if (!lines[index]!.endsWith('cannot find symbol')) return '';
  const below = lines.slice(index + 1, index + 5).map((line) => SYMBOL.exec(line)?.groups?.symbol);
  const symbol = below.find((each) => each !== undefined);
  return symbol === undefined ? '' : `: ${symbol}`;
}

/** A goal or task that failed for another reason than the errors and tests that stand above it. */
function readTask(input: ParserInput, index: number): ParsedIssue[] {
  const line = input.lines[index]!;
  const goal = line.startsWith('[ERROR] Failed') ? GOAL.exec(line)?.groups : undefined;
  if (goal !== undefined) {
    if (GOAL_ECHO.test(goal.message!)) return [];
    const message = goal.message!.replace(/ -> \[Help \d+\]$/, '');
    return [task(input, goal.goal!, `${goal.project}: ${message}`)];
  }
  const failed = GRADLE_FAILED.exec(line)?.groups?.task;
  if (failed === undefined) return [];
  const reason = input.lines[index + 1] ?? '';
  return GRADLE_ECHO.test(reason) ? [] : [task(input, failed, reason.replace(/^> /, ''))];
}

function task(input: ParserInput, code: string, message: string): ParsedIssue {
  const words = input.normalise(message) || 'the task fails';
  return { issueType: 'Error', source: 'Build', file: null, code, message: words };
}

function readTest(input: ParserInput, line: string): ParsedIssue[] {
  const surefire = line.startsWith('[ERROR]') ? SUREFIRE.exec(line)?.groups?.name : undefined;
  // Older surefire writes method(class), newer class.method.
  const old = surefire && /^(?<method>[^()]+)\((?<owner>[\w.$]+)\)$/.exec(surefire)?.groups;
  if (surefire)
    return [failingTest(input, { file: null, name: old ? `${old.owner}.${old.method}` : surefire })];
  const gradle =
    line.endsWith(' FAILED') && !line.startsWith('>') ? GRADLE_TEST.exec(line)?.groups?.name : undefined;
  return gradle ? [failingTest(input, { file: null, name: gradle })] : [];
}

function readTests(
  lines: readonly string[],
  failures: readonly ParsedIssue[],
): { tests: TestCounts | null; names: TestNames | null } {
  const named = noNames();
  const groups = lines.flatMap((line) => {
    const found = line.includes('Tests run: ') ? SUREFIRE_CLASS.exec(line)?.groups : undefined;
    const ran = Number(found?.run) - Number(found?.skipped);
    return found === undefined || ran === 0 ? [] : [{ name: found.name!, ran }];
  });
  for (const line of lines) {
    const item = /(?:PASS|SKIPP)ED$/.test(line) ? GRADLE_LISTED.exec(line)?.groups : undefined;
    if (item !== undefined) named[item.result === 'PASSED' ? 'passed' : 'skipped'].push(item.name!);
  }
  named.failed.push(...failures.map(({ message }) => message));
  const tests = readCounts(lines, { passed: named.passed.length, skipped: named.skipped.length });
  return { tests, names: namesOf(named, tests, groups) };
}

/**
 * Gradle counts tests only when one fails; else those that it lists are counted, and a test task that ran says at least
 * that there was something to run.
 */
function readCounts(
  lines: readonly string[],
  listed: { passed: number; skipped: number },
): TestCounts | null {
  let counts: TestCounts | null = null;
  let tasks: TestCounts | null = null;
  const countsOf = (run: number, failed: number, skipped: number): TestCounts => {
    const passed = Math.max(0, run - failed - skipped);
    return { ran: passed + failed, passed, failed, skipped };
  };
  for (const line of lines) {
    const sum = SUREFIRE_SUM.exec(line)?.groups;
    const gradle = GRADLE_SUM.exec(line)?.groups;
    const test = GRADLE_TASK.exec(line)?.groups;
    if (sum !== undefined) {
      const failed = Number(sum.failed) + Number(sum.errors);
      counts = addCounts(counts, countsOf(Number(sum.run), failed, Number(sum.skipped)));
    } else if (gradle !== undefined) {
      const told = countsOf(Number(gradle.total), Number(gradle.failed), Number(gradle.skipped ?? 0));
      // Not to be held against a run in which all pass, which is not counted.
      counts = addCounts(counts, listed.passed > 0 ? told : { ...told, isLowerBound: true });
    } else if (test !== undefined && test.state !== 'FAILED') {
      const isEmpty = test.state === 'NO-SOURCE' || test.state === 'SKIPPED';
      const told: TestCounts = countsOf(isEmpty ? 0 : 1, 0, 0);
      tasks = addCounts(tasks, isEmpty ? told : { ...told, isLowerBound: true });
    } else if (MAVEN_NO_TESTS.test(line)) counts = addCounts(counts, countsOf(0, 0, 0));
  }
  if (listed.passed + listed.skipped > 0) {
    return counts ?? { ...countsOf(listed.passed + listed.skipped, 0, listed.skipped) };
  }
  return addCounts(counts, tasks);
}
