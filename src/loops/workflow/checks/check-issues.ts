/** Compares what a check showed with the baseline (docs/protocol/workflow.md, Baseline). */

import {
  type BaselineEntry,
  type BaselineRecord,
  type CommandBaseline,
  createBaseline,
} from '../../../referee/output/baseline.ts';
import { type Comparison, compareWithBaseline } from '../../../referee/output/compare.ts';
import { type CommandOutput, type ParsedOutput, parseOutput } from '../../../referee/output/parse.ts';
import type { BaselineIssue } from '../model.ts';

type Runs = readonly [CommandOutput, ...CommandOutput[]];

/** The issues of one command, of one run or of several of the same tree. */
export function baselineOf(runs: Runs): BaselineIssue[] {
  const { command, entries } = createBaseline(parsed(runs));
  return entries.map(({ file, code, message, issueType, source, count, isFlaky }) => ({
    command,
    issueType,
    source,
    pattern: code ?? message,
    filePath: file,
    description: message,
    count,
    category: isFlaky ? 'flaky' : issueType === 'Error' ? 'error' : 'warning',
  }));
}

export function compareRuns(issues: readonly BaselineIssue[], runs: Runs): Comparison {
  const [{ command, source }] = runs;
  const baseline: CommandBaseline = {
    command,
    source,
    exit: null,
    entries: issues.filter((issue) => issue.command === command).map(entryOf),
    tests: null,
    ranNoTest: false,
  };
  const records = issues.filter((issue) => issue.command === null).map(recordOf);
  return compareWithBaseline({ baseline, records, runs: parsed(runs) });
}

/** What a comparison found new, as the baseline would hold it. */
export function beyondOf({ command, findings }: Comparison): BaselineIssue[] {
  return findings.flatMap(({ category, issue: { issueType, source, code, message, file }, count }) =>
    category === 'error' || category === 'warning'
      ? [
          {
            command,
            issueType,
            source,
            pattern: code ?? message,
            filePath: file,
            description: message,
            count,
            category,
          },
        ]
      : [],
  );
}

function parsed([first, ...more]: Runs): [ParsedOutput, ...ParsedOutput[]] {
  return [parseOutput(first), ...more.map(parseOutput)];
}

function entryOf({
  issueType,
  source,
  pattern,
  filePath,
  description,
  count,
  category,
}: BaselineIssue): BaselineEntry {
  const message = description ?? pattern;
  return {
    file: filePath,
    code: pattern === message ? null : pattern,
    message,
    issueType,
    source,
    count,
    ...(category === 'flaky' ? { isFlaky: true as const } : {}),
  };
}

function recordOf({ issueType, source, pattern, filePath, description }: BaselineIssue): BaselineRecord {
  return {
    issueType,
    source,
    pattern,
    ...(filePath === null ? {} : { filePath }),
    ...(description === null ? {} : { description }),
  };
}
