/** Gives up a pulse: its work is put onto its own branch, as a recovery checkpoint. */
import { act } from '../../engine/actions.ts';
import { runIdOf } from '../../engine/attempt/held-attempt.ts';
import type { Engine } from '../../engine/engine.ts';
import type { HostStep, LiveIteration, SessionState, Settling, Verdict } from '../../engine/loop.ts';
import { evictHolder } from '../../engine/runner/eviction.ts';
import { cancelAttempt } from '../../engine/runner/requeue.ts';
import { endSession, PAUSED } from '../../engine/runner/settle.ts';
import { loadState } from '../../engine/runner/state.ts';
import { isReachable, takeBack } from '../../engine/runner/steps.ts';
import { recoveryRef } from '../../git/refs.ts';
import { appendEvents } from '../../store/events.ts';
import { assertStatus } from '../../store/sessions.ts';
import { storeNow } from '../../store/store.ts';
import type { GiveUp } from './decide.ts';
import { pulseChange } from './pulse-changes.ts';
import type { PulseWorktree } from './pulse-worktree.ts';
import { movePulse, type PulsePatch, type PulseRow } from './rows.ts';
import { runningPulse, type WorkflowState } from './state.ts';
import { readRun } from './work-data.ts';

type State = SessionState<WorkflowState>;

/** What its own branch has from now on. */
function checkpointed(commit: string | null): PulsePatch {
  return commit === null ? {} : { checkpoint_commit_sha: commit, is_recovery_checkpoint: 1, wip_sha: null };
}

interface Ending {
  pulse: PulseRow;
  taskId: string | null;
  work: string | null;
  reason: string;
  /** Its workflow is over, too: a branch without work goes. */
  isOver?: boolean;
}

/** Returns the checkpoint; `null` where the pulse has no work. */
function keepCheckpoint(
  { trace }: Engine,
  worktree: PulseWorktree,
  { state, ending }: { state: State; ending: Ending },
): Promise<string | null> {
  const { identity } = state.control.settings;
  return act(trace, 'give_up_pulse', {
    perform: () => worktree.giveUp(state.session, { isOver: false, ...ending, identity }),
  });
}

/** The verdict with what giving the pulse up left; the rest is as it was judged. */
export async function giveUpBeforeSettle(
  engine: Engine,
  worktree: PulseWorktree,
  { state, live, result, verdict }: Settling<WorkflowState>,
): Promise<Verdict> {
  const change = pulseChange(verdict);
  if (!change?.isGivenUp) return verdict;
  const { pulse, patch } = change;
  const work = result.commit ?? pulse.wip_sha;
  const reason = String(patch.failure_reason ?? '');
  const ending = { pulse, taskId: live.task.id, work, reason };
  const kept = checkpointed(await keepCheckpoint(engine, worktree, { state, ending }));
  return { ...verdict, change: { pulse: { ...change, patch: { ...patch, ...kept } } } };
}

/** Between two runs: a person refused to continue the pulse, stopped it, or has moved the workflow's branch. */
export async function giveUpPulse(
  engine: Engine,
  worktree: PulseWorktree,
  { state, token, data }: Omit<HostStep<WorkflowState>, 'data'> & { data: GiveUp },
): Promise<void> {
  const { session } = state;
  const { change, stop } = data;
  const { pulse, patch } = change;
  const reason = String(patch.failure_reason ?? '');
  const ending = { pulse, taskId: null, work: pulse.wip_sha, reason };
  const kept = checkpointed(await keepCheckpoint(engine, worktree, { state, ending }));
  await act(engine.trace, 'end', {
    perform: () =>
      engine.store.tx(
        'end',
        async (db) => {
          await assertStatus(db, session);
          await appendEvents(db, session.id, change.events, { token });
          await movePulse(db, pulse, change.to, { ...patch, ...kept, ended_at: storeNow() });
          if (stop) await endSession(db, { session, stop, token });
        },
        { session: session.id },
      ),
  });
}

/**
 * `workflow stop`: the agent is ended. A result that was reported meanwhile is judged. An accepted pulse is not given up:
 * the resume lands it.
 */
export async function abandonPulse(
  engine: Engine,
  worktree: PulseWorktree,
  { state, token, daemon }: HostStep<WorkflowState>,
): Promise<void> {
  await daemon.interrupt('stopped');
  const now = (await engine.store.read((db) => loadState(db, state.session.id, engine))) as State;
  const { live } = now;
  const pulse = runningPulse(now.own);
  if (now.session.status !== 'running' || !live || !pulse || live.task.result?.stage === 'reported') return;
  if (live.lease === 'lost') await evictHolder(engine, live.task.lease_owner);
  const { result } = live.task;
  if (result && readRun(result).completion && isReachable(engine, live))
    return takeBack(engine, { state: now, live, retry: null, token, isPause: true });
  return stopPulse(engine, worktree, { state: now, live, pulse, token });
}

interface StoppedPulse {
  state: State;
  live: LiveIteration;
  pulse: PulseRow;
  token: number;
}

/** What the agent left is put onto the pulse's branch, and the session is paused. */
async function stopPulse(
  engine: Engine,
  worktree: PulseWorktree,
  { state, live, pulse, token }: StoppedPulse,
): Promise<void> {
  const { store, trace, workspace } = engine;
  const { session } = state;
  const { iteration, task } = live;
  const leftovers = recoveryRef(session.id, iteration.iteration_number, iteration.attempt);
  const reason = 'stopped by a person';
  // A daemon that was told to stop has kept them; one that died has not.
  const held = { task, spec: task.spec, sessionId: session.id, iteration: iteration.iteration_number };
  await workspace.saveLeftovers({ ...held, runId: runIdOf(task.id, task.token) });
  const work = (await workspace.readRef(session, leftovers)) ?? pulse.wip_sha;
  const ending = { pulse, taskId: task.id, work, reason };
  const kept = checkpointed(await keepCheckpoint(engine, worktree, { state, ending }));
  const data = { pulseId: pulse.id, plannedPulseId: pulse.planned_pulse_id, reason };
  await act(trace, 'abandon', {
    perform: () =>
      store.tx(
        'abandon',
        async (db) => {
          const events = [{ type: 'pulse.stopped' as const, data }];
          await cancelAttempt(db, { state, live, token, stop: PAUSED, events });
          const patch = { failure_reason: reason, extension: null, ended_at: storeNow() };
          await movePulse(db, pulse, 'stopped', { ...patch, ...kept });
        },
        { session: session.id },
      ),
  });
}

/** An aborted workflow's pulse, whose row says so already: what it had is kept, and its branch goes where it had none. */
export async function clearAbortedPulse(
  engine: Engine,
  worktree: PulseWorktree,
  state: State,
): Promise<void> {
  const { session, recent, own } = state;
  const [last] = recent;
  const pulse = last && own.pulses.findLast(({ planned_pulse_id: id }) => id === last.unit);
  if (session.status !== 'aborted' || pulse?.status !== 'stopped' || pulse.is_recovery_checkpoint) return;
  const ref = recoveryRef(session.id, last!.iteration_number, last!.attempt);
  const leftovers = await engine.workspace.readRef(session, ref);
  const ending: Ending = {
    pulse,
    taskId: last!.inbox_task_id,
    work: leftovers ?? pulse.wip_sha,
    reason: pulse.failure_reason ?? '',
    isOver: true,
  };
  const checkpoint = await keepCheckpoint(engine, worktree, { state, ending });
  if (checkpoint === null) return;
  await engine.store.tx('end', (db) => movePulse(db, pulse, 'stopped', checkpointed(checkpoint)), {
    session: session.id,
  });
}
