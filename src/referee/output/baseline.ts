/** What a verification command showed before any pulse: the counts that later runs are held against. */
import { fingerprint, type IssueSource, type IssueType, type ParsedIssue } from './issue.ts';
import { normaliseMessage } from './normalise.ts';
import type { ParsedOutput } from './parse.ts';
import type { TestCounts } from './tests.ts';

export interface BaselineEntry {
  file: string | null;
  code: string | null;
  message: string;
  issueType: IssueType;
  source: IssueSource;
  count: number;
  /** Two runs of the same tree disagreed on it: the higher count holds, and its absence means nothing. */
  isFlaky?: true;
}

/** Plain data, one per verification command: it survives JSON. */
export interface CommandBaseline {
  command: string;
  source: IssueSource;
  exit: number | null;
  entries: BaselineEntry[];
  tests: TestCounts | null;
  ranNoTest: boolean;
}

/** An issue of the baseline, as `record_baseline` writes it. */
export interface BaselineRecord {
  issueType: IssueType;
  source: IssueSource;
  /** An error code, or a part of a message. */
  pattern: string;
  filePath?: string;
  description?: string;
}

/** Of one run, or of several of the same tree, which shows what is flaky. The last run's exit and counts are kept. */
export function createBaseline(runs: readonly [ParsedOutput, ...ParsedOutput[]]): CommandBaseline {
  const counted = runs.map((run) => countIssues(run.issues));
  const entries = [...new Set(counted.flatMap((counts) => [...counts.keys()]))].map((key): BaselineEntry => {
    const counts = counted.map((each) => each.get(key)?.issues.length ?? 0);
    const [sample] = counted.find((each) => each.has(key))!.get(key)!.issues;
    const { file, code, message, issueType, source } = sample!;
    const isFlaky = new Set(counts).size > 1;
    return {
      file,
      code,
      message,
      issueType,
      source,
      count: Math.max(...counts),
      ...(isFlaky ? { isFlaky } : {}),
    };
  });
  const { command, source, exit, tests } = runs.at(-1)!;
  return { command, source, exit, entries, tests, ranNoTest: runs.every((run) => run.ranNoTest) };
}

export interface FlakyIssue {
  issue: ParsedIssue;
  /** How often each run had it. */
  counts: [number, number];
}

/** What two runs of the same tree disagree on. */
export function findFlaky(first: ParsedOutput, second: ParsedOutput): FlakyIssue[] {
  const [a, b] = [countIssues(first.issues), countIssues(second.issues)];
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((key) => {
    const counts: [number, number] = [a.get(key)?.issues.length ?? 0, b.get(key)?.issues.length ?? 0];
    const issue = (a.get(key) ?? b.get(key))!.issues[0]!;
    return counts[0] === counts[1] ? [] : [{ issue, counts }];
  });
}

export interface CountedIssues {
  issues: ParsedIssue[];
}

export function countIssues(issues: readonly ParsedIssue[]): Map<string, CountedIssues> {
  const counts = new Map<string, CountedIssues>();
  for (const issue of issues) {
    const key = fingerprint(issue);
    const counted = counts.get(key);
    if (counted === undefined) counts.set(key, { issues: [issue] });
    else counted.issues.push(issue);
  }
  return counts;
}

/** Does a record speak of this issue? It has no count: it covers every occurrence. */
export function isRecorded(issue: ParsedIssue, record: BaselineRecord): boolean {
  const pattern = record.pattern.trim();
  if (pattern === '' || record.issueType !== issue.issueType || record.source !== issue.source) return false;
  if (record.filePath !== undefined && tidyPath(record.filePath) !== issue.file) return false;
  if (issue.code === pattern || issue.message === pattern) return true;
  // `exit 1` is no part of `exit 101`.
  if (/^exit \d+$/.test(issue.message)) return false;
  const normal = normaliseMessage(pattern);
  return [issue.message, issue.detail ?? ''].some(
    (text) => text.includes(pattern) || (normal !== '' && text.includes(normal)),
  );
}

function tidyPath(path: string): string {
  return path.trim().replaceAll('\\', '/').replace(/^\.\//, '');
}
