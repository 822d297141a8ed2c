/** Which issues of a run are new against the baseline (docs/protocol/workflow.md, Baseline). Pure. */
import { type BaselineRecord, type CommandBaseline, countIssues, isRecorded } from './baseline.ts';
import { fingerprint, isUnread, type ParsedIssue } from './issue.ts';
import type { ParsedOutput } from './parse.ts';

/** New errors and warnings reject a completion; flaky and missing ones are only told. */
export type FindingCategory = 'error' | 'warning' | 'flaky' | 'missing';

export interface Finding {
  category: FindingCategory;
  /** One of those counted; which of several alike is the new one, nobody can say. */
  issue: ParsedIssue;
  /** Beyond the baseline; of missing ones, fewer than in it. */
  count: number;
  baselineCount: number;
  /** Where all of them stand now. */
  lines: number[];
}

export interface Comparison {
  command: string;
  findings: Finding[];
  ranNoTest: boolean;
  /** No new error, no new warning, and not a suite that ran no test. */
  passes: boolean;
}

export interface ComparisonInput {
  /** Null: there is none for this command, so everything is new. */
  baseline: CommandBaseline | null;
  records?: readonly BaselineRecord[];
  /** The same command on the same tree, once, or again when in doubt: what only some runs show is flaky. */
  runs: readonly [ParsedOutput, ...ParsedOutput[]];
}

export function compareWithBaseline({ baseline, records = [], runs }: ComparisonInput): Comparison {
  const known = new Map((baseline?.entries ?? []).map((entry) => [fingerprint(entry), entry]));
  const seen = runs.map((run) => countIssues(run.issues));
  const keys = [...new Set(seen.flatMap((counts) => [...counts.keys()]))];
  const fresh = keys.flatMap((key): Finding[] => {
    const found = seen.map((counts) => counts.get(key)?.issues ?? []);
    const issues = found.reduce((most, each) => (each.length > most.length ? each : most));
    const issue = issues[0]!;
    if (records.some((record) => isRecorded(issue, record))) return [];
    const baselineCount = known.get(key)?.count ?? 0;
    const beyond = found.map((each) => Math.max(0, each.length - baselineCount));
    const [least, most] = [Math.min(...beyond), Math.max(...beyond)];
    const lines = issues.flatMap(({ line }) => line ?? []);
    const category = issue.issueType === 'Error' ? 'error' : 'warning';
    return [
      ...(least > 0 ? [{ category, issue, count: least, baselineCount, lines } as const] : []),
      ...(most > least
        ? [{ category: 'flaky', issue, count: most - least, baselineCount, lines } as const]
        : []),
    ];
  });
  const missing = [...known].flatMap(([key, { count: baselineCount, isFlaky, ...issue }]): Finding[] => {
    const now = Math.max(...seen.map((counts) => counts.get(key)?.issues.length ?? 0));
    if (isFlaky || now >= baselineCount) return [];
    return [{ category: 'missing', issue, count: baselineCount - now, baselineCount, lines: [] }];
  });
  const ranNoTest = runs.every((run) => run.ranNoTest);
  const rejects = fresh.some(({ category }) => category === 'error' || category === 'warning');
  return {
    command: runs[0].command,
    findings: [...fresh, ...missing],
    ranNoTest,
    passes: !rejects && !ranNoTest,
  };
}

/** Compilers and linters say the same twice; a test, or a failure that nobody could read, may not. */
export function isInDoubt({ findings, ranNoTest }: Comparison): boolean {
  const doubtful = findings.some(
    ({ category, issue }) => category === 'error' && (issue.source === 'Test' || isUnread(issue)),
  );
  return doubtful && !ranNoTest;
}
