/** Pause, resume, abort: what a person asks for, carried out by the runner if it lives, here if it does not. */
import { turnFromAnswer, turnOf } from '../context/turns.ts';
import { PulseError } from '../domain/errors.ts';
import { uuidv7 } from '../domain/ids.ts';
import { RESUMABLE_STATUSES } from '../domain/status.ts';
import type { ComposedBrief } from '../engine/ports.ts';
import { abortSession, pauseWithoutRunner, requestPause, resumeSession } from '../engine/runner/control.ts';
import { composeRetryBrief } from '../engine/runner/retry-brief.ts';
import { runSession } from '../engine/runner/runner.ts';
import type { SessionChange } from '../engine/runner/session-change.ts';
import { loadState } from '../engine/runner/state.ts';
import { storedTurn } from '../engine/runner/turns.ts';
import { rulesFor } from '../loops/rules.ts';
import {
  getControl,
  getSession,
  listChildren,
  type Session,
  type SessionChoices,
  type SessionRequest,
  type SessionSettings,
} from '../store/sessions.ts';
import { newestTurn } from '../store/turns.ts';
import { choicesOf } from './choices.ts';
import type { Operations, TransactionHook } from './context.ts';
import { changeOfResume } from './resume-change.ts';
import { runnerState } from './view.ts';

/** An aborted run's processes are dead within this time. */
const ABORT_WITHIN_MS = 10_000;

export interface PauseOptions {
  actor: string;
  /** Ends the agent now and keeps its work aside, instead of waiting for the iteration. */
  now?: boolean;
  within?: TransactionHook;
}

export async function pause(
  operations: Operations,
  id: string,
  { actor, now, within }: PauseOptions,
): Promise<Session> {
  const { store } = operations.engine;
  const request = now ? 'stop' : 'pause';
  const { id: session } = ownSession(await store.read((db) => getSession(db, id)), 'pause');
  await store.tx(
    'pause',
    async (db) => {
      await requestPause(db, session, { request, actor });
      await within?.(db, session);
    },
    { session },
  );
  if ((await runnerState(operations, session)) === 'none') await pauseHere(operations, session, request);
  await ringAll(operations, session);
  return store.read((db) => getSession(db, session));
}

async function pauseHere({ engine }: Operations, session: string, request: SessionRequest): Promise<void> {
  const { kind, status } = await engine.store.read((db) => getSession(db, session));
  if (request === 'stop' && rulesFor(kind).isStoppedByRunner && status === 'running')
    await runSession(engine, session, new AbortController().signal, { isWithoutDaemon: true });
  else await engine.store.tx('pause', (db) => pauseWithoutRunner(db, session), { session });
}

/** Returns when nothing of the run is left. */
export async function abort(
  operations: Operations,
  id: string,
  { actor, within }: { actor: string; within?: TransactionHook },
): Promise<Session> {
  const { store, bell, clock, loops } = operations.engine;
  const { id: sessionId } = ownSession(await store.read((db) => getSession(db, id)), 'abort');
  await store.tx(
    'abort',
    async (db) => {
      await abortSession(db, sessionId, { actor, loops });
      await within?.(db, sessionId);
    },
    { session: sessionId },
  );
  using listener = bell.listen(sessionId);
  await ringAll(operations, sessionId);
  const giveUpAt = clock.nowMs() + ABORT_WITHIN_MS;
  while ((await runnerState(operations, sessionId)) === 'alive' && clock.nowMs() < giveUpAt) {
    await listener.wait(200);
  }
  await clearUp(operations, sessionId);
  return store.read((db) => getSession(db, sessionId));
}

/** Those that work for it were asked the same. */
async function ringAll({ engine: { store, bell } }: Operations, sessionId: string): Promise<void> {
  const children = await store.read((db) => listChildren(db, sessionId));
  for (const { id } of [{ id: sessionId }, ...children]) bell.ring(id);
}

/** A session that works for another is told what to do by telling that one. */
export function ownSession(session: Session, command: string): Session {
  const { id, parent_session_id: lead } = session;
  if (lead === null) return session;
  throw new PulseError('wrong_command', `Session ${id} works for ${lead}.`, {
    hint: `pulse ${command} ${lead} is for all of them.`,
  });
}

/** Driving an ended session only gives back what it still holds: processes, worktree, refs. */
async function clearUp({ engine }: Operations, sessionId: string): Promise<void> {
  await runSession(engine, sessionId, new AbortController().signal);
}

export interface ResumeInput extends SessionChoices {
  answer?: string;
  actor: string;
  /** The person has decided what the session stopped for, in the same transaction (`within`). */
  isDecided?: boolean;
  within?: TransactionHook;
}

export interface Resumed {
  session: Session;
  /** `attach`: it is being run already; `run`: it needs a runner now. */
  next: 'attach' | 'run';
}

export async function resume(operations: Operations, id: string, input: ResumeInput): Promise<Resumed> {
  const { store, bell, workspace, ids } = operations.engine;
  const session = ownSession(await store.read((db) => getSession(db, id)), 'resume');
  if (session.status === 'pending' || session.status === 'running') {
    if (input.answer !== undefined) {
      throw new PulseError(
        'invalid_transition',
        `Session ${session.id} is ${session.status}: it asked nothing.`,
        {
          hint: `pulse watch ${session.id} follows it.`,
        },
      );
    }
    refuseChanges(session, input);
    const isDriven = (await runnerState(operations, session.id)) !== 'none';
    return { session, next: isDriven ? 'attach' : 'run' };
  }
  const branchHead = RESUMABLE_STATUSES.includes(session.status) ? await workspace.takeStand(session) : null;
  const { control, parent } = await store.read(async (db) => ({
    control: await getControl(db, session.id),
    parent: await newestTurn(db, { sessionId: session.id }),
  }));
  const answerTurn =
    input.answer === undefined
      ? null
      : storedTurn(
          turnFromAnswer(
            {
              id: uuidv7(ids),
              parent: parent && turnOf(parent),
              projectId: control.project_id,
              sessionId: session.id,
              iteration: session.current_iteration,
              createdAt: '',
            },
            input.answer,
          ),
        );
  const change = await changeFor(operations, { session, settings: control.settings, input });
  const brief = await briefOfStopped(operations, session.id, { answer: input.answer, change });
  const { actor, answer, isDecided } = input;
  const resumed = await store.tx(
    'resume',
    async (db) => {
      const running = await resumeSession(db, session.id, {
        ...{ actor, answer, isDecided, branchHead, answerTurn, brief, change },
        loops: operations.engine.loops,
      });
      await input.within?.(db, session.id);
      return running;
    },
    { session: session.id },
  );
  bell.ring(session.id);
  return { session: resumed, next: 'run' };
}

/** What is decided while it runs would hold for some of its attempts only. */
function refuseChanges({ id, status }: Session, input: ResumeInput): void {
  const named = Object.keys(choicesOf(input));
  if (named.length === 0) return;
  throw new PulseError(
    'invalid_transition',
    `Session ${id} is ${status}: ${named.join(', ')} cannot change now.`,
    {
      hint: `pulse pause ${id}, then resume it so.`,
    },
  );
}

/** A decision about a plan or a review changes nothing else. */
async function changeFor(
  operations: Operations,
  { session, settings, input }: { session: Session; settings: SessionSettings; input: ResumeInput },
): Promise<SessionChange | null> {
  if (input.isDecided || !RESUMABLE_STATUSES.includes(session.status)) return null;
  return changeOfResume(operations, { session, settings, input });
}

/** An attempt that was stopped in the middle has its next brief already, written before the person said anything. */
async function briefOfStopped(
  { engine }: Operations,
  sessionId: string,
  { answer, change }: { answer: string | undefined; change: SessionChange | null },
): Promise<ComposedBrief | null> {
  const state = await engine.store.read((db) => loadState(db, sessionId, engine));
  const { live } = state;
  if (!live || live.task.result) return null;
  const session = { ...state.session, ...change?.columns };
  const settings = change?.settings ?? state.control.settings;
  const control = { ...state.control, settings, ...(answer === undefined ? {} : { answer }) };
  const { recoverTo } = live.task.spec;
  return composeRetryBrief(engine, {
    state: { ...state, session, control },
    live,
    interruption: {
      attempt: live.iteration.attempt,
      recoveryRef: recoverTo,
      reason: recoverTo === null ? null : 'stopped by a person',
    },
  });
}
