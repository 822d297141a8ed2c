import type { AttemptSpec } from '../../domain/attempt.ts';
import { asPulseError, isPulseError } from '../../domain/errors.ts';
import { giveBackTask, renewTask, type Task } from '../../store/inbox.ts';
import type { Engine } from '../engine.ts';
import type { HeldAttempt } from '../ports.ts';
import { executeAttempt } from './attempt.ts';
import { keepLease } from './heartbeat.ts';
import { forgetHeld } from './held-here.ts';
import { createPhaseRecorder } from './phase-recorder.ts';

export interface Holding {
  task: Task;
  /** As the holder sees it: where its own clone and worktree are. */
  spec: AttemptSpec;
  control: AbortController;
}

/** Executes a claimed attempt under its lease, and gives the lease back if there is no result. */
export async function holdAttempt(engine: Engine, { task, spec, control }: Holding): Promise<void> {
  const { store, clock, timing } = engine;
  await using phases = createPhaseRecorder(engine, task);
  const attempt: HeldAttempt = {
    task,
    spec,
    sessionId: task.session_id,
    iteration: task.iteration_number,
    runId: runIdOf(task.id, task.token),
    enter: phases.enter,
    signal: control.signal,
  };
  const over = new AbortController();
  const beating = keepLease({
    clock,
    timing,
    over: over.signal,
    renew: () => store.tx('heartbeat', (db) => renewTask(db, task, timing.leaseMs), { isLease: true }),
    // Without labels nobody else takes the attempt while this process lives.
    ...(task.labels.length > 0 ? { absenceMs: timing.absenceMs } : {}),
    onLost: () => control.abort('fenced'),
  });
  let isReported = false;
  try {
    isReported = (await executeAttempt(engine, attempt, control)) === 'reported';
  } catch (error) {
    // Fenced: the attempt belongs to another process now, and this one has given up what it held.
    // Told to stop: so was the git that it waited for.
    const isStopped = control.signal.aborted && isPulseError(error, 'git_stopped');
    if (!isStopped && !isPulseError(error, 'fenced')) throw asPulseError(error);
  } finally {
    over.abort();
    await beating;
    try {
      if (!isReported)
        await store.tx('give_back', (db) => giveBackTask(db, task), { session: task.session_id });
    } finally {
      forgetHeld(engine, task);
    }
  }
}

/** New for every claim, so that a successor can find and end what an earlier claim of the attempt left running. */
export function runIdOf(taskId: string, token: number): string {
  return `${taskId}.${token}`;
}

/**
 * Which run ids are of a claim up to this one. What Pulse itself starts for a claim (setup, checks) has ids that begin
 * with the claim's. A newer claim's run may be under way: it is not ours to end.
 */
export function runsUntil(taskId: string, newestToken: number): (runId: string) => boolean {
  const prefix = `${taskId}.`;
  return (runId) =>
    runId.startsWith(prefix) && Number.parseInt(runId.slice(prefix.length), 10) <= newestToken;
}
