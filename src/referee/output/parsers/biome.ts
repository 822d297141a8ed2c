/** Biome: a headline with place and rule, then the message behind its sign; or the github and json reporters. */
import type { ParsedIssue } from '../issue.ts';
import { readAnnotation } from './annotations.ts';
import { anyLine, type OutputParser, type ParserInput } from './parser.ts';

const HEADLINE =
  /^(?<file>\S.*?)(?::(?<line>\d+):(?<column>\d+))? (?<code>[a-zA-Z]+(?:\/[\w/-]+)?)(?: {1,2}[A-Z]+)* {1,2}━{3,}$/;
/** × or ✖ an error, ! or ⚠ a warning; information is neither. */
const SIGN = /^ {2}(?<sign>[×✖!⚠iℹ]) (?<message>\S.*)$/u;
const NOT_SHOWN = /^Diagnostics not shown: (?<count>\d+)\.$/;
const JSON_START = /^\{"summary":\{.*"diagnostics":\[/;

export const biome: OutputParser = {
  name: 'biome',
  runs: ([tool = '']) => tool === 'biome' || tool === 'rome',
  recognises: ({ lines }) => anyLine(lines, HEADLINE) || anyLine(lines, JSON_START),
  parse(input) {
    return {
      issues: [
        ...readHeadlines(input),
        ...readAnnotations(input),
        ...readJson(input),
        ...readNotShown(input),
      ],
      tests: null,
    };
  },
};

function readHeadlines(input: ParserInput): ParsedIssue[] {
  const issues: ParsedIssue[] = [];
  let open: Record<string, string | undefined> | null = null;
  for (const line of input.lines) {
    const headline = line.endsWith('━') ? HEADLINE.exec(line)?.groups : undefined;
    if (headline !== undefined) {
      open = headline;
      continue;
    }
    const said = open === null ? undefined : SIGN.exec(line)?.groups;
    if (open === null || said === undefined) continue;
    if (!/[iℹ]/u.test(said.sign!)) {
      issues.push({
        issueType: /[!⚠]/u.test(said.sign!) ? 'Warning' : 'Error',
        source: 'Lint',
        file: input.path(open.file!),
        code: open.code!,
        message: input.normalise(said.message!),
        ...(open.line === undefined ? {} : { line: Number(open.line), column: Number(open.column) }),
      });
    }
    open = null; // only the first sign below a headline is its message
  }
  return issues;
}

function readAnnotations(input: ParserInput): ParsedIssue[] {
  return input.lines.flatMap((line): ParsedIssue[] => {
    const found = line.startsWith('::') ? readAnnotation(line) : null;
    if (found === null) return [];
    return [
      {
        issueType: found.type === 'warning' ? 'Warning' : 'Error',
        source: 'Lint',
        file: found.file ? input.path(found.file) : null,
        code: found.code ?? null,
        message: input.normalise(found.message),
        ...(found.line ? { line: Number(found.line), column: Number(found.column ?? 0) } : {}),
      },
    ];
  });
}

/** Beyond its limit (20) Biome only counts: the count must not rise unseen. */
function readNotShown(input: ParserInput): ParsedIssue[] {
  const count = input.lines.reduce((sum, line) => sum + Number(NOT_SHOWN.exec(line)?.groups?.count ?? 0), 0);
  const hidden: ParsedIssue = {
    issueType: 'Error',
    source: 'Lint',
    file: null,
    code: 'not-shown',
    message: 'a diagnostic that Biome counted and did not show (--max-diagnostics=none shows all)',
  };
  return Array.from({ length: Math.min(count, 10_000) }, () => ({ ...hidden }));
}

interface Diagnostic {
  severity?: unknown;
  message?: unknown;
  category?: unknown;
  location?: { path?: unknown; start?: { line?: unknown; column?: unknown } };
}

function readJson(input: ParserInput): ParsedIssue[] {
  const start = input.text.search(/^\{"summary":\{/m);
  if (start === -1) return [];
  const end = input.text.indexOf('\n', start);
  const diagnostics = readDiagnostics(input.text.slice(start, end === -1 ? undefined : end));
  return diagnostics.flatMap(({ severity, message, category, location }): ParsedIssue[] => {
    if (severity !== 'error' && severity !== 'fatal' && severity !== 'warning') return [];
    return [
      {
        issueType: severity === 'warning' ? 'Warning' : 'Error',
        source: 'Lint',
        file: typeof location?.path === 'string' ? input.path(location.path) : null,
        code: typeof category === 'string' ? category : null,
        message: input.normalise(String(message ?? '')),
        ...(typeof location?.start?.line === 'number'
          ? { line: location.start.line, column: Number(location.start.column) }
          : {}),
      },
    ];
  });
}

function readDiagnostics(text: string): Diagnostic[] {
  try {
    const { diagnostics } = JSON.parse(text) as { diagnostics?: unknown };
    return Array.isArray(diagnostics)
      ? diagnostics.filter((each) => each !== null && typeof each === 'object')
      : [];
  } catch {
    return []; // cut off or not Biome's: no issue can be read from it
  }
}
