/** What a person may ask of a session from outside its runner. Each is one transaction; the bell does the rest. */
import { PulseError } from '../../domain/errors.ts';
import { decisionCommand, nextCommand } from '../../domain/next-command.ts';
import { RESUMABLE_STATUSES, TERMINAL_STATUSES } from '../../domain/status.ts';
import { appendEvents } from '../../store/events.ts';
import { closeTask, findTask } from '../../store/inbox.ts';
import { isLive, moveIteration, recentIterations } from '../../store/iterations.ts';
import {
  ASKED_BY_A_PERSON,
  budgetOwner,
  getControl,
  getSession,
  listChildren,
  moveSession,
  releaseSpending,
  type Session,
  type SessionRequest,
  updateControl,
} from '../../store/sessions.ts';
import { type Db, storeNow } from '../../store/store.ts';
import { insertTurn, type NewTurn } from '../../store/turns.ts';
import type { Loops } from '../loops.ts';
import type { ComposedBrief } from '../ports.ts';
import { isAtWork, resumeChildren } from './children.ts';
import { requireRaisedLimits } from './raised-limits.ts';
import { changeSession, restartAttempt, type SessionChange } from './session-change.ts';
import { PAUSED, stopEvent, stopSession } from './settle.ts';

/** `pause` takes effect after the current iteration, `stop` at once. The runner applies it. */
export async function requestPause(
  db: Db,
  id: string,
  { request, actor }: { request: SessionRequest; actor: string },
): Promise<Session> {
  const session = await getSession(db, id);
  if (session.status !== 'running' && session.status !== 'pending') {
    throw new PulseError(
      'invalid_transition',
      `Session ${session.id} is ${session.status}: nothing to pause.`,
      {
        hint: nextCommand(session, { isDriven: false })?.command,
      },
    );
  }
  await updateControl(db, session.id, { request, request_actor: actor });
  for (const child of await listChildren(db, session.id)) {
    if (isAtWork(child)) await updateControl(db, child.id, { request, request_actor: actor });
  }
  return session;
}

/** Pauses a session whose runner is dead; its interrupted attempt is done again at the resume. */
export async function pauseWithoutRunner(db: Db, id: string): Promise<void> {
  const session = await getSession(db, id);
  if (session.status !== 'running') return;
  for (const child of await listChildren(db, session.id)) await pauseWithoutRunner(db, child.id);
  await appendEvents(db, session.id, [stopEvent(PAUSED)]);
  await updateControl(db, session.id, { request: null, request_actor: null });
  await stopSession(db, session, PAUSED);
}

/** Force stop: from this transaction on every late result is refused, and its runner ends the agent. */
export async function abortSession(
  db: Db,
  id: string,
  { actor, loops }: { actor: string; loops: Loops },
): Promise<Session> {
  const session = await getSession(db, id);
  const [newest] = await recentIterations(db, session.id, 1);
  const stop = { status: 'aborted', reason: 'aborted_by_user', detail: null } as const;
  await moveSession(db, session, 'aborted', { reason: stop.reason, detail: null });
  // An abort is possible wherever the session is known, also where its loop is not.
  await loops.find(session)?.hooks?.abort?.(db, session);
  const event = stopEvent(stop);
  await appendEvents(db, session.id, [{ ...event, data: { ...event.data, actor } }]);
  await updateControl(db, session.id, { request: null, request_actor: null });
  if (newest && isLive(newest)) {
    const task = newest.inbox_task_id ? await findTask(db, newest.inbox_task_id) : null;
    if (task) {
      await releaseSpending(db, budgetOwner(session), task.reserved_usd);
      await closeTask(db, task.id, 'cancelled');
    }
    await moveIteration(db, newest, 'failed', { failure_class: 'cancelled', ended_at: storeNow() });
  }
  await abortChildren(db, session.id, { actor, loops });
  return session;
}

/** Their parent has ended or is aborted: their work is no longer needed. */
export async function abortChildren(
  db: Db,
  parentId: string,
  by: { actor: string; loops: Loops },
): Promise<void> {
  for (const child of await listChildren(db, parentId)) {
    if (!TERMINAL_STATUSES.includes(child.status)) await abortSession(db, child.id, by);
  }
}

export interface Resume {
  answer?: string;
  actor: string;
  /** What the session has from now on; `null`: what it had. */
  change: SessionChange | null;
  /** What it stopped for has been decided, so it may go on. */
  isDecided?: boolean;
  /** Where the session's branch is now: a person may have committed on it meanwhile. */
  branchHead: string | null;
  answerTurn: NewTurn | null;
  loops: Loops;
  /** Of the attempt that was stopped, with the answer in it; `null` where none was, or nothing was answered. */
  brief: ComposedBrief | null;
}

/** Blocked, paused and failed sessions go on; after a limit only with a higher one. */
export async function resumeSession(db: Db, id: string, resume: Resume): Promise<Session> {
  const session = await getSession(db, id);
  if (!RESUMABLE_STATUSES.includes(session.status)) {
    throw new PulseError(
      'invalid_transition',
      `Session ${session.id} is ${session.status} and cannot be resumed.`,
      {
        hint:
          session.status === 'running'
            ? 'It is being run already.'
            : `pulse follow ${session.id} "…" starts another on its branch.`,
      },
    );
  }
  const other = decisionCommand(session);
  if (other && !resume.isDecided) {
    throw new PulseError(
      'wrong_command',
      `Session ${session.id} waits for something else (${session.stop_reason}).`,
      {
        hint: `Use: ${other.command}`,
      },
    );
  }
  const { answer, actor, branchHead, answerTurn, brief, change, loops } = resume;
  const after: Session = { ...session, ...change?.columns };
  requireRaisedLimits(session, after);
  const control = await getControl(db, session.id);
  const settings = change?.settings ?? control.settings;
  await moveSession(db, session, 'running');
  if (change) await changeSession(db, session.id, change);
  await updateControl(db, session.id, {
    request: null,
    request_actor: null,
    window_from: session.current_iteration,
    counters: ASKED_BY_A_PERSON,
    ...(answer ? { answer } : {}),
    ...(branchHead ? { head_sha: branchHead } : {}),
  });
  const told = await restartAttempt(db, { session: after, settings, loops }, { branchHead, brief });
  if (answerTurn) await insertTurn(db, answerTurn);
  await appendEvents(db, session.id, [
    {
      type: 'session.resumed',
      data: {
        ...{ actor, from: session.status, answer: answer ?? control.answer },
        ...(change && Object.keys(change.changed).length > 0 ? { changed: change.changed } : {}),
        ...told,
      },
    },
  ]);
  await resumeOwn(db, session, { branchHead, loops });
  await resumeChildren(db, session.id, { actor, answer, change, loops });
  return getSession(db, session.id);
}

/** What a person has committed meanwhile is told apart from what Pulse has, and has not settled yet. */
async function resumeOwn(
  db: Db,
  session: Session,
  { branchHead, loops }: Pick<Resume, 'branchHead' | 'loops'>,
): Promise<void> {
  const resume = loops.of(session).hooks?.resume;
  if (!resume) return;
  const children = await listChildren(db, session.id);
  const ours = await reportedCommits(db, [session.id, ...children.map((child) => child.id)]);
  await resume(db, session, { branchHead, ours });
}

/** Of attempts that are not settled: one may have landed before a crash, and then the branch is where it put it. */
async function reportedCommits(db: Db, sessionIds: readonly string[]): Promise<string[]> {
  const commits: string[] = [];
  for (const id of sessionIds) {
    const [newest] = await recentIterations(db, id, 1);
    const task =
      newest && isLive(newest) && newest.inbox_task_id ? await findTask(db, newest.inbox_task_id) : null;
    if (task?.result?.commit) commits.push(task.result.commit);
  }
  return commits;
}
