/** One attempt, executed whole by one daemon (contract 1.4): worktree, agent, commit, verification, report. */
import type { AttemptResult, RunReport, VerificationRecord } from '../domain/attempt.ts';
import { isPulseError } from '../domain/errors.ts';
import { signalOfRun } from '../domain/signals.ts';
import { tellingLines } from '../domain/telling-lines.ts';
import { appendEvents } from '../store/events.ts';
import { holdsTask, saveResult } from '../store/inbox.ts';
import { isOvertaken } from '../store/research.ts';
import { addRunningTime } from '../store/sessions.ts';
import { act } from './actions.ts';
import { createAgentLog } from './agent-log.ts';
import type { Engine } from './engine.ts';
import { type MeasureReport, measureRequestSchema, NOTHING_MEASURED } from './measure.ts';
import { filesOmitted, tellNotices } from './notices.ts';
import { nudgeIfSilent, unitOfNudged } from './nudge.ts';
import type { HeldAttempt, UnitCommit } from './ports.ts';
import { preflightProgress } from './preflight-progress.ts';
import { tooLong, withAgents } from './preflight-report.ts';
import { triedBefore } from './tried-idea.ts';
import { messageOf } from './unit-message.ts';

/**
 * Returns once the result is stored, or once the attempt was interrupted (`signal`): then nothing of it runs any
 * more and its leftovers are kept. Throws `fenced` when somebody else owns the attempt.
 */
export async function executeAttempt(
  engine: Engine,
  attempt: HeldAttempt,
  control: AbortController,
): Promise<'reported' | 'interrupted'> {
  const { trace, workspace } = engine;
  const { signal } = control;
  const { spec } = attempt;
  const isRun = attempt.task.result !== null;
  const notices = await act(trace, 'prepare_worktree', {
    perform: () => workspace.prepare(attempt, { keepWork: isRun }),
  });
  await tellNotices(engine, attempt, notices);

  let result = attempt.task.result;
  if (spec.work?.kind === 'preflight') return executePreflight(engine, attempt, control);
  if (spec.work?.kind === 'experiment' && spec.work.outdated !== null)
    return executeOutdated(engine, attempt, { change: spec.work.outdated, signal });
  if (!result) {
    const setupFailure = await act(trace, 'setup', { perform: () => workspace.setup(attempt, signal) });
    if (!setupFailure && spec.work?.kind === 'baseline') return reportBaseline(engine, attempt, signal);
    const run = setupFailure ? null : await runAgent(engine, attempt, control);
    if (signal.aborted) {
      await tellNotices(engine, attempt, await workspace.saveLeftovers(attempt));
      return 'interrupted';
    }
    result = run ?? emptyResult(engine, { setupFailure });
  }
  if (spec.work?.kind === 'plan') {
    await report(engine, attempt, { ...result, stage: 'reported' });
    return 'reported';
  }
  result = await orCrashed(engine, attempt, result);
  let kept: UnitCommit | null = null;
  try {
    kept = unitOfNudged(result) ?? (await keepWork(engine, attempt, result));
  } catch (error) {
    // A filter that hangs, for instance: it may be of the agent's making, and another try may go well.
    if (signal.aborted || !result.run || !isPulseError(error, 'git_stopped')) throw error;
    result = crashed(result, result.run, error.message);
  }
  if (kept) result = await nudgeIfSilent(engine, attempt, { result, unit: kept, control });
  if (signal.aborted) return 'interrupted';
  const { commit, tree = null } = kept ?? {};
  const measured =
    commit && spec.work?.kind === 'experiment'
      ? await unlessAborted(signal, () => measure(engine, { attempt, commit, tree, run: result.run, signal }))
      : undefined;
  if (measured === null) return 'interrupted';
  const verification = kept ? await verifyIfAsked(engine, attempt, { result, unit: kept, signal }) : [];
  if (signal.aborted) return 'interrupted';
  await report(engine, attempt, {
    ...result,
    stage: 'reported',
    commit: commit ?? null,
    tree,
    files: kept?.files ?? [],
    ...(kept?.leftOut?.length ? { leftOut: kept.leftOut } : {}),
    verification,
    ...(measured ? { measured } : {}),
  });
  return 'reported';
}

/** By an agent or by Pulse itself; it makes no commit: what it found is its result. */
async function executePreflight(
  engine: Engine,
  attempt: HeldAttempt,
  control: AbortController,
): Promise<'reported' | 'interrupted'> {
  const { trace, pulses, workspace } = engine;
  const { signal } = control;
  const { work } = attempt.spec;
  const limitMs = work?.kind === 'preflight' ? work.limitMs : 0;
  // Of all of it: setup, an agent (which has it as its own limit too) and the checks.
  const limit = AbortSignal.timeout(limitMs);
  const limited = AbortSignal.any([signal, limit]);
  const progress = preflightProgress(engine, attempt);
  let result = attempt.task.result;
  if (!result) {
    const setupFailure = await act(trace, 'setup', {
      perform: () => workspace.setup(attempt, limited, progress('setup')),
    });
    const isByAgent = work?.kind === 'preflight' && work.isByAgent && !setupFailure;
    const run = isByAgent ? await runAgent(engine, attempt, control) : null;
    if (signal.aborted) return 'interrupted';
    result = run ?? emptyResult(engine, { setupFailure });
  }
  const isReady = !result.setupFailure && !result.run?.failure;
  const found = isReady
    ? await act(trace, 'baseline', { perform: () => pulses.baseline(attempt, limited, progress('check')) })
    : null;
  if (signal.aborted) return 'interrupted';
  await report(engine, attempt, {
    ...result,
    stage: 'reported',
    preflight: found && withAgents(limit.aborted ? { ...found, error: tooLong(limitMs) } : found, result.run),
  });
  return 'reported';
}

/** The metric as it is: no agent, no commit. */
async function reportBaseline(
  engine: Engine,
  attempt: HeldAttempt,
  signal: AbortSignal,
): Promise<'reported' | 'interrupted'> {
  const { trace, measurer } = engine;
  const measured = await unlessAborted(signal, () =>
    act(trace, 'measure', { perform: () => measurer.baseline(attempt, signal) }),
  );
  if (measured === null) return 'interrupted';
  await report(engine, attempt, {
    ...emptyResult(engine, { setupFailure: null }),
    stage: 'reported',
    measured: { ...measured, host: engine.host },
  });
  return 'reported';
}

/** An experiment's change, put on top of what was kept meanwhile, and measured there. */
async function executeOutdated(
  engine: Engine,
  attempt: HeldAttempt,
  { change, signal }: { change: string; signal: AbortSignal },
): Promise<'reported' | 'interrupted'> {
  const { trace, workspace } = engine;
  const setupFailure = await act(trace, 'setup', { perform: () => workspace.setup(attempt, signal) });
  if (signal.aborted) return 'interrupted';
  const result = emptyResult(engine, { setupFailure });
  const unit = setupFailure
    ? null
    : await act(trace, 'commit', { perform: () => workspace.commitAgain(attempt, change) });
  const { commit = null, tree = null, files = [] } = unit ?? {};
  if (commit) await act(trace, 'publish', { perform: () => workspace.publish(attempt, commit) });
  const measured = commit
    ? await unlessAborted(signal, () => measure(engine, { attempt, commit, tree, run: null, signal }))
    : { ...NOTHING_MEASURED, isInConflict: unit === null };
  if (measured === null) return 'interrupted';
  await report(engine, attempt, { ...result, stage: 'reported', commit, tree, files, measured });
  return 'reported';
}

async function measure(
  engine: Engine,
  {
    attempt,
    commit,
    tree,
    run,
    signal,
  }: {
    attempt: HeldAttempt;
    commit: string;
    tree: string | null;
    run: RunReport | null;
    signal: AbortSignal;
  },
): Promise<MeasureReport> {
  const { trace, measurer, store } = engine;
  const tried = await triedBefore(store, attempt, { run, tree });
  if (tried) return tried;
  return act(trace, 'measure', {
    perform: () =>
      measurer.experiment(attempt, { commit, isOutdated: () => isOutdated(engine, attempt) }, signal),
  });
}

/** Something else was kept since the attempt began, or the best was read on a host that is not this one. */
async function isOutdated({ store, host }: Engine, { spec: { work } }: HeldAttempt): Promise<boolean> {
  if (work?.kind !== 'experiment') return false;
  const { host: readOn } = measureRequestSchema.parse(work.request);
  if (readOn !== null && readOn !== host) return true;
  const { leadId, baseSha } = work;
  return leadId !== null && (await store.read((db) => isOvertaken(db, leadId, baseSha)));
}

/** `null` when it was told to stop meanwhile: then whatever it threw was that. */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | null> {
  try {
    const result = await work();
    return signal.aborted ? null : result;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

/** Runs the agent and makes its end durable: from here on a crash redoes only what follows, never the agent. */
async function runAgent(
  engine: Engine,
  attempt: HeldAttempt,
  control: AbortController,
): Promise<AttemptResult | null> {
  const { store, clock, bell, trace, agents } = engine;
  attempt.enter?.('agent');
  using log = createAgentLog({
    store,
    clock,
    task: attempt.task,
    onWritten: () => bell.ring(attempt.sessionId),
    onFenced: (error) => control.abort(error),
  });
  const run = await act(trace, 'run_agent', { perform: () => agents.run(attempt, log, control.signal) });
  await log.close();
  const isInterrupted = control.signal.aborted;
  return act(trace, 'record_run', {
    perform: async () => {
      const result = { ...emptyResult(engine, { setupFailure: null }), run };
      await store.tx(
        'record_run',
        async (db) => {
          if (isInterrupted) await addRunningTime(db, attempt.sessionId, run.durationMs);
          // An interrupted run is done again: its spending counts, whoever owns the attempt by now; its result does not.
          if (isInterrupted && !(await holdsTask(db, attempt.task)))
            return log.finish(db, { onlySpending: true });
          if (!isInterrupted) await saveResult(db, attempt.task, result);
          await log.finish(db);
          await appendEvents(db, attempt.sessionId, [runEnded(attempt, run, isInterrupted)]);
        },
        { session: attempt.sessionId },
      );
      return result;
    },
  });
}

function runEnded(attempt: HeldAttempt, run: RunReport, isInterrupted: boolean) {
  return {
    type: 'iteration.ended' as const,
    iteration: attempt.iteration,
    data: {
      attempt: attempt.task.attempt,
      ok: run.failure === null && !isInterrupted,
      failureClass: isInterrupted ? 'cancelled' : (run.failure?.class ?? null),
      message: run.failure?.message ?? null,
      stopped: run.stopped,
      durationMs: Math.round(run.durationMs),
      usage: run.usage,
    },
  };
}

/** An attempt that ended keeps its work, a timeout too; one that will be retried starts over. */
function keepsWork({ run }: AttemptResult): boolean {
  if (!run) return false;
  // What was accepted stays accepted, however the agent ended after that.
  if (!run.failure || run.completion) return true;
  return run.failure.class === 'timeout_idle' || run.failure.class === 'timeout_hard';
}

/** An agent that destroyed its worktree has left nothing that could be kept as its work: it is done again. */
async function orCrashed(
  { workspace }: Engine,
  attempt: HeldAttempt,
  result: AttemptResult,
): Promise<AttemptResult> {
  const { run } = result;
  // What was accepted has a tree of its own.
  const isAtStake = run && !run.completion && keepsWork(result);
  const fault = isAtStake ? await workspace.faultOf(attempt) : null;
  if (!run || fault === null) return result;
  const message = `The agent broke its own checkout: ${fault}.`;
  return crashed(result, run, message);
}

function crashed(result: AttemptResult, run: RunReport, message: string): AttemptResult {
  return { ...result, run: { ...run, failure: { class: 'crashed', message, resetAt: null } } };
}

async function keepWork(
  engine: Engine,
  attempt: HeldAttempt,
  result: AttemptResult,
): Promise<UnitCommit | null> {
  const { trace, workspace } = engine;
  if (!keepsWork(result)) return null;
  const message = messageOf(attempt, result);
  const unit = await act(trace, 'commit', {
    // Only an attempt whose run was recorded by an earlier claim can have its commit already.
    recognise: async () => (attempt.task.result ? workspace.findCommit(attempt) : null),
    perform: () => workspace.commit(attempt, { ...message, completion: result.run?.completion ?? null }),
  });
  await tellNotices(engine, attempt, unit.notices ?? []);
  const { commit } = unit;
  if (commit) await act(trace, 'publish', { perform: () => workspace.publish(attempt, commit) });
  return unit;
}

async function verifyIfAsked(
  { trace, workspace }: Engine,
  attempt: HeldAttempt,
  { result, unit, signal }: { result: AttemptResult; unit: UnitCommit; signal: AbortSignal },
): Promise<VerificationRecord[]> {
  const { verify, verifyOn } = attempt.spec;
  const { run } = result;
  if (run?.checks) return run.checks;
  if (verify.length === 0 || verifyOn === 'never' || !run || run.failure || run.stopped) return [];
  if (verifyOn === 'complete') {
    if (signalOfRun(run).signal !== 'COMPLETE') return [];
  }
  return act(trace, 'verify', { perform: () => workspace.verify(attempt, unit, signal) });
}

async function report({ store, trace, workspace }: Engine, attempt: HeldAttempt, result: AttemptResult) {
  try {
    await act(trace, 'report', {
      perform: () =>
        store.tx(
          'report',
          async (db) => {
            await saveResult(db, attempt.task, result);
            const { verification, leftOut = [] } = result;
            const checked = verification.length > 0 && !isJudged(attempt);
            await appendEvents(db, attempt.sessionId, [
              ...filesOmitted(leftOut, null).map((event) => ({ ...event, iteration: attempt.iteration })),
              ...(checked ? [verified(attempt, verification)] : []),
            ]);
          },
          { session: attempt.sessionId },
        ),
    });
  } catch (error) {
    if (isPulseError(error, 'fenced') && result.commit) await workspace.unpublish(attempt, result.commit);
    throw error;
  }
}

/** A pulse's checks are judged against the baseline: what came of that is told by the pulse's own events. */
function isJudged({ spec }: HeldAttempt): boolean {
  return spec.work?.kind === 'pulse';
}

/** Of a failing check; all of it is in its record. */
const LINES_TOLD = 8;

function verified(attempt: HeldAttempt, records: readonly VerificationRecord[]) {
  return {
    type: 'iteration.verified' as const,
    iteration: attempt.iteration,
    data: {
      passed: records.every((record) => record.passed),
      commands: records.map(({ command, exit, passed, durationMs, tree, outputTail }) => ({
        command,
        exit,
        passed,
        durationMs: Math.round(durationMs),
        tree,
        ...(passed ? {} : { output: tellingLines(outputTail, LINES_TOLD) }),
      })),
    },
  };
}

function emptyResult(
  { owner }: Engine,
  { setupFailure }: Pick<AttemptResult, 'setupFailure'>,
): AttemptResult {
  const nothing = { run: null, commit: null, tree: null, files: [], verification: [] };
  return { stage: 'ran', ranBy: owner, setupFailure, ...nothing };
}
