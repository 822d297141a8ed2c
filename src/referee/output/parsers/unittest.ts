/** Python's unittest, and what is built on it (Django): the lines of -v, the failures, the last lines. */
import type { ParsedIssue } from '../issue.ts';
import { countTests, type NamedTests, namesOf, noNames, type TestCounts } from '../tests.ts';
import { anyLine, failingTest, type OutputParser, type ParserInput, unnamedFailures } from './parser.ts';

const RAN = /^Ran (?<count>\d+) tests? in [\d.]+s$/;
const RESULT = /^(?:OK|FAILED|NO TESTS RAN)(?: \((?<parts>[a-z]+(?: [a-z]+)*=\d+(?:, [a-z ]+=\d+)*)\))?$/;
const TEST = /^(?<method>\w+) \((?<path>[\w.<>]+)\)/;
const LISTED =
  /(?:^| \.\.\. )(?<result>ok|FAIL|ERROR|skipped (?:'.*'|".*")|expected failure|unexpected success)$/;
const FAILURE = /^(?<what>FAIL|ERROR|UNEXPECTED SUCCESS): (?<rest>\w+ \([\w.<>]+\).*)$/;

export const unittest: OutputParser = {
  name: 'unittest',
  runs: ([tool = '']) => tool === 'unittest',
  recognises: ({ lines }) => anyLine(lines, RAN),
  parse(input) {
    const tests = readCounts(input);
    const failures = readFailures(input);
    const issues: ParsedIssue[] = failures.map(({ name, detail }) =>
      failingTest(input, { file: null, name, detail }),
    );
    if (issues.length === 0) issues.push(...unnamedFailures(tests?.failed ?? 0));
    const failed = [...new Set(failures.map(({ name }) => name.replace(/ \(.*\)$| \[.*\]$/, '')))];
    return { issues, tests, names: namesOf({ ...readList(input.lines), failed }, tests) };
  },
};

/** `Ran` counts the skipped ones too. Each subtest that fails is counted, the test around them is one. */
function readCounts({ lines, isOneRun }: ParserInput): TestCounts | null {
  let tests: { passed: number; failed: number; skipped: number } | null = null;
  let ran: number | null = null;
  let failures = new Set<string>();
  for (const line of lines) {
    const failure = FAILURE.exec(line)?.groups;
    if (failure !== undefined) failures.add(nameOf(failure.rest!) ?? line);
    const count = RAN.exec(line)?.groups?.count;
    if (count !== undefined) ran = Number(count);
    const result = ran === null ? undefined : RESULT.exec(line);
    if (ran === null || !result) continue;
    const told = (what: string): number =>
      Number(new RegExp(`(?:^|, )${what}=(\\d+)`).exec(result.groups?.parts ?? '')?.[1] ?? 0);
    const skipped = told('skipped') + told('expected failures');
    const most = told('failures') + told('errors') + told('unexpected successes');
    const failed = Math.min(most, failures.size || most, Math.max(0, ran - skipped));
    if (isOneRun) tests = null;
    tests ??= { passed: 0, failed: 0, skipped: 0 };
    tests.passed += Math.max(0, ran - skipped - failed);
    tests.failed += failed;
    tests.skipped += skipped;
    ran = null;
    failures = new Set();
  }
  return tests && countTests(tests);
}

/** Before 3.11 the class alone stands in the brackets. */
function nameOf(text: string): string | null {
  const groups = TEST.exec(text)?.groups;
  if (groups === undefined) return null;
  const { method = '', path = '' } = groups;
  return path.endsWith(`.${method}`) ? path : `${path}.${method}`;
}

/** What was printed, or the first line of its description, stands between a test's name and its result. */
function readList(lines: readonly string[]): NamedTests {
  const named = noNames();
  let open: string | null = null;
  for (const line of lines) {
    if (/^={20,}$/.test(line)) open = null;
    const name = nameOf(line);
    if (name !== null) open = name;
    const result = open === null ? undefined : LISTED.exec(line)?.groups?.result;
    if (open === null || result === undefined) continue;
    if (result === 'ok') named.passed.push(open);
    if (result.startsWith('skipped ') || result === 'expected failure') named.skipped.push(open);
    open = null;
  }
  return named;
}

function readFailures({ lines }: ParserInput): { name: string; detail?: string }[] {
  return lines.flatMap((line, index) => {
    const { what, rest } = FAILURE.exec(line)?.groups ?? {};
    const name = rest === undefined ? null : nameOf(rest);
    if (rest === undefined || name === null) return [];
    // `(i=0)` or `[message]`: which subtest it is.
    const sub = rest.replace(/^\w+ \([^)]*\)/, '').trim();
    // The reason is the last line of the trace, before the empty one.
    const end = lines.slice(index, index + 200).indexOf('');
    const detail = what === 'UNEXPECTED SUCCESS' ? what.toLowerCase() : lines[index + end - 1];
    return [{ name: sub === '' ? name : `${name} ${sub}`, detail }];
  });
}
