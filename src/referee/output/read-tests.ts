/** What a check showed of its tests: by the report file that it wrote, else by its output. Pure. */
import { isUnread, type ParsedIssue } from './issue.ts';
import { type CommandOutput, parseOutput } from './parse.ts';
import { type FileReport, type ReportKind, readReport } from './report-files/read-report.ts';
import type { TestsSeen } from './tests.ts';

export interface CheckRun extends CommandOutput {
  /** Written by this very run: an older one would speak of another tree. */
  report?: { kind: ReportKind; text: string } | null;
}

export interface CheckSeen extends TestsSeen {
  issues: ParsedIssue[];
  /** So many tests failed, and the command ended with 0 all the same (`|| true`). */
  swallowedFailures: number;
  /** Who read it; `junit` and `sarif` for a report. */
  parsers: string[];
}

/** Never throws; takes time in proportion to the output and the report. */
export function readTests(run: CheckRun): CheckSeen {
  const seen = readAll(run);
  return { ...seen, swallowedFailures: run.exit === 0 ? (seen.counts?.failed ?? 0) : 0 };
}

function readAll(run: CheckRun): Omit<CheckSeen, 'swallowedFailures'> {
  const { issues, tests, names, ranNoTest, parsers } = parseOutput(run);
  const seen = { counts: tests, names, ranNoTest, issues, parsers };
  const { kind, text } = run.report ?? {};
  if (kind === undefined || text === undefined) return seen;
  const report = readReport(kind, text, run);
  if (report === null) return seen;
  const told = {
    ...seen,
    issues: mergeIssues(run, issues, report),
    parsers: [...parsers, kind],
  };
  if (report.tests === null) return told;
  // Where the output says that nothing ran, the report is of another run, or somebody wrote it.
  return {
    ...told,
    counts: report.tests,
    names: report.names,
    ranNoTest: ranNoTest || report.tests.ran === 0,
  };
}

/** A report of tests stands in place of what the output says of them; other findings are added to what was printed. */
function mergeIssues(
  { exit }: CheckRun,
  printed: readonly ParsedIssue[],
  { tests, issues }: FileReport,
): ParsedIssue[] {
  const placeOf = ({ file, line, code }: ParsedIssue): string => JSON.stringify([file, line, code]);
  const places = new Set(printed.map(placeOf));
  const others = printed.filter((issue) => !isUnread(issue) && (tests === null || issue.source !== 'Test'));
  const fresh = issues.filter(
    (issue) => (exit !== 0 || issue.issueType !== 'Error') && (tests !== null || !places.has(placeOf(issue))),
  );
  const merged = [...others, ...fresh];
  if (exit === 0) return merged;
  const hasError = merged.some(({ issueType }) => issueType === 'Error');
  // The report does not explain why the check failed: what the output says must stand.
  if (!hasError) return [...printed, ...fresh];
  return exit === null ? [...merged, ...printed.filter(isUnread)] : merged;
}
