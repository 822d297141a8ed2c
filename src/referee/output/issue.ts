/** One form for the issues of all verification tools (docs/protocol/workflow.md, Baseline). */

export type IssueType = 'Error' | 'Warning';

import type { IssueSource } from '../../project/issue-source.ts';

export type { IssueSource };

export interface ParsedIssue {
  issueType: IssueType;
  source: IssueSource;
  /** Relative to the worktree with forward slashes; absolute where it lies outside. */
  file: string | null;
  code: string | null;
  /** Normalised: the same issue has the same message in the next run. A failing test's message is its name. */
  message: string;
  /** Not part of the fingerprint, for it moves with every edit above it. */
  line?: number;
  column?: number;
  /** What a reader wants to see beside the message; not part of the fingerprint. */
  detail?: string;
}

/** Two issues with the same fingerprint are one issue seen twice: where it stands in its file does not matter. */
export function fingerprint(issue: Pick<ParsedIssue, 'file' | 'code' | 'message'>): string {
  return JSON.stringify([issue.file, issue.code, issue.message]);
}

/** A run that failed, and nobody could read why: all that is known is how it ended. */
export function isUnread({ code, message }: Pick<ParsedIssue, 'code' | 'message'>): boolean {
  return code === null && /^(?:exit \d+|did not end)/.test(message);
}
