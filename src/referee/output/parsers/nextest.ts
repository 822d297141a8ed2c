/** cargo nextest: one line a test, and the summary. What rustc says is read by cargo's parser. */
import type { ParsedIssue } from '../issue.ts';
import { countTests, namesOf, noNames, type TestCounts } from '../tests.ts';
import { anyLine, failingTest, type OutputParser, unnamedFailures } from './parser.ts';

const SUMMARY = /^ +Summary \[ *[\d.]+s\] (?:\d+\/)?\d+ tests? run: (?<parts>\d.*)$/;
const NO_TESTS = /^error: no tests to run$/;
const TEST =
  /^ +(?<result>[A-Z]+(?: [A-Z]+)?) \[ *[\d.]+s\](?: \( *\d+\/ *\d+\))? (?<binary>\S+) (?<name>\S.*)$/;
const FAILED = /^(?:FAIL|SIG\w+|ABORT|TIMEOUT|LEAK FAIL|EXEC FAIL)$/;

export const nextest: OutputParser = {
  name: 'nextest',
  runs: ([tool = '', verb = '']) => tool === 'cargo-nextest' || (tool === 'cargo' && verb === 'nextest'),
  recognises: ({ lines }) => anyLine(lines, SUMMARY),
  parse(input) {
    const tests = readCounts(input.lines);
    const named = noNames();
    const failed = new Set<string>(); // named again below the summary
    for (const line of input.lines) {
      const item = TEST.exec(line)?.groups;
      if (item === undefined) continue;
      const name = `${item.binary} ${item.name}`;
      if (item.result === 'PASS' || item.result === 'LEAK') named.passed.push(name);
      else if (FAILED.test(item.result!)) failed.add(name);
    }
    named.failed.push(...failed);
    const issues: ParsedIssue[] = named.failed.map((name) => failingTest(input, { file: null, name }));
    if (issues.length === 0) issues.push(...unnamedFailures(tests?.failed ?? 0));
    return { issues, tests, names: namesOf(named, tests) };
  },
};

/** `2 passed (1 slow), 1 failed, 3 skipped`. Skipped are also those that a filter leaves out. */
function readCounts(lines: readonly string[]): TestCounts | null {
  let counts: Record<'passed' | 'failed' | 'skipped', number> | null = null;
  for (const line of lines) {
    const parts = SUMMARY.exec(line)?.groups?.parts;
    if (parts === undefined && !NO_TESTS.test(line)) continue;
    counts ??= { passed: 0, failed: 0, skipped: 0 };
    for (const [, count, what] of (parts ?? '').replace(/\([^)]*\)/g, '').matchAll(/(\d+) ([a-z]+)/g)) {
      const list = what === 'passed' || what === 'skipped' ? what : 'failed';
      if (what !== 'flaky') counts[list] += Number(count);
    }
  }
  return counts && countTests(counts);
}
