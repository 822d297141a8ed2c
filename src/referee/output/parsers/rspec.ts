/** RSpec: the documentation format, the lists of pending and failed examples, the numbers. */
import type { ParsedIssue } from '../issue.ts';
import { countTests, type NamedTests, namesOf, noNames, type TestCounts } from '../tests.ts';
import {
  anyLine,
  failingSuite,
  failingTest,
  type OutputParser,
  type ParserInput,
  unnamedFailures,
} from './parser.ts';

const SUM =
  /^(?<total>\d+) examples?, (?<failed>\d+) failures?(?:, (?<pending>\d+) pending)?(?:, \d+ errors? occurred outside of examples)?$/;
const FAILED = /^rspec (?<file>\S+?)(?::(?<line>\d+)|\[[\d:,]+\]) # (?<name>.*)$/;
const LOAD_ERROR = /^An error occurred while loading (?<file>\S+?)\.$/;
const PENDING = /^ {2}\d+\) (?<name>\S.*)$/;
const END = /^(?:Pending:|Failures:|Finished in |Failed examples:)/;
const LISTED = /^(?<indent> *)(?<name>\S.*?)(?<mark> \((?:FAILED - \d+|PENDING: .*)\))?$/;

export const rspec: OutputParser = {
  name: 'rspec',
  runs: ([tool = '', ...rest]) => tool === 'rspec' || (tool === 'bundle' && rest[1] === 'rspec'),
  recognises: ({ lines }) => anyLine(lines, SUM),
  parse(input) {
    const tests = readCounts(input);
    const failed: string[] = [];
    const issues = input.lines.flatMap((line): ParsedIssue[] => {
      const load = LOAD_ERROR.exec(line)?.groups?.file;
      if (load !== undefined) return [failingSuite(input, load)];
      const item = line.startsWith('rspec ') ? FAILED.exec(line)?.groups : undefined;
      if (item === undefined) return [];
      failed.push(item.name!);
      const place = item.line === undefined ? {} : { line: Number(item.line) };
      return [failingTest(input, { file: item.file!, name: item.name!, ...place })];
    });
    if (issues.length === 0) issues.push(...unnamedFailures(tests?.failed ?? 0));
    const documented = readDocumentation(input.lines);
    const skipped = readPending(input.lines);
    // Without the documentation format what stands there is no list of examples.
    const passed = documented.passed.length === tests?.passed ? documented.passed : [];
    return { issues, tests, names: namesOf({ passed, failed, skipped }, tests) };
  },
};

/** An example that is pending and fails as expected counts as pending, as RSpec does. */
function readCounts({ lines, isOneRun }: ParserInput): TestCounts | null {
  let counts: Record<'passed' | 'failed' | 'skipped', number> | null = null;
  for (const line of lines) {
    const sum = SUM.exec(line)?.groups;
    if (sum === undefined) continue;
    const [total, failed, skipped] = [sum.total, sum.failed, sum.pending ?? 0].map(Number) as [
      number,
      number,
      number,
    ];
    if (isOneRun) counts = null;
    counts ??= { passed: 0, failed: 0, skipped: 0 };
    counts.passed += Math.max(0, total - failed - skipped);
    counts.failed += failed;
    counts.skipped += skipped;
  }
  return counts && countTests(counts);
}

function readPending(lines: readonly string[]): string[] {
  let isPending = false;
  return lines.flatMap((line) => {
    if (END.test(line)) isPending = line.startsWith('Pending:');
    return isPending ? (PENDING.exec(line)?.groups?.name ?? []) : [];
  });
}

/** A group has something below it that is indented deeper; an example has not. */
function readDocumentation(lines: readonly string[]): NamedTests {
  const named = noNames();
  let open: { depth: number; name: string }[] = [];
  for (const [index, line] of lines.entries()) {
    if (END.test(line)) break;
    const item = LISTED.exec(line)?.groups;
    if (item === undefined) continue;
    const depth = item.indent!.length;
    open = open.filter((group) => group.depth < depth).slice(0, 32);
    const next = lines[index + 1] ?? '';
    if (next.length - next.trimStart().length > depth) open.push({ depth, name: item.name! });
    else if (item.mark === undefined && open.length > 0)
      named.passed.push([...open.map(({ name }) => name), item.name].join(' ').slice(0, 1500));
  }
  return named;
}
