/** A workflow's checks, compared with what they showed before the first pulse. */

import type { VerificationRecord } from '../../../domain/attempt.ts';
import { PulseError } from '../../../domain/errors.ts';
import type { HeldAttempt } from '../../../engine/ports.ts';
import { checkEnvironment, type JudgingMeans } from '../../../engine/workspace/staged-work.ts';
import { globMatcher } from '../../../files/glob.ts';
import { runChecks } from '../../../project/run-checks.ts';
import type { CommandOutput } from '../../../referee/output/parse.ts';
import { renderNewIssues } from '../../../referee/output/report.ts';
import type { BaselineIssue, Check } from '../model.ts';
import type { CheckResult, JudgedChecks, PulseClaim } from '../pulse-worktree.ts';
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

/** Every check runs in the clean room, on the very tree that would be committed. */
export async function runPulseChecks(
  { referee }: JudgingMeans,
  attempt: HeldAttempt,
  { signal, ...claim }: PulseClaim & { signal: AbortSignal },
): Promise<JudgedChecks> {
  const { checks, baseline, tree, baseSha, declared, changesChecks, isPart } = claim;
  const seen = new Map<string, CommandOutput[]>();
  const sources = new Map(checks.map(({ command, source }) => [command, source]));
  const examined = await referee.examine(
    attempt,
    {
      tree,
      commit: null,
      declared,
      changesChecks,
      isPart,
      baseSha,
      commands: checks.map(({ command }) => command),
      passes(output) {
        const own = { ...output, source: sources.get(output.command) ?? output.source };
        seen.set(output.command, [...(seen.get(output.command) ?? []), own]);
        return compareRuns(baseline, [own]).passes;
      },
    },
    signal,
  );
  const replayed = examined.needsReplay ? await referee.replay(attempt, examined, signal) : examined;
  const judged = await referee.review(attempt, replayed, signal);
  const failed = new Set(examined.failed);
  const results = examined.records.map((record): CheckResult => {
    if (!failed.has(record.command)) return { record, newIssues: [], beyond: [] };
    const [first, ...more] = seen.get(record.command) ?? [];
    if (!first) return { record, newIssues: [`${record.command}:\n${record.outputTail}`], beyond: [] };
    const comparison = compareRuns(baseline, [first, ...more]);
    const newIssues = [renderNewIssues(comparison, { maxLines: NEW_ISSUE_LINES })];
    return { record, newIssues, beyond: beyondOf(comparison) };
  });
  return { results, heldOut: judged.heldOut ?? [], judgement: judged.judgement };
}

/** A failing check is asked again: what shows only once is flaky, and no pulse is blamed for it. */
export async function readKnownIssues(
  means: JudgingMeans,
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
  means: JudgingMeans,
  attempt: HeldAttempt,
  { command, source, tree, name, signal }: OneCheck,
): Promise<{ record: VerificationRecord; seen: CommandOutput }> {
  const { environment, redactor, sandboxes } = means;
  const root = attempt.spec.worktreePath;
  let output = '';
  const [record] = await runChecks({
    commands: [command],
    cwd: root,
    env: checkEnvironment(means, attempt),
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
