/** ESLint: stylish (its default), json, unix and compact. */
import type { IssueType, ParsedIssue } from '../issue.ts';
import { anyLine, type OutputParser, type ParserInput } from './parser.ts';

const SUMMARY = /^✖ \d+ problems? \(\d+ errors?, \d+ warnings?\)$/;
const ROW = /^ {2,}(?<line>\d+):(?<column>\d+) {2,}(?<type>error|warning) {2,}(?<rest>\S.*)$/;
const UNIX =
  /^(?<file>\S[^:]*(?::[\\/][^:]*)?):(?<line>\d+):(?<column>\d+): (?<rest>.*) \[(?<type>Error|Warning)(?:\/(?<code>[^\]]+))?\]$/;
const COMPACT =
  /^(?<file>\S.*?): line (?<line>\d+), col (?<column>\d+), (?<type>Error|Warning) - (?<rest>.*?)(?: \((?<code>[^()\s]+)\))?$/;
const JSON_START = /^\[\{"filePath":/;

export const eslint: OutputParser = {
  name: 'eslint',
  runs: ([tool = '']) => tool === 'eslint' || tool === 'eslint_d',
  recognises: ({ lines }) =>
    anyLine(lines, SUMMARY) || anyLine(lines, JSON_START) || anyLine(lines, UNIX) || anyLine(lines, COMPACT),
  parse(input) {
    return { issues: [...readStylish(input), ...readLines(input), ...readJson(input)], tests: null };
  },
};

/** A file's name on a line of its own, then a row an issue. */
function readStylish(input: ParserInput): ParsedIssue[] {
  const issues: ParsedIssue[] = [];
  let file: string | null = null;
  for (const line of input.lines) {
    const row = ROW.exec(line)?.groups;
    if (row === undefined) {
      if (/^\S/.test(line)) file = line;
      continue;
    }
    if (file === null) continue;
    const { message, code } = splitRule(row.rest!);
    issues.push(issue(input, { ...row, file, rest: message, code }));
  }
  return issues;
}

/** The rule stands last, two or more spaces away; a parsing error has none. */
function splitRule(rest: string): { message: string; code?: string } {
  const gap = rest.lastIndexOf('  ');
  const code = gap === -1 ? '' : rest.slice(gap + 2);
  return /^[\w@/.-]+$/.test(code) ? { message: rest.slice(0, gap), code } : { message: rest };
}

function readLines(input: ParserInput): ParsedIssue[] {
  return input.lines.flatMap((line) => {
    const groups = (UNIX.exec(line) ?? COMPACT.exec(line))?.groups;
    return groups === undefined ? [] : [issue(input, groups)];
  });
}

interface JsonFile {
  filePath?: unknown;
  messages?: unknown;
}

function readJson(input: ParserInput): ParsedIssue[] {
  const start = input.text.search(/^\[\{"filePath":/m);
  if (start === -1) return [];
  const end = input.text.indexOf('\n', start);
  const files = parseJson(input.text.slice(start, end === -1 ? undefined : end));
  if (!Array.isArray(files)) return [];
  return (files as JsonFile[]).flatMap((file) => {
    if (typeof file?.filePath !== 'string' || !Array.isArray(file.messages)) return [];
    return (file.messages as Record<string, unknown>[]).map((entry) =>
      issue(input, {
        file: file.filePath as string,
        line: String(entry?.line ?? ''),
        column: String(entry?.column ?? ''),
        type: entry?.severity === 1 ? 'warning' : 'error',
        rest: String(entry?.message ?? ''),
        code: typeof entry?.ruleId === 'string' ? entry.ruleId : undefined,
      }),
    );
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // cut off or not ESLint's: no issue can be read from it
  }
}

type Row = Record<string, string | undefined>;

function issue(input: ParserInput, { file = '', line, column, type, rest = '', code }: Row): ParsedIssue {
  const issueType: IssueType = type?.toLowerCase() === 'warning' ? 'Warning' : 'Error';
  return {
    issueType,
    source: 'Lint',
    file: input.path(file),
    code: code ?? null,
    message: input.normalise(rest),
    ...(line ? { line: Number(line), column: Number(column) } : {}),
  };
}
