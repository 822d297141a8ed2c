/** pytest: the short summary, the warnings summary and the last line. */
import type { ParsedIssue, TestCounts } from '../issue.ts';
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
const FAILED = /^(?<result>FAILED|ERROR) (?<id>\S.*?)(?: - (?<detail>.*))?$/;
const WARNING = /^ {2}(?<file>\S.*?):(?<line>\d+): (?<code>\w*Warning): (?<message>.*)$/;

export const pytest: OutputParser = {
  name: 'pytest',
  runs: ([tool = '']) => tool === 'pytest' || tool === 'py.test',
  recognises: ({ lines }) => anyLine(lines, /^=+ test session starts =+$/) || anyLine(lines, LAST),
  parse(input) {
    const { tests, errors } = readCounts(input.lines);
    const { failures, warnings } = readSections(input);
    const unnamed = failures.length === 0 ? unnamedFailures((tests?.failed ?? 0) + errors) : [];
    return { issues: [...failures, ...unnamed, ...warnings], tests };
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

const RAN = ['passed', 'failed', 'xfailed', 'xpassed'];

function readCounts(lines: readonly string[]): { tests: TestCounts | null; errors: number } {
  let tests: TestCounts | null = null;
  let errors = 0;
  for (const line of lines) {
    const parts = line.includes(' in ') ? LAST.exec(line)?.groups?.parts : undefined;
    if (parts === undefined) continue;
    tests ??= { ran: 0, failed: 0, skipped: 0 };
    for (const [, count, what = ''] of parts.matchAll(/(\d+) ([a-z]+)/g)) {
      if (what === 'failed') tests.failed += Number(count);
      if (RAN.includes(what)) tests.ran += Number(count);
      if (what === 'skipped') tests.skipped += Number(count);
      if (what === 'error' || what === 'errors') errors += Number(count);
    }
  }
  return { tests, errors };
}
