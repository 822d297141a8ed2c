/** node:test: the spec reporter's list of failing tests, and TAP (of any producer). */
import type { ParsedIssue, TestCounts } from '../issue.ts';
import {
  anyLine,
  failingSuite,
  failingTest,
  type OutputParser,
  type ParserInput,
  unnamedFailures,
} from './parser.ts';

const COUNT = /^(?:ℹ|#) (?<what>tests|pass|fail|cancelled|skipped|todo) (?<count>\d+)$/u;
const PLACE = /^test at (?<file>\S.*?):(?<line>\d+):\d+$/;
const FAILED = /^✖ (?<name>\S.*?)(?: \([\d.]+ ?ms\))?$/u;
const TAP = /^TAP version 1[34]$/;
const NOT_OK = /^ *not ok \d+(?: -)? (?<name>.*)$/;
const DIRECTIVE = /(?<!\\)# (?:todo|skip)\b/i;

export const nodeTest: OutputParser = {
  name: 'node:test',
  runs: ([tool = '', ...rest]) => tool === 'node' && rest.some((word) => /^--test(?:$|-)/.test(word)),
  recognises: ({ lines }) => anyLine(lines, /^ℹ tests \d+$/u) || anyLine(lines, TAP),
  parse(input) {
    const tests = readCounts(input.lines);
    const issues = [...readSpec(input), ...readTap(input)];
    if (issues.length === 0 && tests !== null) issues.push(...unnamedFailures(tests.failed));
    return { issues, tests };
  },
};

/** Only the list of failing tests is read: there, a parent whose children failed is not named again. */
function readSpec(input: ParserInput): ParsedIssue[] {
  return input.lines.flatMap((line, index) => {
    const place = line.startsWith('test at ') ? PLACE.exec(line)?.groups : undefined;
    const name = place && FAILED.exec(input.lines[index + 1] ?? '')?.groups?.name;
    if (!place || name === undefined) return [];
    const detail = input.lines[index + 2]?.trim();
    return [failure(input, { file: place.file!, name, detail, line: Number(place.line) })];
  });
}

interface OpenTest {
  name: string;
  file: string | null;
  line?: number;
  detail?: string;
}

function readTap(input: ParserInput): ParsedIssue[] {
  const issues: ParsedIssue[] = [];
  let open: OpenTest | null = null;
  const close = (): void => {
    if (open !== null) issues.push(failure(input, open));
    open = null;
  };
  if (!anyLine(input.lines, TAP)) return issues;
  for (const line of input.lines) {
    const name = line.includes('not ok') ? NOT_OK.exec(line)?.groups?.name : undefined;
    if (name !== undefined || /^ *(?:ok \d|\.\.\.$)/.test(line)) close();
    if (name !== undefined && !DIRECTIVE.test(name)) open = { name: unescapeTap(name), file: null };
    if (open === null) continue;
    const location = /^ +location: '?(?<file>.+?):(?<line>\d+):\d+'?$/.exec(line)?.groups;
    const said = /^ +error: (?:'(?<quoted>.*)'|(?<plain>[^|>].*))$/.exec(line)?.groups;
    if (location !== undefined) Object.assign(open, { file: location.file, line: Number(location.line) });
    if (said !== undefined) open.detail = said.quoted ?? said.plain;
    if (/^ +failureType: '?subtestsFailed/.test(line)) open = null;
  }
  close();
  return issues;
}

function unescapeTap(name: string): string {
  return name.replace(/\\([\\#])/g, '$1');
}

function failure(input: ParserInput, { file, name, detail, line }: OpenTest): ParsedIssue {
  // A file that cannot be loaded is reported as a test that has the file's name.
  if (file !== null && input.path(name) === input.path(file)) return failingSuite(input, file, detail);
  return failingTest(input, { file, name, detail, line });
}

function readCounts(lines: readonly string[]): TestCounts | null {
  let counts: TestCounts | null = null;
  for (const line of lines) {
    const groups = /^[ℹ#]/u.test(line) ? COUNT.exec(line)?.groups : undefined;
    if (groups === undefined) continue;
    counts ??= { ran: 0, failed: 0, skipped: 0 };
    const count = Number(groups.count);
    if (groups.what === 'fail' || groups.what === 'cancelled') counts.failed += count;
    if (groups.what === 'fail' || groups.what === 'cancelled' || groups.what === 'pass') counts.ran += count;
    if (groups.what === 'skipped' || groups.what === 'todo') counts.skipped += count;
  }
  return counts;
}
