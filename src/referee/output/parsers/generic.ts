/** What most tools have in common: `file:line:col: error …`, and the annotations that build services read. */
import type { IssueType, ParsedIssue } from '../issue.ts';
import { readAnnotation } from './annotations.ts';
import type { OutputParser, ParserInput } from './parser.ts';

const FILE = '(?<file>(?:[A-Za-z]:[\\\\/])?[^\\s:()][^:()]*?)';
const COLON = new RegExp(
  `^${FILE}:(?<line>\\d+)(?::(?<column>\\d+))?:? +(?:fatal )?(?<type>error|warning)\\b(?: ?\\[?(?<code>[A-Z]+\\d+)\\]?)?:? *(?<message>.*)$`,
  'i',
);
const BRACKETS = new RegExp(
  `^${FILE}\\((?<line>\\d+)(?:,(?<column>\\d+))?\\) ?: (?:fatal )?(?<type>error|warning)(?: (?<code>[A-Z]+\\d+))?: *(?<message>.*)$`,
  'i',
);
/** flake8, ruff, pylint: a rule's number in place of the word. */
const RULE = new RegExp(
  `^${FILE}:(?<line>\\d+):(?<column>\\d+): (?<code>[A-Z]{1,4}\\d{3,4}):? (?<message>\\S.*)$`,
);
const TRAILING_CODE = /^(?<message>.*\S) +\[(?<code>-W[\w=+-]+|[a-z][\w-]*)\]$/;

export const generic: OutputParser = {
  name: 'generic',
  runs: () => false,
  recognises: () => false,
  parse(input) {
    return { issues: input.lines.flatMap((line) => readLine(input, line)), tests: null };
  },
};

function readLine(input: ParserInput, line: string): ParsedIssue[] {
  const fields = readAnnotation(line);
  if (fields !== null) return [issueOf(input, fields)];
  const groups = (COLON.exec(line) ?? BRACKETS.exec(line) ?? RULE.exec(line))?.groups;
  return groups === undefined ? [] : [issueOf(input, groups)];
}

function issueOf(input: ParserInput, groups: Record<string, string | undefined>): ParsedIssue {
  const issueType: IssueType = groups.type?.toLowerCase() === 'warning' ? 'Warning' : 'Error';
  const trailing = groups.code ? undefined : TRAILING_CODE.exec(groups.message ?? '')?.groups;
  return {
    issueType,
    source: input.source,
    file: groups.file ? input.path(groups.file) : null,
    code: groups.code ?? trailing?.code ?? null,
    message: input.normalise(trailing?.message ?? groups.message ?? ''),
    ...(groups.line ? { line: Number(groups.line) } : {}),
    ...(groups.column ? { column: Number(groups.column) } : {}),
  };
}
