/** Owns a session by lease, asks its loop what to do, does it. Recovery is this same path. */
import { asPulseError, isPulseError, PulseError } from '../../domain/errors.ts';
import { TERMINAL_STATUSES } from '../../domain/status.ts';
import { appendEvents } from '../../store/events.ts';
import { endedTasks, findTask, standsAsSeen } from '../../store/inbox.ts';
import { packSession } from '../../store/pack-session.ts';
import { findSession, getControl, getSession, type Session } from '../../store/sessions.ts';
import { act } from '../actions.ts';
import { absentDaemon, type Daemon, startDaemon } from '../attempt/daemon.ts';
import type { Engine } from '../engine.ts';
import type { Companion, SessionState } from '../loop.ts';
import { INBOX } from '../wake/bells.ts';
import { type ChildSessions, createChildSessions } from './child-sessions.ts';
import { isAtWork } from './children.ts';
import { finishImplemented } from './implemented.ts';
import { noteBranch } from './meet-branch.ts';
import { proveAccepted } from './prove.ts';
import { holdSession } from './session-lease.ts';
import { endSession } from './settle.ts';
import { isStillWaiting, loadState } from './state.ts';
import { performStep } from './steps.ts';

export type RunnerEnd = 'left' | 'held_elsewhere' | 'shutdown';

export interface RunOptions {
  /** Only decides: no attempt is begun here, and one that needs an agent is waited for. */
  isWithoutDaemon?: boolean;
  /** What is done beside the run of each session that works for this one. */
  beside?: Beside;
}

/** Does the work and gives its result; adds nothing that could fail it. */
export type Beside = <T>(sessionId: string, work: () => Promise<T>) => Promise<T>;

/**
 * Drives the session until it stops being running, the signal aborts (`shutdown`: the lease is given back, the
 * session stays running) or somebody else takes it over (throws `fenced`).
 */
export async function runSession(
  engine: Engine,
  sessionId: string,
  signal: AbortSignal,
  { isWithoutDaemon = false, beside = (_, work) => work() }: RunOptions = {},
): Promise<RunnerEnd> {
  const held = await holdSession(engine, sessionId, signal);
  if (held === null) return 'held_elsewhere';
  const { token, lost } = held;
  const stop = AbortSignal.any([signal, lost]);
  try {
    const { session, control } = await engine.store.read(async (db) => ({
      session: await getSession(db, sessionId),
      control: await getControl(db, sessionId),
    }));
    const isFleet = control.settings.labels.length > 0;
    await using daemon = isFleet || isWithoutDaemon ? absentDaemon() : startDaemon(engine, sessionId);
    const loop = engine.loops.of(session);
    await using companion = loop.accompany?.(engine, { session, control, token }) ?? null;
    const over = new AbortController();
    await using children = createChildSessions({
      run: (id) => beside(id, () => runSession(engine, id, AbortSignal.any([stop, over.signal]), { beside })),
      onEnd: () => engine.bell.ring(sessionId),
    });
    try {
      await drive(engine, { sessionId, token, daemon, companion, children, stop });
    } finally {
      over.abort('over');
    }
  } catch (error) {
    await fail(engine, { sessionId, token, error: asPulseError(error) });
  } finally {
    await held[Symbol.asyncDispose]();
  }
  if (lost.aborted) throw new PulseError('fenced', `Session ${sessionId} was taken over.`);
  return signal.aborted ? 'shutdown' : 'left';
}

/**
 * Nothing is retried for ever: what went wrong inside Pulse stops the session and says so; a person may resume it.
 * What may pass by itself (a full disk, a busy database) is left to the supervisor, which restarts the runner.
 */
async function fail(
  { store }: Engine,
  { sessionId, token, error }: { sessionId: string; token: number; error: PulseError },
): Promise<void> {
  if (error.retryable || error.code === 'fenced') throw error;
  const detail = error.hint ? `${error.message} ${error.hint}` : error.message;
  await store.tx(
    'end',
    async (db) => {
      const session = await findSession(db, sessionId);
      if (session?.status !== 'running') throw error;
      // A git that was ended waited for something of the repository's: that is no fault inside Pulse.
      const reason = error.code === 'git_stopped' ? 'agent_error' : 'internal_error';
      await endSession(db, { session, stop: { status: 'failed', reason, detail }, token });
    },
    { session: sessionId },
  );
}

interface Drive {
  sessionId: string;
  token: number;
  daemon: Daemon;
  companion: Companion | null;
  children: ChildSessions;
  stop: AbortSignal;
}

async function drive(engine: Engine, driven: Drive): Promise<void> {
  const { sessionId, token, daemon, children, stop } = driven;
  using listener = engine.bell.listen(sessionId);
  const { pollMs, quietPollMs } = engine.timing;
  const waitMs = daemon.isHere ? quietPollMs : pollMs;
  const failed = Promise.race([daemon.ended.then(() => undefined), children.failed]);
  failed.catch(() => undefined);
  const stopped = new Promise<void>((resolve) =>
    stop.addEventListener('abort', () => resolve(), { once: true }),
  );
  let waitingFor: SessionState | null = null;
  while (!stop.aborted) {
    const seen = waitingFor;
    if (seen && (await engine.store.read((db) => isStillWaiting(db, seen, engine)))) {
      await Promise.race([listener.wait(waitMs, stop), failed]);
      continue;
    }
    const state = await engine.store.read((db) => loadState(db, sessionId, engine));
    const loop = engine.loops.of(state.session);
    const own = loop.children?.(state.own) ?? [];
    children.drive(own);
    const step = waitsForChildren(state, own) ? ({ do: 'wait' } as const) : loop.decide(state);
    if (step.do === 'leave') return leave(engine, state, driven);
    waitingFor = step.do === 'wait' ? state : null;
    if (step.do === 'wait') {
      await Promise.race([listener.wait(waitMs, stop), failed]);
      continue;
    }
    // Taken before the dispatch: the daemon may look, and take the attempt, before this returns.
    const looked = step.do === 'run' ? daemon.looked() : null;
    try {
      await performStep(engine, { state, step, token, daemon });
    } catch (error) {
      if (!(await wasSuperseded(engine, state, error))) throw error;
    }
    engine.bell.ring(sessionId);
    const { parent_session_id: parentId } = state.session;
    if (parentId !== null) engine.bell.ring(parentId);
    if (step.do === 'end') for (const { id } of own) engine.bell.ring(id);
    if (looked) await Promise.race([looked, failed, stopped]);
    if (state.control.settings.labels.length > 0) engine.bell.ring(INBOX);
  }
}

/** A pause is the children's first: each comes to the end of its iteration. An attempt of the session itself stops as in any session. */
function waitsForChildren({ session, control, live }: SessionState, children: readonly Session[]): boolean {
  return session.status === 'running' && control.request !== null && !live && children.some(isAtWork);
}

/**
 * A person, another session or the attempt itself was quicker (an abort, an edited plan, another change that landed, a
 * report): nothing of the step was written, and the next look decides again.
 */
async function wasSuperseded(
  { store, loops }: Engine,
  state: SessionState,
  error: unknown,
): Promise<boolean> {
  if (!isPulseError(error, 'invalid_transition') && !isPulseError(error, 'ref_moved')) return false;
  const { session, live } = state;
  return store.read(async (db) => {
    const now = await findSession(db, session.id);
    if (now?.status !== session.status) return true;
    if (live && !(await standsAsSeen(db, live.task))) return true;
    return (await loops.of(session).hooks?.isStale?.(db, state, error)) ?? false;
  });
}

/** The checkout that had the branch may have left it by now. */
async function bringBranch({ store, workspace }: Engine, session: Session): Promise<void> {
  const lag = await workspace.follow(session);
  const { head_sha: head } = await store.read((db) => getControl(db, session.id));
  const place = { lag, left: session.branch_lags_at!, head: head ?? session.base_sha };
  await store.tx('follow', (db) => noteBranch(db, session, place), { session: session.id });
}

/** A session that has ended gives its worktree back; one that can be resumed keeps it. */
async function leave(
  engine: Engine,
  state: SessionState,
  { daemon, companion, children, token }: Drive,
): Promise<void> {
  const { session, recent } = state;
  const { store, trace, workspace } = engine;
  const loop = engine.loops.of(session);
  const { hooks } = loop;
  await daemon.interrupt('aborted');
  const { status } = session;
  await companion?.finish({ isOver: TERMINAL_STATUSES.includes(status), isAborted: status === 'aborted' });
  if (!TERMINAL_STATUSES.includes(status) && !loop.givesUpWorktree?.(session)) return;
  await children[Symbol.asyncDispose]();
  for (const { id } of loop.children?.(state.own) ?? [])
    await runSession(engine, id, new AbortController().signal);
  await proveAccepted(engine, session.id, token);
  await finishImplemented(engine, state);
  await hooks?.beforeClose?.(engine, state);
  const iteration = recent[0];
  const taskId = iteration?.inbox_task_id;
  const task = taskId ? await store.read((db) => findTask(db, taskId)) : null;
  const last = iteration ? { iteration, task } : null;
  const endedOf = (ids: string[]) => store.read((db) => endedTasks(db, ids));
  await act(trace, 'close_worktree', {
    async perform() {
      if (session.branch_lags_at !== null) await bringBranch(engine, session);
      const notices = (await hooks?.close?.(session)) ?? [];
      notices.push(...(await workspace.close(session, { last, endedOf })));
      await engine.referee.close(session.id);
      if (notices.length > 0)
        await store.tx('tell', (db) => appendEvents(db, session.id, notices, { token }), {
          session: session.id,
        });
    },
  });
  await hooks?.afterClose?.(engine, state);
  if (TERMINAL_STATUSES.includes(status))
    await act(trace, 'pack', { perform: () => packSession(store, session.id) });
}
