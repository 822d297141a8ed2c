/** One attempt, executed whole by one daemon: worktree, agent, commit, verification, report. */
import type { AttemptResult, AttemptSpec, RunReport, VerificationRecord } from '../../domain/attempt.ts';
import { isPulseError } from '../../domain/errors.ts';
import { DEFAULT_REFEREE } from '../../domain/judgement.ts';
import { signalOfRun } from '../../domain/signals.ts';
import { appendEvents } from '../../store/events.ts';
import { holdsTask, saveResult } from '../../store/inbox.ts';
import { addRunningTime } from '../../store/sessions.ts';
import { act } from '../actions.ts';
import type { Engine } from '../engine.ts';
import type { ExaminedClaim, HeldAttempt, UnitCommit } from '../ports.ts';
import type { AttemptCourse, AttemptEnd } from '../work.ts';
import { createAgentLog } from './agent-log.ts';
import { filesOmitted, recordNotices } from './notices.ts';
import { nudgeIfSilent, unitOfNudged } from './nudge.ts';
import { unitMessage } from './unit-message.ts';
import { verifiedEvent } from './verified-event.ts';

/**
 * Returns once the result is stored, or once the attempt was interrupted (`signal`): then nothing of it runs any
 * more and its leftovers are kept. Throws `fenced` when somebody else owns the attempt.
 */
export async function executeAttempt(
  engine: Engine,
  attempt: HeldAttempt,
  control: AbortController,
): Promise<AttemptEnd> {
  const { trace, workspace, loops } = engine;
  const isRun = attempt.task.result !== null;
  const notices = await act(trace, 'prepare_worktree', {
    perform: () => workspace.prepare(attempt, { keepWork: isRun }),
  });
  await recordNotices(engine, attempt, notices);
  const { kind } = loops.works.of(attempt.spec);
  const course = openCourse(engine, attempt, control);
  return (await kind.execute?.(course)) ?? executeOrdinary(course, control);
}

/** The steps of an attempt, each of which may be done again after a crash. */
function openCourse(engine: Engine, attempt: HeldAttempt, control: AbortController): AttemptCourse {
  const { trace, workspace, loops } = engine;
  const { signal } = control;
  return {
    engine,
    attempt,
    work: loops.works.of(attempt.spec).work,
    signal,
    recorded: attempt.task.result,
    setUp: (options = {}) =>
      act(trace, 'setup', {
        perform: () => workspace.setup(attempt, options.signal ?? signal, options.onCommand),
      }),
    runAgent: () => runAgent(engine, attempt, control),
    emptyResult: (setupFailure) => emptyResult(engine, { setupFailure }),
    async report(result) {
      await report(engine, attempt, { ...result, stage: 'reported' });
      return 'reported';
    },
  };
}

/** Set up, run, commit, ask for the signal, examine, verify, report. */
async function executeOrdinary(course: AttemptCourse, control: AbortController): Promise<AttemptEnd> {
  const { engine, attempt, signal } = course;
  const { kind } = engine.loops.works.of(attempt.spec);
  let result = course.recorded;
  if (!result) {
    const setUpFailure = await course.setUp();
    const base = setUpFailure ? NO_BASE : await readBaseFirst(course);
    const failure = setUpFailure ?? base.failure;
    // The checks of the base may take longer than the agent: none of them runs on when the attempt is over.
    const isOver = failure !== null || signal.aborted;
    const run = isOver ? null : await course.runAgent().finally(() => base.rest?.catch(() => undefined));
    const setupFailure = failure ?? (await base.rest);
    if (signal.aborted) {
      await recordNotices(engine, attempt, await engine.workspace.saveLeftovers(attempt));
      return 'interrupted';
    }
    result = { ...(run ?? course.emptyResult(setupFailure)), setupFailure };
  }
  if (kind.keepsNothing) return course.report(result);
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
  const examined =
    kept?.commit && kind.examine ? await kind.examine(course, { unit: kept, run: result.run }) : {};
  if (examined === null) return 'interrupted';
  const judged = kept ? await judgeIfAsked(engine, attempt, { result, unit: kept, signal }) : NOT_JUDGED;
  if (signal.aborted) return 'interrupted';
  return course.report({
    ...result,
    ...examined,
    commit: kept?.commit ?? null,
    tree: kept?.tree ?? null,
    files: kept?.files ?? [],
    ...(kept?.leftOut?.length ? { leftOut: kept.leftOut } : {}),
    ...judged,
  });
}

/** `null` when it was asked to stop meanwhile: then that is what it threw. */
export async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | null> {
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
): Promise<AttemptResult> {
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
          // An interrupted run is done again: its spending counts, its result does not.
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
function keepsWork({ loops }: Engine, { spec }: HeldAttempt, { run }: AttemptResult): boolean {
  if (!run) return false;
  // What was accepted stays accepted, however the agent ended after that.
  if (!run.failure || run.accepted) return true;
  const { class: failure } = run.failure;
  if (failure === 'context_overflow') return loops.works.of(spec).kind.continuesAfterOverflow ?? false;
  return failure === 'timeout_idle' || failure === 'timeout_hard';
}

/** An agent that destroyed its worktree has left nothing that could be kept as its work: it is done again. */
async function orCrashed(
  engine: Engine,
  attempt: HeldAttempt,
  result: AttemptResult,
): Promise<AttemptResult> {
  const { run } = result;
  // What was accepted has a tree of its own.
  const isAtStake = run && !run.accepted && keepsWork(engine, attempt, result);
  const fault = isAtStake ? await engine.workspace.faultOf(attempt) : null;
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
  const { trace, workspace, loops } = engine;
  if (!keepsWork(engine, attempt, result)) return null;
  const message = unitMessage(loops.works, attempt, result);
  const unit = await act(trace, 'commit', {
    // Only an attempt whose run was recorded by an earlier claim can have its commit already.
    recognise: async () => (attempt.task.result ? workspace.findCommit(attempt) : null),
    perform: () => workspace.commit(attempt, { ...message, accepted: result.run?.accepted ?? null }),
  });
  await recordNotices(engine, attempt, unit.notices ?? []);
  const { commit } = unit;
  if (commit) await act(trace, 'publish', { perform: () => workspace.publish(attempt, commit) });
  return unit;
}

interface BaseFirst {
  failure: VerificationRecord | null;
  /** Where the agent did not wait for all of it. */
  rest: Promise<VerificationRecord | null> | null;
}

const NO_BASE: BaseFirst = { failure: null, rest: null };

/** What the checks say before anything is changed. The agent waits for it, but not for ever. */
async function readBaseFirst({ engine, attempt, work, signal }: AttemptCourse): Promise<BaseFirst> {
  const { trace, referee, clock, loops } = engine;
  const { spec, iteration, task } = attempt;
  const own = loops.works.of(spec).kind.baseChecks?.(work);
  if (!isJudged(spec) && !own?.commands.length) return NO_BASE;
  // Later, an agent has been there: then nobody knows what of it setup has made.
  const isUntouched = iteration === 1 && task.token === 1;
  const source = isUntouched ? spec.worktreePath : null;
  const reading = act(trace, 'read_base', {
    perform: () => referee.readBase(attempt, { source, ...own, signal }),
  });
  const isWaiting = new AbortController();
  const waited = clock
    .sleep(spec.referee?.baseWaitMs ?? DEFAULT_REFEREE.baseWaitMs!, isWaiting.signal)
    .then(() => 'waited' as const);
  const first = await Promise.race([reading, waited]);
  if (first !== 'waited') {
    isWaiting.abort();
    return { failure: first, rest: null };
  }
  // Awaited after the agent's run; until then nobody listens.
  reading.catch(() => undefined);
  return { failure: null, rest: reading };
}

function isJudged({ verify, verifyOn, referee }: AttemptSpec): boolean {
  return verify.length + (referee?.heldOut?.length ?? 0) > 0 && verifyOn !== 'never';
}

function judgedAs({ records, heldOut = [], judgement }: ExaminedClaim): Judged {
  return { verification: [...records, ...heldOut], judgement };
}

type Judged = Pick<AttemptResult, 'verification' | 'judgement'>;
const NOT_JUDGED: Judged = { verification: [] };

async function judgeIfAsked(
  { trace, referee }: Engine,
  attempt: HeldAttempt,
  { result, unit, signal }: { result: AttemptResult; unit: UnitCommit; signal: AbortSignal },
): Promise<Judged> {
  const { run } = result;
  const { spec } = attempt;
  if (run?.checks) return { verification: run.checks };
  if (!isJudged(spec) || !run || run.failure || run.stopped) return NOT_JUDGED;
  const said = signalOfRun(run);
  if (spec.verifyOn === 'complete' && said.signal !== 'COMPLETE') return NOT_JUDGED;
  const claim = { tree: unit.tree, commit: unit.commit ?? spec.startSha, declared: said.checksChanged };
  const examined = await act(trace, 'verify', { perform: () => referee.examine(attempt, claim, signal) });
  if (signal.aborted) return judgedAs(examined);
  const judged = examined.needsReplay
    ? await act(trace, 'replay', { perform: () => referee.replay(attempt, examined, signal) })
    : examined;
  if (signal.aborted || !spec.referee?.review) return judgedAs(judged);
  return judgedAs(
    await act(trace, 'second_opinion', { perform: () => referee.review(attempt, judged, signal) }),
  );
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
            // Checks that were run to judge the run are told by the loop's own events.
            const checked = verification.length > 0 && !result.run?.checks;
            await appendEvents(db, attempt.sessionId, [
              ...filesOmitted(leftOut, null).map((event) => ({ ...event, iteration: attempt.iteration })),
              ...(checked ? [verifiedEvent(attempt, result)] : []),
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

function emptyResult(
  { owner }: Engine,
  { setupFailure }: Pick<AttemptResult, 'setupFailure'>,
): AttemptResult {
  const nothing = { run: null, commit: null, tree: null, files: [], verification: [] };
  return { stage: 'ran', ranBy: owner, setupFailure, ...nothing };
}
