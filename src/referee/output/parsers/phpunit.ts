/** PHPUnit: the lists of what did not pass, --testdox, the numbers. */
import type { ParsedIssue } from '../issue.ts';
import { countTests, type NamedTests, namesOf, noNames, type TestCounts } from '../tests.ts';
import { anyLine, failingTest, type OutputParser, type ParserInput, unnamedFailures } from './parser.ts';

const HEADING = /^PHPUnit \d+\.\d\S* by Sebastian Bergmann/;
const ALL_PASSED = /^OK \((?<count>\d+) tests?, \d+ assertions?\)$/;
const SUM = /^Tests: (?<total>\d+), Assertions: \d+(?<parts>(?:, [A-Z][A-Za-z ]+: \d+)*)\.$/;
const NO_TESTS = /^No tests executed!$/;
const SECTION =
  /^There (?:was|were) \d+ (?:PHPUnit (?:test runner )?)?(?<what>errors?|failures?|skipped tests?|incomplete tests?|risky tests?|\w+):$/;
const ITEM = /^\d+\) (?<name>[\w\\]+::\S.*)$/;
const DOX_CLASS = /^(?<name>\S.*?)(?: \([\w\\]+\))?$/;
const DOX = /^ (?<sign>[✔✘↩∅☢⚠]) (?<name>\S.*?)(?: {1,2}\[[\d.]+ (?:ms|s)\])?$/u;

export const phpunit: OutputParser = {
  name: 'phpunit',
  runs: ([tool = '']) => tool === 'phpunit' || tool === 'pest' || tool === 'paratest',
  recognises: ({ lines }) => anyLine(lines, HEADING),
  parse(input) {
    const tests = readCounts(input);
    const listed = readSections(input);
    const dox = readDox(input.lines);
    const failed = listed.failed.length > 0 ? listed.failed : dox.failed;
    const issues: ParsedIssue[] = failed.map((name) => failingTest(input, { file: null, name }));
    if (issues.length === 0) issues.push(...unnamedFailures(tests?.failed ?? 0));
    const named = dox.passed.length > 0 ? dox : { ...noNames(), failed, skipped: listed.skipped };
    return { issues, tests, names: namesOf(named, tests) };
  },
};

/** Incomplete tests are skipped. Risky ones ran. */
function readCounts({ lines, isOneRun }: ParserInput): TestCounts | null {
  let counts: Record<'passed' | 'failed' | 'skipped', number> | null = null;
  for (const line of lines) {
    const all = ALL_PASSED.exec(line)?.groups?.count;
    const sum = SUM.exec(line)?.groups;
    if (all === undefined && sum === undefined && !NO_TESTS.test(line)) continue;
    if (isOneRun) counts = null;
    counts ??= { passed: 0, failed: 0, skipped: 0 };
    const told = (what: string): number =>
      Number(new RegExp(`, ${what}: (\\d+)`).exec(sum?.parts ?? '')?.[1] ?? 0);
    const total = Number(all ?? sum?.total ?? 0);
    const failed = Math.min(total, told('Errors') + told('Failures'));
    const skipped = Math.min(total - failed, told('Skipped') + told('Incomplete'));
    counts.passed += total - failed - skipped;
    counts.failed += failed;
    counts.skipped += skipped;
  }
  return counts && countTests(counts);
}

function readSections(input: ParserInput): NamedTests {
  const named = noNames();
  let list: 'failed' | 'skipped' | null = null;
  for (const line of input.lines) {
    const what = SECTION.exec(line)?.groups?.what;
    if (what !== undefined)
      list = /^(?:error|failure)/.test(what) ? 'failed' : /^(?:skip|incom)/.test(what) ? 'skipped' : null;
    const name = list === null ? undefined : ITEM.exec(line)?.groups?.name;
    if (list !== null && name !== undefined) named[list].push(name.slice(0, 1500));
  }
  return named;
}

function readDox(lines: readonly string[]): NamedTests {
  const named = noNames();
  let owner = '';
  for (const line of lines) {
    const item = DOX.exec(line)?.groups;
    if (item === undefined) {
      if (/^\S/.test(line)) owner = DOX_CLASS.exec(line)?.groups?.name ?? '';
      continue;
    }
    const name = `${owner} > ${item.name}`.slice(0, 1500);
    if (item.sign === '✘') named.failed.push(name);
    else named[item.sign === '↩' || item.sign === '∅' ? 'skipped' : 'passed'].push(name);
  }
  return named;
}
