import { uuidv7 } from '../../domain/ids.ts';
import { TERMINAL_STATUSES } from '../../domain/status.ts';
import type { HeadMoved } from '../../git/session-head.ts';
import { appendEvents } from '../../store/events.ts';
import { moveSession, type Session } from '../../store/sessions.ts';
import { newestTurn } from '../../store/turns.ts';
import { act } from '../actions.ts';
import type { Daemon } from '../attempt/daemon.ts';
import type { Engine } from '../engine.ts';
import type { Landing, LiveIteration, Loop, Retry, SessionState, Step, Stop } from '../loop.ts';
import { spawnChildren } from './children.ts';
import { abortChildren } from './control.ts';
import { dispatchIteration, headSha } from './dispatch.ts';
import { evictHolder } from './eviction.ts';
import { reportImplemented } from './implemented.ts';
import { meetBranch, noteBranch } from './meet-branch.ts';
import { proveAccepted } from './prove.ts';
import { leftoversOf, takeBackAttempt } from './requeue.ts';
import { composeRetryBrief } from './retry-brief.ts';
import { oneAtATime } from './serialize.ts';
import { endSession, settleIteration } from './settle.ts';
import { loadState } from './state.ts';
import { turnOfRun } from './turns.ts';

export interface StepContext {
  state: SessionState;
  step: Exclude<Step, { do: 'wait' } | { do: 'leave' }>;
  token: number;
  daemon: Daemon;
}

/** Does what the loop decided. Each case is one action, or a few, of the closed list. */
export async function performStep(engine: Engine, context: StepContext): Promise<void> {
  const { state, step, token, daemon } = context;
  const { trace, store, ids, loops } = engine;
  const loop = loops.of(state.session);
  const scope = { session: state.session.id };
  switch (step.do) {
    case 'start':
      return start(engine, state, token);
    case 'run':
      return dispatchRun(engine, { state, step, token });
    case 'host': {
      const own = loop.steps?.[step.name];
      if (!own) throw new TypeError(`the loop ${loop.kind} has no step ${step.name}`);
      return own.perform(engine, { state, token, daemon, data: step.data as never });
    }
    case 'spawn': {
      const { children } = step;
      return act(trace, 'spawn', {
        perform: () =>
          store.tx('spawn', (db) => spawnChildren(db, { state, children, token, ids, loops }), scope),
      });
    }
    case 'settle':
      // What several sessions push forward is settled by one after the other.
      return oneAtATime(engine, headOwner(loop, state).id, () => settle(engine, { state, step, token }));
    case 'retry':
      return takeBack(engine, { state, live: step.live, retry: step.retry, token, isPause: false });
    case 'requeue':
      await evictHolder(engine, step.live.task.lease_owner);
      return takeBack(engine, { state, live: step.live, retry: null, token, isPause: false });
    case 'interrupt':
      await daemon.interrupt('paused');
      return takeBackAfterStop(engine, { state, token });
    case 'end':
      return act(trace, 'end', {
        perform: async () => {
          const isUnchanged = await endsUnchanged(engine, { state, stop: step.stop });
          await store.tx(
            'end',
            async (db) => {
              if (TERMINAL_STATUSES.includes(step.stop.status))
                await abortChildren(db, state.session.id, { actor: 'pulse', loops });
              await loop.hooks?.end?.(db, state, step.stop);
              await reportImplemented(db, { state, stop: step.stop, loops });
              await endSession(db, { session: state.session, stop: step.stop, token, isUnchanged });
            },
            scope,
          );
        },
      });
  }
}

/** Whether it is complete without having changed anything. `head`: where its work stands by then. */
async function endsUnchanged(
  { workspace }: Engine,
  { state, stop, head }: { state: SessionState; stop: Stop | undefined | null; head?: string },
): Promise<boolean> {
  const { session } = state;
  if (stop?.status !== 'complete' || session.parent_session_id !== null) return false;
  return workspace.isUnchanged(session, head ?? headSha(state));
}

/** Whose head and branch the session's commits move. */
function headOwner(loop: Loop, { session, own }: SessionState): Session {
  return loop.headOwner?.(own) ?? session;
}

async function start({ store, workspace, trace }: Engine, state: SessionState, token: number): Promise<void> {
  const { session } = state;
  await act(trace, 'start', {
    perform: async () => {
      await workspace.createBranch(session, state.control.settings.remote);
      await store.tx(
        'start',
        async (db) => {
          const { branch_name: branch, base_sha: base, agent } = session;
          await appendEvents(db, session.id, [{ type: 'session.started', data: { branch, base, agent } }], {
            token,
          });
          await moveSession(db, session, 'running');
        },
        { session: session.id },
      );
    },
  });
}

interface RunStep {
  state: SessionState;
  step: Extract<Step, { do: 'run' }>;
  token: number;
}

async function dispatchRun(engine: Engine, { state, step, token }: RunStep): Promise<void> {
  const { store, trace, ids, loops } = engine;
  const kind = loops.works.named(step.work);
  const run = await kind.plan(engine, { state: state as SessionState<never>, data: step.data as never });
  const dispatched = act(trace, 'dispatch', {
    perform: () =>
      store.tx(
        'dispatch',
        async (db) => {
          if (run.isStillDue && !(await run.isStillDue(db))) return false;
          await dispatchIteration(db, { state, run, token, ids });
          await run.write?.(db);
          return true;
        },
        { session: state.session.id },
      ),
  });
  const isDispatched = await dispatched.catch(async (error: unknown) => {
    await run.undo?.(error);
    throw error;
  });
  if (!isDispatched) await run.undo?.(null);
}

interface SettleStep {
  state: SessionState;
  step: Extract<Step, { do: 'settle' }>;
  token: number;
}

async function settle(engine: Engine, { state, step, token }: SettleStep): Promise<void> {
  const { store, trace, clock, ids, loops } = engine;
  const { live, result } = step;
  const { hooks } = loops.of(state.session);
  const verdict = (await hooks?.beforeSettle?.(engine, { state, ...step })) ?? step.verdict;
  const owner = headOwner(loops.of(state.session), state);
  const landing = verdict.landing ?? ordinaryLanding(state, result.commit);
  const { isUnit } = loops.works.gitOf(live.task.spec);
  const left = leftAt(state, { live, owner, isUnit });
  const known = isUnit ? owner.branch_lags_at : left;
  const moved = await land(engine, { state, live, landing, owner, left: known });
  if (moved?.is === 'ahead') return meetBranch(engine, { state, live, result, onto: moved.at, owner, token });
  const isUnchanged = await endsUnchanged(engine, { state, stop: verdict.stop, head: landing?.head?.to });
  await act(trace, 'settle', {
    perform: () =>
      store.tx(
        'settle',
        async (db) => {
          if (moved) await noteBranch(db, owner, { lag: moved.lag, left, head: landing!.head!.to });
          const parent = await newestTurn(db, { sessionId: state.session.id });
          const turn = turnOfRun({ id: uuidv7(ids), state, live, result, verdict, parent });
          const nowMs = clock.nowMs();
          const settled = { state, live, result, verdict, turn, isUnchanged };
          await settleIteration(db, { ...settled, token, nowMs, ids, loops });
        },
        { session: state.session.id },
      ),
  });
  const judgement = verdict.judgement ?? result.judgement;
  if (judgement?.verdict === 'accepted') await proveAccepted(engine, state.session.id, token);
  await hooks?.afterSettle?.(engine, state);
}

function ordinaryLanding(state: SessionState, commit: string | null): Landing | null {
  return commit ? { head: { from: headSha(state), to: commit } } : null;
}

interface LandStep {
  state: SessionState;
  live: LiveIteration;
  landing: Landing | null;
  owner: Session;
  left: string | null;
}

async function land(
  { trace, workspace }: Engine,
  { state, live, landing, owner, left }: LandStep,
): Promise<HeadMoved | null> {
  if (!landing || isEmpty(landing)) return null;
  const { remote } = state.control.settings;
  return act(trace, 'land', {
    perform: () => workspace.land(owner, { ...landing, taskId: live.task.id, left, remote }),
  });
}

function isEmpty({ head, name = {}, drop = [], dropBranch }: Landing): boolean {
  return head === null && Object.keys(name).length === 0 && drop.length === 0 && !dropBranch;
}

/** Where Pulse left the branch: behind, where it could not follow, or at a person's commit that was built on. */
function leftAt(
  state: SessionState,
  { live, owner, isUnit }: { live: LiveIteration; owner: Session; isUnit: boolean },
): string {
  const { iteration } = live;
  const head = headSha(state);
  if (!isUnit && iteration.start_sha !== head) return iteration.start_sha;
  return owner.branch_lags_at ?? head;
}

interface TakeBackStep {
  state: SessionState;
  live: LiveIteration;
  retry: Retry | null;
  token: number;
  isPause: boolean;
}

/** An agent that was already done is not run again: then only what follows it is. */
export async function takeBack(
  engine: Engine,
  { state, live, retry, token, isPause }: TakeBackStep,
): Promise<void> {
  const { store, trace, loops } = engine;
  const { works } = loops;
  const { session } = state;
  const isRun = live.task.result?.stage === 'ran' && retry === null && isReachable(engine, live);
  const isUnclaimed = live.task.status === 'pending';
  const reason = retry?.message ?? (isPause ? 'stopped by a person' : 'the process that ran it is gone');
  const interruption = {
    attempt: live.iteration.attempt + 1,
    recoveryRef: leftoversOf(state, live),
    reason,
  };
  const brief = isRun || isUnclaimed ? null : await composeRetryBrief(engine, { state, live, interruption });
  await act(trace, retry ? 'retry' : isPause ? 'interrupt' : 'requeue', {
    perform: () =>
      store.tx(
        'take_back',
        (db) => takeBackAttempt(db, { state, live, brief, reason, retry, isPause, token, works }),
        { session: session.id },
      ),
  });
}

/** An agent's work that is not committed yet lies in its daemon's worktree: elsewhere it cannot be finished. */
export function isReachable({ owner, owners }: Engine, { task }: LiveIteration): boolean {
  const ranBy = task.result?.ranBy;
  if (task.labels.length > 0 || ranBy === undefined) return false;
  return ranBy === owner || owners(ranBy) !== 'elsewhere';
}

/** Between the request and the daemon's stop the attempt may have come to its own end: then that end stands. */
async function takeBackAfterStop(
  engine: Engine,
  { state, token }: { state: SessionState; token: number },
): Promise<void> {
  const now = await engine.store.read((db) => loadState(db, state.session.id, engine));
  if (now.session.status !== 'running' || !now.live || now.live.task.result?.stage === 'reported') return;
  await takeBack(engine, { state: now, live: now.live, retry: null, token, isPause: true });
}
