/** Reads the report file that a check has written: it says more than the output, and in one form. Pure. */
import type { IssueSource, ParsedIssue } from '../issue.ts';
import { normaliseMessage } from '../normalise.ts';
import { createPathMapper, type PathMapper, type Place, rootsOf } from '../paths.ts';
import type { TestCounts, TestNames } from '../tests.ts';
import { readJunit } from './junit.ts';
import { readSarif } from './sarif.ts';

export type ReportKind = 'junit' | 'sarif';

export interface FileReport {
  /** Null: it says nothing of tests. */
  tests: TestCounts | null;
  names: TestNames | null;
  issues: ParsedIssue[];
}

/** What the readers of both kinds need to know of the run. */
export interface ReportPlace {
  path: PathMapper;
  normalise(message: string): string;
  source: IssueSource;
}

/** Null: it is not what it should be (cut off, another format, too large). Never throws. */
export function readReport(
  kind: ReportKind,
  text: string,
  run: Place & { source: IssueSource },
): FileReport | null {
  const roots = rootsOf(run);
  const place: ReportPlace = {
    path: createPathMapper(run),
    normalise: (message) => normaliseMessage(message, roots),
    source: run.source,
  };
  return kind === 'junit' ? readJunit(text, place) : readSarif(text, place);
}
