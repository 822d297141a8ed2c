/** A workflow's checks, compared with what they showed before the first pulse. */

import type { VerificationRecord } from '../../../domain/attempt.ts';
import { PulseError } from '../../../domain/errors.ts';
import type { HeldAttempt } from '../../../engine/ports.ts';
import { globMatcher } from '../../../files/glob.ts';
import { runChecks } from '../../../project/run-checks.ts';
import { isInDoubt } from '../../../referee/output/compare.ts';
import type { CommandOutput } from '../../../referee/output/parse.ts';
import { renderNewIssues } from '../../../referee/output/report.ts';
import type { BaselineIssue, Check } from '../model.ts';
import type { CheckResult } from '../pulse-worktree.ts';
import { type PulseMeans, pulseEnvironment } from '../staged-work.ts';
import { baselineOf, beyondOf, compareRuns } from './check-issues.ts';

const CHECK_TIMEOUT_MS = 30 * 60 * 1000;
const NEW_ISSUE_LINES = 40;

/** Asked only when a changed file matches the check's scope, hidden or not, or when it has none. */
export function checksFor(checks: readonly Check[], files: readonly string[]): Check[] {
  return checks.filter(({ scope }) => {
    const patterns = scope === undefined ? [] : [scope].flat();
    return patterns.length === 0 || files.some(globMatcher(patterns));
  });
}

export interface CheckRequest {
  checks: readonly Check[];
  tree: string;
  baseline: readonly BaselineIssue[];
  signal: AbortSignal;
}

export async function runPulseChecks(
  means: PulseMeans,
  attempt: HeldAttempt,
  { checks, tree, baseline, signal }: CheckRequest,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { command, source } of checks) {
    attempt.enter?.('judging', command);
    const ask = () => runCheck(means, attempt, { command, source, tree, name: 'verify', signal });
    const first = await ask();
    let comparison = compareRuns(baseline, [first.seen]);
    // A test that fails only once is no reason to refuse.
    if (isInDoubt(comparison)) comparison = compareRuns(baseline, [first.seen, (await ask()).seen]);
    const newIssues = comparison.passes ? [] : [renderNewIssues(comparison, { maxLines: NEW_ISSUE_LINES })];
    results.push({ record: first.record, newIssues, beyond: beyondOf(comparison) });
  }
  return results;
}

/** A failing check is asked again: what shows only once is flaky, and no pulse is blamed for it. */
export async function readKnownIssues(
  means: PulseMeans,
  attempt: HeldAttempt,
  { command, source, signal }: Check & { signal: AbortSignal },
): Promise<BaselineIssue[]> {
  const ask = () => runCheck(means, attempt, { command, source, tree: '', name: 'baseline', signal });
  const first = await ask();
  if (first.record.passed) return baselineOf([first.seen]);
  return baselineOf([first.seen, (await ask()).seen]);
}

interface OneCheck {
  command: string;
  source: Check['source'];
  tree: string;
  name: string;
  signal: AbortSignal;
}

async function runCheck(
  means: PulseMeans,
  attempt: HeldAttempt,
  { command, source, tree, name, signal }: OneCheck,
): Promise<{ record: VerificationRecord; seen: CommandOutput }> {
  const { environment, redactor, sandboxes } = means;
  const root = attempt.spec.worktreePath;
  let output = '';
  const [record] = await runChecks({
    commands: [command],
    cwd: root,
    env: pulseEnvironment(means, attempt),
    sandbox: await sandboxes.plan({ spec: attempt.spec }),
    base: environment,
    tree,
    commit: null,
    runId: `${attempt.runId}.${name}`,
    timeoutMs: CHECK_TIMEOUT_MS,
    signal,
    redactor,
    until: 'all',
    onOutput: (text) => {
      output = redactor.redact(text);
    },
  });
  // Told to stop before it could begin.
  if (!record) throw new PulseError('fenced', `${command} was not run: the attempt is over.`);
  return { record, seen: { command, source, output, exit: record.exit, root } };
}
