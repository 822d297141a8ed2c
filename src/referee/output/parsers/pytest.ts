/** pytest: the lines of -v, the short summary, the warnings summary and the last line. */
import type { ParsedIssue } from '../issue.ts';
import { countTests, type NamedTests, namesOf, noNames, type TestCounts, type TestGroup } from '../tests.ts';
import {
  anyLine,
  failingSuite,
  failingTest,
  type OutputParser,
  type ParserInput,
  unnamedFailures,
} from './parser.ts';

const OUTCOME =
  '\\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)';
const LAST = new RegExp(
  `^(?:=+ )?(?<parts>no tests ran|${OUTCOME}(?:, ${OUTCOME})*) in [\\d.]+s(?: \\([\\d:, a-z]+\\))?(?: =+)?$`,
);
const SECTION = /^=+ (?<title>\S.*?) =+$/;
/** A parameter can hold anything, also what stands before the detail. */
const ID = '(?<id>[^\\s[][^[]*?(?:\\[.*?\\])?)';
const FAILED = new RegExp(`^(?<result>FAILED|ERROR) ${ID}(?: - (?<detail>.*))?$`);
const SUBFAILED = new RegExp(`^SUBFAILED(?<sub>\\(.*?\\)|\\[.*?\\])? ${ID}(?: - (?<detail>.*))?$`);
const TOLD = new RegExp(`^(?<result>PASSED|XPASS|XFAIL) ${ID}(?: - .*)?$`);
const VERBOSE =
  /^(?:\[gw\d+\] \[ *\d+%\] )?(?<id>[^\s[][^[]*?::[^[]*?(?:\[.*?\])?) (?<result>PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)(?: \(.*\))?(?: +\[ *\d+%\])?$/;
const XDIST =
  /^\[gw\d+\] \[ *\d+%\] (?<result>PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR) (?<id>\S.*?::.*?)(?: \(.*\))?$/;
const DOTS = /^(?<file>\S.*?\.\w+) (?<dots>[.FEsxX]+)(?: +\[ *\d+%\])?$/;
const BARE_DOTS = /^(?<dots>[.FEsxX]+) +\[ *\d+%\]$/;
const SETUP_ERROR = /^_+ ERROR at setup of .* _+$/;
const WARNING = /^ {2}(?<file>\S.*?):(?<line>\d+): (?<code>\w*Warning): (?<message>.*)$/;

export const pytest: OutputParser = {
  name: 'pytest',
  runs: ([tool = '']) => tool === 'pytest' || tool === 'py.test',
  recognises: ({ lines }) =>
    anyLine(lines, /^=+ test session starts =+$/) || anyLine(lines, LAST) || anyLine(lines, BARE_DOTS),
  parse(input) {
    const { tests, errors } = readCounts(input);
    const { failures, warnings } = readSections(input);
    const unnamed = failures.length === 0 ? unnamedFailures((tests?.failed ?? 0) + errors) : [];
    const names = namesOf(readNames(input), tests, readFiles(input));
    return { issues: [...failures, ...unnamed, ...warnings], tests, names };
  },
};

function readSections(input: ParserInput): { failures: ParsedIssue[]; warnings: ParsedIssue[] } {
  const failures: ParsedIssue[] = [];
  const warnings: ParsedIssue[] = [];
  let section = '';
  for (const line of input.lines) {
    const title = line.endsWith('=') ? SECTION.exec(line)?.groups?.title : undefined;
    if (title !== undefined) section = title;
    const failed = section === 'short test summary info' ? FAILED.exec(line)?.groups : undefined;
    if (failed !== undefined) failures.push(failure(input, failed));
    const part = section === 'short test summary info' ? SUBFAILED.exec(line)?.groups : undefined;
    if (part !== undefined) failures.push(failure(input, { ...part, id: `${part.id} ${part.sub ?? ''}` }));
    const warned = section.startsWith('warnings summary') ? WARNING.exec(line)?.groups : undefined;
    if (warned !== undefined) warnings.push(warning(input, warned));
  }
  return { failures, warnings };
}

function failure(
  input: ParserInput,
  { result, id = '', detail }: Record<string, string | undefined>,
): ParsedIssue {
  const split = id.indexOf('::');
  if (split === -1) return failingSuite(input, id, detail);
  const issue = failingTest(input, { file: id.slice(0, split), name: id.slice(split + 2), detail });
  // An error around a test is another thing than its failure, and one test can have both.
  return result === 'ERROR' ? { ...issue, code: 'error' } : issue;
}

function warning(input: ParserInput, groups: Record<string, string | undefined>): ParsedIssue {
  return {
    issueType: 'Warning',
    source: 'Test',
    file: input.path(groups.file!),
    code: groups.code!,
    message: input.normalise(groups.message!),
    line: Number(groups.line),
  };
}

/** A test that is expected to fail (xfail) is skipped: nobody would see that its subject breaks. */
function readCounts({ lines, isOneRun }: ParserInput): { tests: TestCounts | null; errors: number } {
  let counts: Record<'passed' | 'failed' | 'skipped', number> | null = null;
  let errors = 0;
  let failedSetups = 0;
  for (const line of lines) {
    // A test whose setup fails is not among the failed ones, and it did not pass either.
    if (line.startsWith('_') && SETUP_ERROR.test(line)) failedSetups++;
    const parts = line.includes(' in ') ? LAST.exec(line)?.groups?.parts : undefined;
    if (parts === undefined) continue;
    if (isOneRun) [counts, errors] = [null, 0];
    counts ??= { passed: 0, failed: 0, skipped: 0 };
    for (const [, count, what = ''] of parts.matchAll(/(\d+) ([a-z]+)/g)) {
      if (what === 'failed') counts.failed += Number(count);
      if (what === 'passed' || what === 'xpassed') counts.passed += Number(count);
      if (what === 'skipped' || what === 'xfailed') counts.skipped += Number(count);
      if (what === 'error' || what === 'errors') errors += Number(count);
    }
    const unset = Math.min(failedSetups, errors);
    counts.failed += unset;
    errors -= unset;
    failedSetups = 0;
  }
  return { tests: counts === null ? countDots(lines) : countTests(counts), errors };
}

/** With -qq there is no last line. */
function countDots(lines: readonly string[]): TestCounts | null {
  const dots = lines.flatMap((line) => BARE_DOTS.exec(line)?.groups?.dots ?? []).join('');
  if (dots === '') return null;
  const count = (signs: RegExp): number => dots.replaceAll('.E', '.').match(signs)?.length ?? 0;
  return countTests({ passed: count(/[.X]/g), failed: count(/[FE]/g), skipped: count(/[sx]/g) });
}

type Result = 'PASSED' | 'FAILED' | 'SKIPPED' | 'XFAIL' | 'XPASS' | 'ERROR';

/** By -v all are named; by -rA all but what was skipped; else only what failed. */
function readNames(input: ParserInput): NamedTests {
  const verbose = new NameList(input);
  const summary = new NameList(input);
  let section = '';
  for (const line of input.lines) {
    const title = line.endsWith('=') ? SECTION.exec(line)?.groups?.title : undefined;
    if (title !== undefined) section = title;
    const told = line.includes('::') ? (XDIST.exec(line) ?? VERBOSE.exec(line))?.groups : undefined;
    if (told !== undefined && section !== 'short test summary info')
      verbose.add(told.id!, told.result as Result);
    if (section !== 'short test summary info') continue;
    const groups = (FAILED.exec(line) ?? TOLD.exec(line))?.groups;
    if (groups !== undefined && groups.id!.includes('::')) summary.add(groups.id!, groups.result as Result);
    const part = SUBFAILED.exec(line)?.groups;
    if (part !== undefined) {
      for (const list of [verbose, summary]) list.add(`${part.id} ${part.sub ?? ''}`.trim(), 'FAILED');
    }
  }
  return verbose.hasPassed() ? verbose.named : summary.named;
}

class NameList {
  readonly named = noNames();
  readonly #input: ParserInput;
  readonly #passed = new Set<string>();

  constructor(input: ParserInput) {
    this.#input = input;
  }

  add(id: string, result: Result): void {
    const split = id.indexOf('::');
    const name = `${this.#input.path(id.slice(0, split))}${id.slice(split)}`.slice(0, 1500);
    // An error after a test that passed stands below it: the test is counted as passed.
    if (result === 'ERROR' && this.#passed.has(name)) return;
    if (result === 'PASSED' || result === 'XPASS') this.#passed.add(name);
    const list =
      result === 'FAILED' || result === 'ERROR' ? 'failed' : this.#passed.has(name) ? 'passed' : 'skipped';
    this.named[list].push(name);
  }

  hasPassed(): boolean {
    return this.#passed.size > 0 || this.named.skipped.length > 0;
  }
}

/** `test_a.py ..F.s`, until the lists of errors and failures begin. */
function readFiles(input: ParserInput): TestGroup[] {
  const groups = new Map<string, number>();
  for (const line of input.lines) {
    const dots = DOTS.exec(line)?.groups;
    if (dots === undefined) continue;
    // Of a test that passes and then fails to clean up, both signs are shown.
    const ran = dots.dots!.replaceAll('.E', '.').replace(/[sx]/g, '').length;
    const name = input.path(dots.file!);
    groups.set(name, (groups.get(name) ?? 0) + ran);
  }
  return [...groups].map(([name, ran]) => ({ name, ran }));
}
