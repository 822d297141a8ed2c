/** Owns a session by lease, asks its loop what to do, does it. Recovery is this same path (contract 1.4). */
import { asPulseError, isPulseError, PulseError } from '../domain/errors.ts';
import { TERMINAL_STATUSES } from '../domain/status.ts';
import { endedTasks, findTask } from '../store/inbox.ts';
import {
  readSessionLease,
  releaseSessionLease,
  renewSessionLease,
  takeSessionLease,
} from '../store/leases.ts';
import { findSession, getControl } from '../store/sessions.ts';
import { act } from './actions.ts';
import { absentDaemon, type Daemon, startDaemon } from './daemon.ts';
import type { Engine } from './engine.ts';
import { evictHolder } from './eviction.ts';
import { INBOX } from './fleet.ts';
import { keepLease } from './heartbeat.ts';
import type { SessionState } from './loop.ts';
import { endSession } from './settle.ts';
import { loadState } from './state.ts';
import { performStep } from './steps.ts';

export type RunnerEnd = 'left' | 'held_elsewhere' | 'shutdown';

/**
 * Drives the session until it stops being running, the signal aborts (`shutdown`: the lease is given back, the
 * session stays running) or somebody else takes it over (throws `fenced`).
 */
export async function runSession(engine: Engine, sessionId: string, signal: AbortSignal): Promise<RunnerEnd> {
  const token = await acquireSession(engine, sessionId);
  if (token === null) return 'held_elsewhere';
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const { store, clock, timing } = engine;
  const { leaseMs } = timing;
  const beating = keepLease({
    clock,
    timing,
    over: over.signal,
    renew: () => store.tx('heartbeat', (db) => renewSessionLease(db, sessionId, { token, leaseMs })),
    onLost: () => over.abort('fenced'),
  });
  try {
    const { settings } = await store.read((db) => getControl(db, sessionId));
    const isFleet = settings.labels.length > 0;
    await using daemon = isFleet ? absentDaemon() : startDaemon(engine, sessionId);
    await drive(engine, { sessionId, token, daemon, stop });
  } catch (error) {
    await fail(engine, { sessionId, token, error: asPulseError(error) });
  } finally {
    const isFenced = over.signal.reason === 'fenced';
    over.abort();
    await beating;
    if (!isFenced)
      await engine.store.tx('release', (db) => releaseSessionLease(db, sessionId, token), {
        session: sessionId,
      });
    engine.bell.ring(sessionId);
  }
  if (over.signal.reason === 'fenced') throw new PulseError('fenced', `Session ${sessionId} was taken over.`);
  return signal.aborted ? 'shutdown' : 'left';
}

/**
 * Nothing is retried for ever: what went wrong inside Pulse stops the session and says so; a person may resume it.
 * What may pass by itself (a full disk, a busy database) goes to whoever restarts the runner.
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
      await endSession(db, { session, stop: { status: 'failed', reason: 'internal_error', detail }, token });
    },
    { session: sessionId },
  );
}

/** The new token, or `null` while a living runner holds the session. */
async function acquireSession(engine: Engine, sessionId: string): Promise<number | null> {
  const { store, owner, owners, timing } = engine;
  const seen = await store.read((db) => readSessionLease(db, sessionId));
  const isFree = seen.owner === null || seen.isOver || owners(seen.owner) === 'dead';
  if (!isFree) return null;
  await evictHolder(engine, seen.owner);
  return store.tx('lease', (db) => takeSessionLease(db, sessionId, { owner, leaseMs: timing.leaseMs, seen }));
}

interface Drive {
  sessionId: string;
  token: number;
  daemon: Daemon;
  stop: AbortSignal;
}

async function drive(engine: Engine, { sessionId, token, daemon, stop }: Drive): Promise<void> {
  using listener = engine.bell.listen(sessionId);
  const { pollMs, quietPollMs } = engine.timing;
  const waitMs = daemon.isHere ? quietPollMs : pollMs;
  const failed = daemon.ended.then(() => undefined);
  failed.catch(() => undefined);
  while (!stop.aborted) {
    const state = await engine.store.read((db) => loadState(db, sessionId, engine));
    const loop = engine.loops[state.session.kind];
    if (!loop)
      throw new PulseError('internal_error', `No loop drives sessions of kind ${state.session.kind}.`);
    const step = loop.decide(state);
    if (step.do === 'leave') return leave(engine, state, daemon);
    if (step.do === 'wait') {
      await Promise.race([listener.wait(waitMs, stop), failed]);
      continue;
    }
    try {
      await performStep(engine, { state, step, token, daemon });
    } catch (error) {
      if (!(await isOutrun(engine, state, error))) throw error;
    }
    engine.bell.ring(sessionId);
    if (step.do === 'agent') await Promise.race([daemon.looked(), failed]);
    if (state.control.settings.labels.length > 0) engine.bell.ring(INBOX);
  }
}

/** A person was quicker (an abort, a pause): nothing of the step was written, and the next look decides anew. */
async function isOutrun({ store }: Engine, { session }: SessionState, error: unknown): Promise<boolean> {
  if (!isPulseError(error, 'invalid_transition')) return false;
  const now = await store.read((db) => findSession(db, session.id));
  return now?.status !== session.status;
}

/** A session that has ended gives its worktree back; one that can be resumed keeps it. */
async function leave(
  { store, trace, workspace, measurer, researchFiles }: Engine,
  { session, recent, research }: SessionState,
  daemon: Daemon,
): Promise<void> {
  await daemon.interrupt('aborted');
  // A workflow whose preflight failed has nothing in its worktree that is worth keeping.
  const isGivenUp = session.kind === 'workflow' && session.stop_reason === 'preflight_failed';
  if (!TERMINAL_STATUSES.includes(session.status) && !isGivenUp) return;
  const iteration = recent[0];
  const taskId = iteration?.inbox_task_id;
  const task = taskId ? await store.read((db) => findTask(db, taskId)) : null;
  const last = iteration ? { iteration, task } : null;
  const endedOf = (ids: string[]) => store.read((db) => endedTasks(db, ids));
  if (research) await act(trace, 'write_files', { perform: () => researchFiles.write(session.id) });
  await act(trace, 'close_worktree', {
    async perform() {
      if (research) await measurer.close(session);
      await workspace.close(session, { last, endedOf });
    },
  });
}
