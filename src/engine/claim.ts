import { appendEvents } from '../store/events.ts';
import { claimTask, setTaskReservation, type Task, unclaimTask } from '../store/inbox.ts';
import { moveIteration, recentIterations } from '../store/iterations.ts';
import { findSession, reserveSpending, updateSession } from '../store/sessions.ts';
import { type Db, storeNow } from '../store/store.ts';
import { reservationUsd } from './governor.ts';

export interface Claim {
  sessionId: string;
  owner: string;
  leaseMs: number;
}

/** Takes the session's due attempt, marks its iteration running and sets money aside: one transaction. */
export async function claimAttempt(db: Db, { sessionId, owner, leaseMs }: Claim): Promise<Task | null> {
  const session = await findSession(db, sessionId);
  if (session?.status !== 'running') return null;
  const task = await claimTask(db, { owner, leaseMs, sessionId });
  if (!task) return null;
  const recent = await recentIterations(db, sessionId, 11);
  // An agent that has run already spends nothing more.
  const reserved = task.result ? 0 : reservationUsd(session, recent);
  if (reserved > 0 && !(await reserveSpending(db, sessionId, reserved))) {
    await unclaimTask(db, task);
    return null;
  }
  await setTaskReservation(db, task, reserved);
  const iteration = recent.find((it) => it.inbox_task_id === task.id)!;
  await moveIteration(db, iteration, 'running', {
    ...(iteration.started_at === null ? { started_at: storeNow() } : {}),
  });
  if (session.resume_at !== null) await updateSession(db, sessionId, { resume_at: null });
  await appendEvents(db, sessionId, [
    {
      type: 'iteration.started',
      iteration: task.iteration_number,
      data: { attempt: task.attempt, agent: task.agent, taskId: task.id },
    },
  ]);
  return { ...task, reserved_usd: reserved };
}
