import { uuidv7 } from '../domain/ids.ts';
import { TERMINAL_STATUSES } from '../domain/status.ts';
import type { HeadMoved } from '../git/session-head.ts';
import { appendEvents } from '../store/events.ts';
import { moveSession } from '../store/sessions.ts';
import { newestTurn } from '../store/turns.ts';
import { act } from './actions.ts';
import { composeAgain } from './brief-again.ts';
import { tellEnd } from './commander.ts';
import type { Daemon } from './daemon.ts';
import { dispatchIteration, headSha } from './dispatch.ts';
import type { Engine } from './engine.ts';
import { evictHolder } from './eviction.ts';
import type { LiveIteration, Retry, SessionState, Step } from './loop.ts';
import { meetBranch, noteBranch } from './meet-branch.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { dispatchPlan } from './plan-steps.ts';
import { abandonPulse, dispatchPreflight, dispatchPulse, giveUpPulse, landPulse } from './pulse-steps.ts';
import {
  dispatchBaseline,
  dispatchExperiment,
  hire,
  landExperiment,
  writeResearchFiles,
} from './research-steps.ts';
import { endSession, settleIteration } from './settle.ts';
import { loadState } from './state.ts';
import { leftoversOf, takeBackAttempt } from './takeback.ts';
import { turnOfRun } from './turns.ts';
import { dismissWorkers } from './workers.ts';

export interface StepContext {
  state: SessionState;
  step: Exclude<Step, { do: 'wait' } | { do: 'leave' }>;
  token: number;
  daemon: Daemon;
}

/** Does what the loop decided. Each case is one action, or a few, of the closed list. */
export async function performStep(
  engine: Engine,
  { state, step, token, daemon }: StepContext,
): Promise<void> {
  const { trace, store } = engine;
  const scope = { session: state.session.id };
  switch (step.do) {
    case 'start':
      return start(engine, state, token);
    case 'agent': {
      const brief = await compose(engine, state, step);
      const { ids } = engine;
      return act(trace, 'dispatch', {
        perform: () =>
          store.tx(
            'dispatch',
            (db) => dispatchIteration(db, { state, unit: step.unit, brief, token, ids }),
            scope,
          ),
      });
    }
    case 'baseline':
      return dispatchBaseline(engine, { state, token });
    case 'experiment':
      return dispatchExperiment(engine, { state, experiment: step.experiment, token });
    case 'hire':
      return hire(engine, { state, count: step.count, token });
    case 'plan':
      return dispatchPlan(engine, { state, token });
    case 'preflight':
      return dispatchPreflight(engine, { state, token });
    case 'pulse':
      return dispatchPulse(engine, { state, pulse: step.pulse, token });
    case 'give_up':
      return giveUpPulse(engine, { state, step, token });
    case 'abandon':
      await daemon.interrupt('stopped');
      return abandonAfterStop(engine, { state, token });
    case 'settle': {
      const perform = () => settle(engine, { state, step, token });
      // What several sessions push forward is settled by one after the other.
      return state.research ? oneAtATime(engine, state.research.lead.id, perform) : perform();
    }
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
        perform: () =>
          store.tx(
            'end',
            async (db) => {
              if (
                state.research?.lead.id === state.session.id &&
                TERMINAL_STATUSES.includes(step.stop.status)
              )
                await dismissWorkers(db, state);
              await endSession(db, { session: state.session, stop: step.stop, token });
              await tellEnd(db, state, step.stop);
            },
            scope,
          ),
      });
  }
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

function compose(
  { briefs }: Engine,
  state: SessionState,
  { isDiagnostic, asksConfirmation }: { isDiagnostic: boolean; asksConfirmation: boolean },
) {
  const { session, control, recent } = state;
  return briefs.compose({
    session,
    control,
    recent,
    iteration: session.current_iteration + 1,
    attempt: 1,
    recoveryRef: null,
    interruption: null,
    isDiagnostic,
    asksConfirmation,
  });
}

async function settle(
  engine: Engine,
  { state, step, token }: { state: SessionState; step: Extract<Step, { do: 'settle' }>; token: number },
): Promise<void> {
  const { store, trace, clock, ids } = engine;
  const { live, result } = step;
  const { commit } = result;
  let { verdict } = step;
  let moved: HeadMoved | null = null;
  if (verdict.pulse) {
    const landed = await landPulse(engine, { state, live, change: verdict.pulse, commit });
    verdict = { ...verdict, pulse: landed.change };
    moved = landed.moved;
  } else if (verdict.experiment) {
    const landed = await landExperiment(engine, { state, live, change: verdict.experiment, commit });
    if (landed === 'overtaken') return;
    moved = landed;
  } else if (commit) moved = await advance(engine, { state, live, commit });
  if (moved?.is === 'ahead') return meetBranch(engine, { state, live, result, onto: moved.at, token });
  const owner = state.research?.lead ?? state.session;
  const lag = moved?.lag ?? null;
  await act(trace, 'settle', {
    perform: () =>
      store.tx(
        'settle',
        async (db) => {
          if (moved && commit) await noteBranch(db, owner, { lag, left: leftAt(state, live), head: commit });
          const parent = await newestTurn(db, { sessionId: state.session.id });
          const turn = turnOfRun({ id: uuidv7(ids), state, live, result, verdict, parent });
          const nowMs = clock.nowMs();
          await settleIteration(db, { state, live, result, verdict, turn, token, nowMs, ids });
        },
        { session: state.session.id },
      ),
  });
  if (state.research) await writeResearchFiles(engine, state.research.lead.id);
}

function advance(
  { trace, workspace }: Engine,
  { state, live, commit }: { state: SessionState; live: LiveIteration; commit: string },
): Promise<HeadMoved> {
  const { session, control } = state;
  const move = { from: headSha(state), to: commit, left: leftAt(state, live) };
  const { remote } = control.settings;
  return act(trace, 'advance_ref', {
    perform: () => workspace.advance(session, { taskId: live.task.id, ...move, remote }),
  });
}

/** Where Pulse left the branch: behind, where it could not follow, or at a person's commit that was built on. */
function leftAt(state: SessionState, { iteration, task }: LiveIteration): string {
  const isUnit = task.spec.work !== null && task.spec.work !== undefined;
  const head = headSha(state);
  if (!isUnit && iteration.start_sha !== head) return iteration.start_sha;
  return (state.research?.lead ?? state.session).branch_lags_at ?? head;
}

interface TakeBackStep {
  state: SessionState;
  live: LiveIteration;
  retry: Retry | null;
  token: number;
  isPause: boolean;
}

/** An agent that was already done is not run again: then only what follows it is. */
async function takeBack(engine: Engine, { state, live, retry, token, isPause }: TakeBackStep): Promise<void> {
  const { store, briefs, trace } = engine;
  const { session } = state;
  const isRun = live.task.result?.stage === 'ran' && retry === null && isReachable(engine, live);
  const isUnclaimed = live.task.status === 'pending';
  const reason = retry?.message ?? (isPause ? 'stopped by a person' : 'the process that ran it is gone');
  const brief =
    isRun || isUnclaimed
      ? null
      : await composeAgain(
          briefs,
          { state, live },
          { attempt: live.iteration.attempt + 1, recoveryRef: leftoversOf(state, live), reason },
        );
  await act(trace, retry ? 'retry' : isPause ? 'interrupt' : 'requeue', {
    perform: () =>
      store.tx(
        'take_back',
        (db) => takeBackAttempt(db, { state, live, brief, reason, retry, isPause, token }),
        { session: session.id },
      ),
  });
}

/** An agent's work that is not committed yet lies in its daemon's worktree: elsewhere it cannot be finished. */
function isReachable({ owner, owners }: Engine, { task }: LiveIteration): boolean {
  const ranBy = task.result?.ranBy;
  if (task.labels.length > 0 || ranBy === undefined) return false;
  return ranBy === owner || owners(ranBy) !== 'elsewhere';
}

/** As below: a result that was reported meanwhile is judged. An accepted pulse is not given up: the resume lands it. */
async function abandonAfterStop(
  engine: Engine,
  { state, token }: { state: SessionState; token: number },
): Promise<void> {
  const now = await engine.store.read((db) => loadState(db, state.session.id, engine));
  const { live, workflow } = now;
  const pulse = workflow?.pulses.find(({ status }) => status === 'running');
  if (now.session.status !== 'running' || !live || !pulse || live.task.result?.stage === 'reported') return;
  if (live.lease === 'lost') await evictHolder(engine, live.task.lease_owner);
  if (live.task.result?.run?.completion && isReachable(engine, live))
    return takeBack(engine, { state: now, live, retry: null, token, isPause: true });
  return abandonPulse(engine, { state: now, step: { live, pulse }, token });
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
