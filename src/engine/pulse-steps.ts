/** The steps of a workflow: preflight, a pulse's run, where its commit goes, and giving it up. */
import { preflightBrief } from '../context/kickoff.ts';
import { turnFromGoal } from '../context/turns.ts';
import { isPulseError } from '../domain/errors.ts';
import { uuidv7 } from '../domain/ids.ts';
import { PREFLIGHT_UNIT, type PulseWork, setupCommands } from '../domain/workflow.ts';
import { recoveryRef } from '../git/refs.ts';
import type { HeadMoved } from '../git/session-head.ts';
import { appendEvents } from '../store/events.ts';
import { closeTask } from '../store/inbox.ts';
import { moveIteration } from '../store/iterations.ts';
import { assertStatus, purseOf, releaseSpending, updateControl, updateSession } from '../store/sessions.ts';
import { type Db, storeNow } from '../store/store.ts';
import { insertTurn } from '../store/turns.ts';
import {
  insertPreflight,
  insertPulse,
  movePulse,
  type PulsePatch,
  type PulseRow,
} from '../store/workflows.ts';
import { WORK_TOOLS } from '../tools/work/work-tools.ts';
import { act } from './actions.ts';
import { plainBrief } from './brief-again.ts';
import { PAUSED } from './decide.ts';
import { type AttemptPart, dispatchIteration } from './dispatch.ts';
import type { Engine } from './engine.ts';
import { firstRun } from './first-run.ts';
import { runLimits } from './governor.ts';
import { runIdOf } from './held-attempt.ts';
import type { LiveIteration, PulseChange, SessionState, Stop, WorkflowState } from './loop.ts';
import { endSession, stopEvent, stopSession } from './settle.ts';
import { storedTurn } from './turns.ts';

const PREFLIGHT_LIMIT_MS = 15 * 60 * 1000;
const PREFLIGHT_TOOLS = ['shell', 'record_baseline', 'preflight_done', 'report_usage'];
const PULSE_TOOLS = [
  ...WORK_TOOLS,
  'pulse_done',
  'pulse_done_result',
  'request_extension',
  'pulse_signal',
  'report_usage',
];

interface PulseStep {
  state: SessionState;
  token: number;
}

export async function dispatchPreflight(engine: Engine, { state, token }: PulseStep): Promise<void> {
  const { store, trace, ids } = engine;
  const { session, workflow } = state;
  const { id, setup_steps: steps, checks, artifacts } = workflow!.workflow;
  const isByAgent = steps === null;
  const limitMs = engine.timing.preflightLimitMs ?? PREFLIGHT_LIMIT_MS;
  const limits = runLimits(session);
  const part: AttemptPart = {
    role: 'preflight',
    tools: isByAgent ? PREFLIGHT_TOOLS : [],
    verifyOn: 'never',
    setup: steps ? setupCommands(steps) : [],
    work: { kind: 'preflight', isByAgent, checks, limitMs, artifacts },
    limits: { ...limits, hardMs: Math.min(limits.hardMs, limitMs) },
  };
  const text = isByAgent
    ? preflightBrief(checks.map(({ command }) => command))
    : 'Preflight: set up the worktree and record what is there before the first pulse.';
  await act(trace, 'dispatch', {
    perform: () =>
      store.tx(
        'dispatch',
        async (db) => {
          await insertPreflight(db, { id: `pre_${uuidv7(ids)}`, workflowId: id, channelId: session.id });
          await dispatchIteration(db, {
            state,
            unit: PREFLIGHT_UNIT,
            brief: plainBrief(text),
            token,
            ids,
            part,
            events: [{ type: 'preflight.started', data: { setup: part.setup ?? null } }],
          });
        },
        { session: session.id },
      ),
  });
}

/** A pulse's next run. Its first makes the branch; one that failed or was stopped is begun anew, in a row of its own. */
export async function dispatchPulse(
  engine: Engine,
  { state, pulse, token }: PulseStep & { pulse: PulseRow },
): Promise<void> {
  const { store, trace, ids, briefs, pulses: git } = engine;
  const { session } = state;
  const flow = state.workflow!;
  const isFirst = pulse.status !== 'running';
  const row = isFirst ? firstRun(engine, { state, flow, pulse }) : { ...pulse, runs: pulse.runs + 1 };
  const { pulse_branch: branch, start_sha: startSha } = row;
  if (isFirst) {
    await act(trace, 'open_pulse', {
      perform: () => git.open(session, { branch: branch!, at: startSha! }),
    });
  }
  const brief = await briefs.kickoff({ state, pulse: row });
  const work: PulseWork = {
    kind: 'pulse',
    pulseId: row.id,
    plannedPulseId: row.planned_pulse_id,
    baseSha: startSha!,
    checks: flow.workflow.checks,
    baseline: [],
    artifacts: flow.workflow.artifacts,
    rejections: row.rejections,
    calls: row.calls,
  };
  const part: AttemptPart = {
    role: 'pulse',
    tools: PULSE_TOOLS,
    verifyOn: 'never',
    setup: flow.workflow.setup_steps && setupCommands(flow.workflow.setup_steps),
    resume: row.agent_session_id,
    resumeUsage: row.agent_usage,
    work,
  };
  const turnId = uuidv7(ids);
  const { id: pulseId, planned_pulse_id: plannedPulseId } = row;
  const dispatched = act(trace, 'dispatch', {
    perform: () =>
      store.tx(
        'dispatch',
        async (db) => {
          await dispatchIteration(db, {
            state,
            unit: plannedPulseId,
            brief,
            token,
            ids,
            startSha: row.wip_sha ?? startSha!,
            part,
            events: isFirst
              ? [{ type: 'pulse.started', data: { pulseId, plannedPulseId, branch, title: row.title } }]
              : [],
          });
          if (isFirst) {
            await beginPulse(db, { flow, before: pulse, row, kickoffTurn: turnId });
            const turn = kickoffTurn(state, { id: turnId, text: brief.text });
            await insertTurn(db, { ...turn, content_from: 'task' });
          } else await movePulse(db, pulse, 'running', { runs: row.runs });
        },
        { session: session.id },
      ),
  });
  await dispatched.catch(async (error: unknown) => {
    // An edited plan may not have the pulse any more.
    if (isFirst && isPulseError(error, 'invalid_transition'))
      await git.giveUp(session, { ...NO_WORK, pulse: namesOf(row) });
    throw error;
  });
}

const NO_WORK = { taskId: null, work: null, reason: '', isOver: true, identity: null };

async function beginPulse(
  db: Db,
  {
    flow,
    before,
    row,
    kickoffTurn,
  }: { flow: WorkflowState; before: PulseRow; row: PulseRow; kickoffTurn: string },
): Promise<void> {
  if (before.status !== 'proposed') {
    await insertPulse(db, {
      id: row.id,
      workflowId: flow.workflow.id,
      plannedPulseId: row.planned_pulse_id,
      position: row.position,
      title: row.title,
      comments: row.comments,
    });
  }
  await movePulse(db, { id: row.id, status: 'proposed' }, 'running', {
    runs: row.runs,
    start_sha: row.start_sha,
    pulse_branch: row.pulse_branch,
    worktree_path: row.worktree_path,
    initiating_message_id: kickoffTurn,
    started_at: storeNow(),
  });
}

function kickoffTurn({ session, control }: SessionState, { id, text }: { id: string; text: string }) {
  return storedTurn(
    turnFromGoal(
      {
        id,
        parent: null,
        projectId: control.project_id,
        sessionId: session.id,
        iteration: session.current_iteration + 1,
        createdAt: '',
      },
      text,
    ),
  );
}

/** The run's commit goes where the verdict says. Each is one ref transaction, and doing it again is no error. */
export async function landPulse(
  { trace, pulses }: Engine,
  {
    state,
    live,
    change,
    commit,
  }: { state: SessionState; live: LiveIteration; change: PulseChange; commit: string | null },
): Promise<{ change: PulseChange; moved: HeadMoved | null }> {
  const { session } = state;
  const landing = { taskId: live.task.id, pulse: namesOf(change.pulse) };
  const { startSha } = landing.pulse;
  if (change.landing === 'branch') {
    const place = { from: startSha, to: commit!, left: session.branch_lags_at };
    const moved = await act(trace, 'land_pulse', {
      perform: () => pulses.land(session, { ...landing, ...place }),
    });
    return { change, moved };
  }
  if (change.landing === 'wip' && commit) {
    await act(trace, 'keep_wip', { perform: () => pulses.keepWip(session, { ...landing, to: commit }) });
  } else if (change.landing === 'recovery') {
    const work = commit ?? change.pulse.wip_sha;
    const kept = await giveUp({ trace, pulses }, { state, landing, work, change });
    return { change: { ...change, patch: { ...change.patch, ...kept } }, moved: null };
  }
  return { change, moved: null };
}

function namesOf({ planned_pulse_id: id, pulse_branch: branch, start_sha: startSha }: PulseRow) {
  return { id, branch: branch!, startSha: startSha! };
}

async function giveUp(
  { trace, pulses }: Pick<Engine, 'trace' | 'pulses'>,
  {
    state,
    landing,
    work,
    change,
  }: {
    state: SessionState;
    landing: { taskId: string | null; pulse: ReturnType<typeof namesOf> };
    work: string | null;
    change: PulseChange;
  },
) {
  const reason = String(change.patch.failure_reason ?? '');
  const { identity } = state.control.settings;
  const checkpoint = await act(trace, 'give_up_pulse', {
    perform: () => pulses.giveUp(state.session, { ...landing, work, reason, isOver: false, identity }),
  });
  if (checkpoint === null) return null;
  return checkpointed(checkpoint);
}

function checkpointed(commit: string): PulsePatch {
  return { checkpoint_commit_sha: commit, is_recovery_checkpoint: 1, wip_sha: null };
}

/** `workflow stop`: the agent has been ended; what it left is put onto the pulse's branch, and the session is paused. */
export async function abandonPulse(
  engine: Engine,
  { state, step, token }: PulseStep & { step: { live: LiveIteration; pulse: PulseRow } },
): Promise<void> {
  const { store, trace, workspace } = engine;
  const { session } = state;
  const { live, pulse } = step;
  const { iteration, task } = live;
  const leftovers = recoveryRef(session.id, iteration.iteration_number, iteration.attempt);
  const reason = 'stopped by a person';
  const change: PulseChange = {
    pulse,
    to: 'stopped',
    landing: 'recovery',
    events: [],
    patch: { failure_reason: reason, extension: null },
  };
  // A daemon that was told to stop has kept them; one that died has not.
  const held = { task, spec: task.spec, sessionId: session.id, iteration: iteration.iteration_number };
  await workspace.saveLeftovers({ ...held, runId: runIdOf(task.id, task.token) });
  const work = (await workspace.readRef(session, leftovers)) ?? pulse.wip_sha;
  const landing = { taskId: task.id, pulse: namesOf(pulse) };
  const kept = await giveUp(engine, { state, landing, work, change });
  await act(trace, 'abandon', {
    perform: () =>
      store.tx(
        'abandon',
        async (db) => {
          await assertStatus(db, session);
          const data = { pulseId: pulse.id, plannedPulseId: pulse.planned_pulse_id, reason };
          await appendEvents(
            db,
            session.id,
            [
              { type: 'pulse.stopped', iteration: iteration.iteration_number, data },
              stopEvent(PAUSED, false),
            ],
            { token },
          );
          await closeTask(db, task.id, 'cancelled');
          await moveIteration(db, iteration, 'failed', { failure_class: 'cancelled', ended_at: storeNow() });
          await movePulse(db, pulse, 'stopped', { ...change.patch, ...kept, ended_at: storeNow() });
          await releaseSpending(db, purseOf(session), task.reserved_usd);
          await updateSession(db, session.id, { resume_at: null });
          await updateControl(db, session.id, { request: null, request_actor: null });
          await stopSession(db, session, PAUSED);
        },
        { session: session.id },
      ),
  });
}

/** Between two runs: a person refused to go on with the pulse, stopped it, or has moved the workflow's branch. */
export async function giveUpPulse(
  engine: Engine,
  { state, step, token }: PulseStep & { step: { change: PulseChange; stop: Stop | null } },
): Promise<void> {
  const { store, trace } = engine;
  const { session } = state;
  const { change, stop } = step;
  const landing = { taskId: null, pulse: namesOf(change.pulse) };
  const kept = await giveUp(engine, { state, landing, work: change.pulse.wip_sha, change });
  await act(trace, 'end', {
    perform: () =>
      store.tx(
        'end',
        async (db) => {
          await assertStatus(db, session);
          await appendEvents(db, session.id, change.events, { token });
          await movePulse(db, change.pulse, change.to, { ...change.patch, ...kept, ended_at: storeNow() });
          if (stop) await endSession(db, { session, stop, token });
        },
        { session: session.id },
      ),
  });
}

/** An aborted workflow's pulse, whose row says so already: what it had is kept, and its branch goes where it had none. */
export async function clearAbortedPulse(
  { store, trace, pulses, workspace }: Engine,
  { session, control, recent, workflow }: SessionState,
): Promise<void> {
  const [last] = recent;
  const pulse = last && workflow?.pulses.findLast(({ planned_pulse_id: id }) => id === last.unit);
  if (pulse?.status !== 'stopped' || pulse.is_recovery_checkpoint) return;
  const ref = recoveryRef(session.id, last!.iteration_number, last!.attempt);
  const leftovers = await workspace.readRef(session, ref);
  const landing = { taskId: last!.inbox_task_id, pulse: namesOf(pulse) };
  const work = leftovers ?? pulse.wip_sha;
  const { identity } = control.settings;
  const reason = pulse.failure_reason ?? '';
  const checkpoint = await act(trace, 'give_up_pulse', {
    perform: () => pulses.giveUp(session, { ...landing, work, reason, isOver: true, identity }),
  });
  if (checkpoint === null) return;
  await store.tx('end', (db) => movePulse(db, pulse, 'stopped', checkpointed(checkpoint)), {
    session: session.id,
  });
}
