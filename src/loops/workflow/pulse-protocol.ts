/** Judges a pulse's completion while its agent waits (docs/protocol/workflow.md, Completion). */
import type { VerificationRecord } from '../../domain/attempt.ts';
import type { DeclaredChange, Judgement } from '../../domain/judgement.ts';
import type { ProtocolRun, RunProtocol } from '../../engine/work.ts';
import { appendEvents } from '../../store/events.ts';
import type { ToolReply } from '../../tools/contract.ts';
import { createJudgedCalls } from '../shared/judged-calls.ts';
import { compareRuns } from './checks/check-issues.ts';
import { checksFor } from './checks/pulse-checks.ts';
import {
  type Check,
  type Completion,
  type Extension,
  REJECTIONS_BEFORE_HATCH,
  SUMMARY_LENGTH,
  SUMMARY_LINE,
} from './model.ts';
import { type DoneInput, pulseTools } from './pulse-tools.ts';
import type { JudgedChecks, PulseWorktree } from './pulse-worktree.ts';
import { countRejection } from './rows.ts';
import { type CallLog, createCallLog, type FailedCommand, keyOf } from './tool-calls.ts';
import type { PulseWork, WorkflowRun } from './work-data.ts';

export interface PulseProtocolOptions extends ProtocolRun<PulseWork> {
  worktree: PulseWorktree;
  answerWithinMs?: number;
}

export function createPulseProtocol(options: PulseProtocolOptions): RunProtocol & { log: CallLog } {
  const { work, answerWithinMs } = options;
  const log = createCallLog(work.calls, {
    isKnown: (failed) => isKnown(options, failed),
  });
  let completion: Completion | null = null;
  let extension: Extension | null = null;
  let checks: VerificationRecord[] | undefined;
  let rejections = work.rejections;
  let isAlone = false;
  const calls = createJudgedCalls<DoneInput>({
    signal: options.signal,
    resultTool: 'pulse_done_result',
    answerWithinMs,
    judge: (input, signal) => judgeNow(input, signal).finally(() => options.attempt.enter?.('agent')),
  });

  async function judgeNow(input: DoneInput, signal: AbortSignal): Promise<ToolReply> {
    options.attempt.enter?.('judging');
    const judged = await judgeCompletion({ ...options, signal }, { input, rejections, log });
    // What was broken off says nothing, neither yes nor no.
    signal.throwIfAborted();
    checks = judged.checks;
    if (judged.reasons.length === 0) {
      completion = judged.completion;
      extension = null;
      return { ok: true, output: 'The pulse is accepted. Do not change anything more; end your run now.' };
    }
    // A rejection that the agent never hears is not held against the pulse.
    if (isAlone) return { ok: false, output: 'The run is over.', reasons: judged.reasons };
    rejections = await recordRejection(options, judged.reasons);
    log.forgive(judged.forgiven);
    const hatch =
      rejections >= REJECTIONS_BEFORE_HATCH
        ? ' If an issue truly cannot be fixed in this pulse, call pulse_done with unresolvedIssues: [{issue, reason}]; a person will then review it before the workflow continues.'
        : '';
    return {
      ok: false,
      output: `Not accepted yet. Fix this, then call pulse_done again.${hatch}`,
      reasons: judged.reasons,
    };
  }

  const tools = pulseTools({
    done: calls.ask,
    result: calls.result,
    extend(asked) {
      extension = asked;
      return { ok: true, output: 'Noted. Stop here: the next run continues with what remains.' };
    },
  });

  return {
    tools,
    log,
    // The native agent's tools are Pulse's own: they are counted where they are called.
    saw: options.attempt.spec.agent === 'native' ? () => undefined : log.saw,
    called({ name, input, reply }) {
      const exit = /^exit (\d+)$/.exec(reply.reasons?.[0] ?? '')?.[1];
      const told = exit === undefined ? {} : { exit: Number(exit), output: String(reply.output) };
      log.ended({ name, target: targetOf(input), ok: reply.ok, ...told });
    },
    async settled({ isClean }) {
      isAlone = true;
      await calls.settle({ isClean });
    },
    report: () => ({
      ...(completion ? { accepted: { tree: completion.tree, leftOut: completion.leftOut } } : {}),
      ...(checks ? { checks } : {}),
      own: {
        completion,
        extension: completion ? null : extension,
        calls: log.calls(),
      } satisfies WorkflowRun,
    }),
  };
}

/** Durable before the agent is told. Returns how often the pulse has been refused by now. */
function recordRejection(
  { attempt, work, listener }: PulseProtocolOptions,
  reasons: readonly string[],
): Promise<number> {
  const { pulseId, plannedPulseId } = work;
  const { sessionId, iteration } = attempt;
  return listener.write('reject', async (db) => {
    const count = await countRejection(db, pulseId);
    const data = { pulseId, plannedPulseId, count, reasons };
    await appendEvents(db, sessionId, [{ type: 'pulse.rejected', iteration, data }]);
    return count;
  });
}

/** What a call was about: a file, or the exact command. */
function targetOf(input: unknown): string {
  const { path, command } = (input ?? {}) as { path?: unknown; command?: unknown };
  return String(command ?? path ?? '');
}

/**
 * A failed command that shows only what was there before is no failure. An issue that can be read is known from any command
 * that shows it; a bare `exit N` says nothing of another command's.
 */
function isKnown(
  { attempt, work: { baseline } }: PulseProtocolOptions,
  { command, exit, output }: FailedCommand,
): boolean {
  const issues = baseline
    .filter((issue) => issue.command === command || !/^exit \d+$/.test(issue.pattern))
    .map((issue) => ({ ...issue, command: issue.command && command }));
  const root = attempt.spec.worktreePath;
  const seen = { command, source: 'Build' as const, output, exit, root };
  const { findings } = compareRuns(issues, [seen]);
  return issues.length > 0 && !findings.some(({ category }) => category === 'error');
}

interface JudgedCompletion {
  reasons: string[];
  completion: Completion;
  checks: VerificationRecord[];
  /** Failed calls that have now been held against the pulse once, and will not be again. */
  forgiven: ReturnType<CallLog['failed']>;
}

async function judgeCompletion(
  { attempt, work, worktree, signal }: PulseProtocolOptions,
  { input, rejections, log }: { input: DoneInput; rejections: number; log: CallLog },
): Promise<JudgedCompletion> {
  const { unresolvedIssues = [] } = input;
  const isRevealed = rejections >= REJECTIONS_BEFORE_HATCH;
  const isWaived = unresolvedIssues.length > 0 && isRevealed;
  const reasons: string[] = [];
  if (unresolvedIssues.length > 0 && !isRevealed) {
    reasons.push('unresolvedIssues cannot be used yet: fix the issues instead.');
  }
  const staged = await worktree.stage(attempt, work);
  const message = input.summary.trim();
  const { failures, ...after } = await worktree.runHooks(attempt, { work, staged, message }, signal);
  const { work: done, message: summary } = after;
  reasons.push(...summaryReasons(message));
  if (summary !== message) reasons.push(...summaryReasons(summary).map((reason) => `${REWRITTEN} ${reason}`));
  reasons.push(...failures, ...fileReasons(input.filesChanged, done.files));

  const asked = checksFor(work.checks, done.files);
  const { results, heldOut, judgement } = await runReferee(
    { attempt, work, worktree, signal },
    { checks: asked, tree: done.tree, declared: input.checksChanged ?? [] },
  );
  const found = results.flatMap(({ newIssues }) => newIssues);
  // A check that Pulse has just run itself, and that passed, did not fail because of this pulse.
  const passed = new Set(
    results.flatMap(({ record, newIssues }) =>
      newIssues.length === 0 ? [keyOf('shell', record.command)] : [],
    ),
  );
  const failed = log.failed().filter(({ key }) => !passed.has(key));
  // What makes the checks say less is no issue that could be left for later.
  if (judgement?.verdict === 'rejected' && results.every(({ newIssues }) => newIssues.length === 0))
    reasons.push(...judgement.reasons);
  if (!isWaived) {
    reasons.push(...found);
    reasons.push(
      ...failed.map(({ key }) => `The last call of this failed and was not repeated with success: ${key}`),
    );
  }
  return {
    reasons,
    completion: {
      summary,
      filesChanged: done.files,
      unresolvedIssues: isWaived ? unresolvedIssues : [],
      tree: done.tree,
      ...(done.leftOut?.length ? { leftOut: done.leftOut } : {}),
      ...(judgement ? { judgement } : {}),
      ...(isWaived ? { leftOver: results.flatMap(({ beyond }) => beyond) } : {}),
    },
    checks: [...results.map(({ record }) => record), ...heldOut],
    forgiven: found.length === 0 ? failed.filter(({ isShell }) => isShell) : [],
  };
}

/** `null`: nothing is checked of what has changed. */
async function runReferee(
  { attempt, work, worktree, signal }: Pick<PulseProtocolOptions, 'attempt' | 'work' | 'worktree' | 'signal'>,
  { checks, ...claim }: { checks: readonly Check[]; tree: string; declared: readonly DeclaredChange[] },
): Promise<Omit<JudgedChecks, 'judgement'> & { judgement: Judgement | null }> {
  const hasHeldOut = (attempt.spec.referee?.heldOut?.length ?? 0) > 0;
  if (checks.length === 0 && !hasHeldOut) return { results: [], heldOut: [], judgement: null };
  const { baseline, changesChecks = false, isLast = false } = work;
  const baseSha = work.checksBaseSha ?? work.baseSha;
  const request = { ...claim, checks, baseline, baseSha, changesChecks, isPart: !isLast };
  return worktree.runChecks(attempt, request, signal);
}

const REWRITTEN = 'As the commit-msg hook left it:';

function summaryReasons(summary: string): string[] {
  const first = summary.trim().split('\n')[0] ?? '';
  const reasons: string[] = [];
  if (!SUMMARY_LINE.test(first)) {
    reasons.push(
      `The summary's first line is not a Conventional Commit, such as "feat(auth): validate tokens": ${JSON.stringify(first)}`,
    );
  }
  if (first.length > SUMMARY_LENGTH) {
    reasons.push(
      `The summary's first line has ${first.length} characters; at most ${SUMMARY_LENGTH} are allowed.`,
    );
  }
  return reasons;
}

function fileReasons(told: readonly string[], actual: readonly string[]): string[] {
  const named = new Set(told.map((path) => path.replace(/^\.\//, '')));
  const real = new Set(actual);
  const missing = actual.filter((path) => !named.has(path));
  const extra = [...named].filter((path) => !real.has(path));
  if (missing.length === 0 && extra.length === 0) return [];
  const parts = [
    ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
    ...(extra.length > 0 ? [`not changed: ${extra.join(', ')}`] : []),
  ];
  return [`filesChanged is not what git says. ${parts.join('; ')}`];
}
