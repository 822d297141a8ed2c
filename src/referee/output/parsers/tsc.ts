/** The TypeScript compilers: `file(l,c): error TS1: …`, and with --pretty `file:l:c - error TS1: …`. */
import type { ParsedIssue } from '../issue.ts';
import { anyLine, type OutputParser, type ParserInput } from './parser.ts';

const PLAIN =
  /^(?<file>[^\s:][^:]*?(?::[\\/][^:]*?)?)\((?<line>\d+),(?<column>\d+)\): (?<type>error|warning) (?<code>TS\d+): (?<message>.*)$/;
const PRETTY =
  /^(?<file>\S[^:]*(?::\\[^:]*|:\/[^:]*)?):(?<line>\d+):(?<column>\d+) - (?<type>error|warning) (?<code>TS\d+): (?<message>.*)$/;
const NOWHERE = /^(?<type>error|warning) (?<code>TS\d+): (?<message>.*)$/;
/** Cheap to ask of every line. */
const ANY = /(?:\(\d+,\d+\): |:\d+:\d+ - |^)(?:error|warning) TS\d+: /;

export const tsc: OutputParser = {
  name: 'tsc',
  runs: ([tool = '']) => ['tsc', 'vue-tsc', 'tsgo', 'tsc-watch'].includes(tool),
  recognises: ({ lines }) => anyLine(lines, ANY),
  parse(input) {
    return { issues: input.lines.flatMap((line) => readLine(input, line)), tests: null };
  },
};

function readLine(input: ParserInput, line: string): ParsedIssue[] {
  if (!line.includes(' TS') || !ANY.test(line)) return [];
  const groups = (PLAIN.exec(line) ?? PRETTY.exec(line) ?? NOWHERE.exec(line))?.groups;
  if (groups === undefined) return [];
  const { file, line: row, column, type, code = null, message = '' } = groups;
  return [
    {
      issueType: type === 'warning' ? 'Warning' : 'Error',
      source: 'Build',
      file: file === undefined ? null : input.path(file),
      code,
      message: input.normalise(message),
      ...(row === undefined ? {} : { line: Number(row), column: Number(column) }),
    },
  ];
}
