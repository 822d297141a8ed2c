/** What a person may ask of a session from outside its runner. Each is one transaction; the bell does the rest. */
import { PulseError } from '../domain/errors.ts';
import { decisionCommand, nextCommand } from '../domain/next-command.ts';
import { RESUMABLE_STATUSES, TERMINAL_STATUSES } from '../domain/status.ts';
import { appendEvents } from '../store/events.ts';
import { amendTask, closeTask, findTask } from '../store/inbox.ts';
import { amendIteration, isLive, moveIteration, recentIterations } from '../store/iterations.ts';
import { quoteNotes } from '../store/notes.ts';
import { findResearch, updateResearch } from '../store/research.ts';
import {
  ASKED_BY_A_PERSON,
  getControl,
  getSession,
  listChildren,
  moveSession,
  NO_RETRIES,
  purseOf,
  releaseSpending,
  type Session,
  type SessionRequest,
  type SessionSettings,
  updateControl,
  updateSession,
  withPurse,
} from '../store/sessions.ts';
import { type Db, storeNow, toJson } from '../store/store.ts';
import { insertTurn, type NewTurn } from '../store/turns.ts';
import { findWorkflow, listPulses, movePulse } from '../store/workflows.ts';
import { PAUSED } from './decide.ts';
import { specNow } from './dispatch.ts';
import { dropExperiments } from './dropped-experiments.ts';
import { demandRaisedLimits } from './limits.ts';
import type { ComposedBrief } from './ports.ts';
import { stopEvent, stopSession } from './settle.ts';

/** `pause` takes effect after the iteration in hand, `stop` at once. The runner applies it. */
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
    if (child.status === 'running') await updateControl(db, child.id, { request, request_actor: actor });
  }
  return session;
}

/** Pauses a session whose runner is dead; its interrupted attempt is done again at the resume. */
export async function pauseWithoutRunner(db: Db, id: string): Promise<void> {
  const session = await getSession(db, id);
  if (session.status !== 'running') return;
  for (const child of await listChildren(db, session.id)) await pauseWithoutRunner(db, child.id);
  await appendEvents(db, session.id, [stopEvent(PAUSED, false)]);
  await updateControl(db, session.id, { request: null, request_actor: null });
  await stopSession(db, session, PAUSED);
}

/** Force stop: from this transaction on every late result is refused. Whoever runs it ends its agent. */
export async function abortSession(db: Db, id: string, actor: string): Promise<Session> {
  const session = await getSession(db, id);
  const [newest] = await recentIterations(db, session.id, 1);
  const stop = { status: 'aborted', reason: 'aborted_by_user', detail: null } as const;
  await moveSession(db, session, 'aborted', { reason: stop.reason, detail: null });
  if (session.kind === 'research') await dropExperimentsOf(db, session);
  const event = stopEvent(stop, false);
  await appendEvents(db, session.id, [{ ...event, data: { ...event.data, actor } }]);
  await updateControl(db, session.id, { request: null, request_actor: null });
  if (newest && isLive(newest)) {
    const task = newest.inbox_task_id ? await findTask(db, newest.inbox_task_id) : null;
    if (task) {
      await releaseSpending(db, purseOf(session), task.reserved_usd);
      await closeTask(db, task.id, 'cancelled');
    }
    await moveIteration(db, newest, 'failed', { failure_class: 'cancelled', ended_at: storeNow() });
  }
  if (session.kind === 'workflow') await stopPulseOf(db, session.id);
  for (const child of await listChildren(db, session.id)) {
    if (!TERMINAL_STATUSES.includes(child.status)) await abortSession(db, child.id, actor);
  }
  return session;
}

/** What was in hand is not left open, at the commander neither. A worker's experiments are its lead's. */
async function dropExperimentsOf(db: Db, lead: Session): Promise<void> {
  const research = await findResearch(db, lead.id);
  if (!research) return;
  const control = await getControl(db, lead.id);
  await dropExperiments(db, { control, research: { lead, research } }, 'The research was aborted.');
}

/** The pulse in hand ends with its workflow; whoever runs it keeps what it had and clears its refs up. */
async function stopPulseOf(db: Db, sessionId: string): Promise<void> {
  const { id } = (await findWorkflow(db, sessionId))!;
  const pulse = (await listPulses(db, id)).find(({ status }) => status === 'running');
  if (!pulse) return;
  const reason = 'aborted by a person';
  await movePulse(db, pulse, 'stopped', { failure_reason: reason, extension: null, ended_at: storeNow() });
  const data = { pulseId: pulse.id, plannedPulseId: pulse.planned_pulse_id, reason };
  await appendEvents(db, sessionId, [{ type: 'pulse.stopped', data }]);
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
  /** Of the attempt that was stopped, with the answer in it; `null` where none was, or nothing was answered. */
  brief: Pick<ComposedBrief, 'text' | 'tokens' | 'notes'> | null;
}

export interface SessionChange {
  columns: Partial<Session>;
  settings: SessionSettings;
  /** Written with it: what a loop keeps of its own. */
  apply?(db: Db): Promise<void>;
  changed: Record<string, unknown>;
}

/** Blocked, paused and failed sessions go on; after a limit only with a higher one. */
export async function resumeSession(db: Db, id: string, resume: Resume): Promise<Session> {
  const session = await getSession(db, id);
  if (!RESUMABLE_STATUSES.includes(session.status)) {
    throw new PulseError(
      'invalid_transition',
      `Session ${session.id} is ${session.status} and cannot be resumed.`,
      {
        hint: session.status === 'running' ? 'It is being run already.' : 'Start a new session.',
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
  const { answer, actor, branchHead, answerTurn, brief, change } = resume;
  const after: Session = { ...session, ...change?.columns };
  demandRaisedLimits(session, after);
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
  await restart(db, { session: after, settings }, { branchHead, brief });
  if (answerTurn) await insertTurn(db, answerTurn);
  await appendEvents(db, session.id, [
    {
      type: 'session.resumed',
      data: {
        ...{ actor, from: session.status, answer: answer ?? control.answer },
        ...(change && Object.keys(change.changed).length > 0 ? { changed: change.changed } : {}),
      },
    },
  ]);
  if (session.kind === 'research') await resumeResearch(db, session, { actor, answer, branchHead, change });
  return getSession(db, session.id);
}

async function changeSession(db: Db, id: string, { columns, settings, apply }: SessionChange): Promise<void> {
  const { setup, verify, progress_log: _, status: __, id: ___, ...plain } = columns;
  await updateSession(db, id, {
    ...plain,
    ...(setup === undefined ? {} : { setup: setup && toJson(setup) }),
    ...(verify === undefined ? {} : { verify: toJson(verify) }),
  });
  await updateControl(db, id, { settings });
  await apply?.(db);
}

/** What those that work for it have from it; budgets are the lead's, and draw on one purse. */
const OF_WORKERS = [
  'agent',
  'command',
  'setup',
  'iteration_timeout_ms',
  'idle_timeout_ms',
  'time_limit_ms',
] as const;

function ofWorkers({ columns, settings, changed }: SessionChange): SessionChange {
  const own = Object.fromEntries(OF_WORKERS.map((name) => [name, columns[name]]));
  return { columns: own, settings, changed };
}

/** Those that work for it go on with it. What a person has committed meanwhile is the best, and has yet to be read. */
async function resumeResearch(
  db: Db,
  { id, base_sha }: Session,
  { actor, answer, branchHead, change }: Pick<Resume, 'actor' | 'answer' | 'branchHead' | 'change'>,
): Promise<void> {
  const children = await listChildren(db, id);
  const known = (await findResearch(db, id))?.best_sha ?? base_sha;
  const own = await reportedCommits(db, [id, ...children.map((child) => child.id)]);
  if (branchHead && branchHead !== known && !own.includes(branchHead))
    await updateResearch(db, id, { best_sha: branchHead, reference: null });
  for (const child of children) {
    if (!RESUMABLE_STATUSES.includes(child.status)) continue;
    await moveSession(db, child, 'running');
    if (change) await changeSession(db, child.id, ofWorkers(change));
    await updateControl(db, child.id, {
      request: null,
      request_actor: null,
      window_from: child.current_iteration,
      counters: NO_RETRIES,
      ...(answer && child.status === 'blocked' ? { answer } : {}),
    });
    const { settings } = await getControl(db, child.id);
    const now = await withPurse(db, await getSession(db, child.id));
    await restart(db, { session: now, settings }, { branchHead: null, brief: null });
    await appendEvents(db, child.id, [{ type: 'session.resumed', data: { actor, from: child.status } }]);
  }
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

/**
 * An attempt that was stopped before its agent was done starts from where the branch is now, with the agent, the
 * commands and the limits of now, and with the person's answer in its brief.
 */
async function restart(
  db: Db,
  { session, settings }: { session: Session; settings: SessionSettings },
  { branchHead, brief }: Pick<Resume, 'branchHead' | 'brief'>,
): Promise<void> {
  const [newest] = await recentIterations(db, session.id, 1);
  if (!newest || !isLive(newest)) return;
  const task = newest.inbox_task_id ? await findTask(db, newest.inbox_task_id) : null;
  if (!task || task.result) return;
  // A pulse or an experiment goes on with its work in progress; its commit has the unit's start for a parent.
  const isUnit = task.spec.work?.kind === 'pulse' || task.spec.work?.kind === 'experiment';
  const startSha = isUnit ? newest.start_sha : (branchHead ?? newest.start_sha);
  await quoteNotes(db, brief?.notes ?? [], newest.iteration_number);
  await amendIteration(db, newest.id, {
    start_sha: startSha,
    ...(brief ? { task_content: brief.text, context_tokens: brief.tokens } : {}),
  });
  const spec = { ...specNow(task.spec, { session, settings }), startSha };
  await amendTask(db, task.id, { spec, content: brief?.text ?? task.task_content });
}
