/** SARIF 2.1.0, as linters and analysers write it. */
import type { ParsedIssue } from '../issue.ts';
import type { FileReport, ReportPlace } from './read-report.ts';

const MAX_LENGTH = 64 * 1024 * 1024;

type Json = Record<string, unknown>;

export function readSarif(text: string, place: ReportPlace): FileReport | null {
  const log = text.length > MAX_LENGTH ? null : parse(text);
  const version = recordOf(log).version;
  if (typeof version !== 'string' || !version.startsWith('2.1.')) return null;
  const issues = listOf(recordOf(log).runs).flatMap((run) =>
    listOf(run.results).flatMap((result) => issueOf(run, result, place)),
  );
  return { tests: null, names: null, issues };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return null; // cut off, or no JSON: no report
  }
}

function issueOf(run: Json, result: Json, place: ReportPlace): ParsedIssue[] {
  const level = levelOf(run, result);
  if ((level !== 'error' && level !== 'warning') || isSettled(result)) return [];
  const where = recordOf(recordOf(listOf(result.locations)[0]).physicalLocation);
  const region = recordOf(where.region);
  const line = numberOf(region.startLine);
  const column = numberOf(region.startColumn);
  const file = fileOf(run, recordOf(where.artifactLocation));
  return [
    {
      issueType: level === 'error' ? 'Error' : 'Warning',
      source: place.source === 'Test' ? 'Lint' : place.source,
      file: file === null ? null : place.path(file),
      code: stringOf(result.ruleId) ?? stringOf(recordOf(result.rule).id),
      message: place.normalise(messageOf(recordOf(result.message))),
      ...(line === null ? {} : { line }),
      ...(column === null ? {} : { column }),
    },
  ];
}

/** Not found by this run, of a kind that is no finding, or suppressed and nobody refused that. */
function isSettled({ kind, baselineState, suppressions }: Json): boolean {
  const isFinding = kind === undefined || kind === 'fail';
  const isRefused = ({ status }: Json): boolean => status === 'rejected' || status === 'underReview';
  const all = listOf(suppressions);
  return !isFinding || baselineState === 'absent' || (all.length > 0 && !all.some(isRefused));
}

/** A result's own level, else its rule's, else `warning`. */
function levelOf(run: Json, result: Json): unknown {
  if (result.level !== undefined) return result.level;
  const rule = itemOf(
    recordOf(recordOf(run.tool).driver).rules,
    result.ruleIndex ?? recordOf(result.rule).index,
  );
  return recordOf(rule.defaultConfiguration).level ?? 'warning';
}

function fileOf(run: Json, { uri, index }: Json): string | null {
  const told = stringOf(uri) ?? stringOf(recordOf(itemOf(run.artifacts, index).location).uri);
  if (told === null || told.startsWith('file://')) return told;
  try {
    return decodeURIComponent(told);
  } catch {
    return told; // a stray percent sign: the path as it stands
  }
}

function messageOf({ text, markdown, id }: Json): string {
  return stringOf(text) ?? stringOf(markdown) ?? stringOf(id) ?? '';
}

function recordOf(value: unknown): Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {};
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

function itemOf(list: unknown, index: unknown): Json {
  const at = numberOf(index);
  return Array.isArray(list) && at !== null ? recordOf(list[at]) : {};
}

function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
