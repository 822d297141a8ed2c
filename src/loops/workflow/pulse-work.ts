/** A pulse's run: dispatched on its branch, judged while its agent waits, one commit however many runs it takes. */

import { turnFromGoal } from '../../context/turns.ts';
import { isPulseError } from '../../domain/errors.ts';
import { uuidv7 } from '../../domain/ids.ts';
import { act } from '../../engine/actions.ts';
import type { Engine } from '../../engine/engine.ts';
import type { SessionState } from '../../engine/loop.ts';
import { describeInterruption, plainBrief } from '../../engine/runner/plain-brief.ts';
import { storedTurn } from '../../engine/runner/turns.ts';
import type { PlannedRun, WorkKind, WorkRequest } from '../../engine/work.ts';
import { type Db, storeNow } from '../../store/store.ts';
import { insertTurn } from '../../store/turns.ts';
import { WORK_TOOLS } from '../../tools/work/work-tools.ts';
import { listBaseline } from './baseline-rows.ts';
import type { PulseRequest } from './decide.ts';
import type { ComposeKickoff } from './kickoff-brief.ts';
import { setupCommands } from './model.ts';
import { newPulseRow } from './new-pulse-row.ts';
import { createPulseProtocol } from './pulse-protocol.ts';
import type { PulseWorktree } from './pulse-worktree.ts';
import { insertPulse, movePulse, type PulseRow } from './rows.ts';
import { PLAN_UNIT, type WorkflowState } from './state.ts';
import { withWorkflowTables } from './tables.ts';
import { type PulseWork, pulseWorkSchema, type WorkflowRun } from './work-data.ts';

const PULSE_TOOLS = [
  ...WORK_TOOLS,
  'pulse_done',
  'pulse_done_result',
  'request_extension',
  'pulse_signal',
  'report_usage',
];

export interface PulseWorkOptions {
  worktree: PulseWorktree;
  composeKickoff: ComposeKickoff;
}

export function createPulseWork({ worktree, composeKickoff }: PulseWorkOptions): WorkKind<PulseWork> {
  return {
    kind: 'pulse',
    read: (stored) => pulseWorkSchema.parse(stored),
    plan: (engine, request) => planPulse(engine, request, { worktree, composeKickoff }),
    async composeRetryBrief(_, { state, live, work, interruption }) {
      const { pulses } = (state as SessionState<WorkflowState>).own;
      const pulse = pulses.find(({ id }) => id === work.pulseId);
      if (!pulse) return plainBrief(live.task.task_content);
      return composeKickoff({ state, pulse, interruption: describeInterruption(interruption) });
    },
    git: ({ baseSha, artifacts, plannedPulseId }, { startSha }) => ({
      parent: baseSha,
      keepOut: artifacts,
      // Its first run finds the worktree as the workflow's branch is.
      beginsClean: baseSha === startSha,
      isUnit: true,
      trailers: { 'Pulse-Pulse': plannedPulseId },
    }),
    /** A pulse's summary is its commit's message; until it is done, its work is in progress. */
    message({ work, iteration, result }) {
      const { completion } = (result.run?.own ?? {}) as WorkflowRun;
      if (!completion) return { subject: `wip: ${work.plannedPulseId}, iteration ${iteration}` };
      const [subject = '', ...rest] = completion.summary.trim().split('\n');
      return { subject, body: rest.join('\n').trim() || undefined };
    },
    /** The baseline is no part of the row: there it would be the largest, once for every run. */
    async load(db, work) {
      // One that was dispatched by version 0.1 has it in its row.
      return work.baseline.length > 0 ? work : { ...work, baseline: await baselineOf(db, work) };
    },
    carryOver(state, work) {
      const { pulses } = (state as SessionState<WorkflowState>).own;
      const row = pulses.find(({ id }) => id === work.pulseId);
      return { ...work, rejections: row?.rejections ?? work.rejections };
    },
    protocol: (run) => createPulseProtocol({ ...run, worktree }),
    /** The next run is told what this one asked for. */
    keptOwn: (own) => ({ extension: (own as WorkflowRun | undefined)?.extension ?? null }),
  };
}

async function baselineOf(db: Db, { pulseId }: PulseWork) {
  const pulse = await withWorkflowTables(db)
    .selectFrom('pulses')
    .select('workflow_id')
    .where('id', '=', pulseId)
    .executeTakeFirst();
  return pulse ? listBaseline(db, pulse.workflow_id) : [];
}

/** A pulse's next run. Its first makes the branch; one that failed or was stopped is begun again, in a row of its own. */
async function planPulse(
  { trace, ids }: Engine,
  { state, data }: WorkRequest<WorkflowState, PulseRequest>,
  { worktree, composeKickoff }: PulseWorkOptions,
): Promise<PlannedRun> {
  const { session, own: flow } = state;
  const { pulse } = data;
  const isFirst = pulse.status !== 'running';
  const row = isFirst ? newPulseRow(ids, { state, pulse }) : { ...pulse, runs: pulse.runs + 1 };
  const { pulse_branch: branch, start_sha: startSha } = row;
  if (isFirst) {
    await act(trace, 'open_pulse', {
      perform: () => worktree.open(session, { branch: branch!, at: startSha! }),
    });
  }
  const brief = await composeKickoff({ state, pulse: row });
  const { id: pulseId, planned_pulse_id: plannedPulseId, title } = row;
  const work: PulseWork = {
    kind: 'pulse',
    pulseId,
    plannedPulseId,
    baseSha: startSha!,
    checks: flow.workflow.checks,
    ...checksBaseOf(flow, row),
    ...(isChangingChecks(flow, plannedPulseId) ? { changesChecks: true } : {}),
    ...(isLastOf(flow, plannedPulseId) ? { isLast: true } : {}),
    baseline: [],
    artifacts: flow.workflow.artifacts,
    rejections: row.rejections,
    calls: row.calls,
  };
  const turnId = uuidv7(ids);
  return {
    unit: plannedPulseId,
    brief,
    startSha: row.wip_sha ?? startSha!,
    recoversLast: state.recent[0]?.unit === PLAN_UNIT,
    part: {
      role: 'pulse',
      tools: PULSE_TOOLS,
      verifyOn: 'never',
      setup: flow.workflow.setup_steps && setupCommands(flow.workflow.setup_steps),
      resume: row.agent_session_id,
      resumeUsage: row.agent_usage,
      work,
    },
    events: isFirst ? [{ type: 'pulse.started', data: { pulseId, plannedPulseId, branch, title } }] : [],
    async write(db) {
      if (!isFirst) return movePulse(db, pulse, 'running', { runs: row.runs });
      await beginPulse(db, { flow, before: pulse, row, kickoffTurn: turnId });
      const turn = kickoffTurn(state, { id: turnId, text: brief.text });
      await insertTurn(db, { ...turn, content_from: 'task' });
    },
    async undo(error) {
      // An edited plan may no longer have the pulse.
      if (isFirst && isPulseError(error, 'invalid_transition')) await worktree.drop(session, row);
    },
  };
}

/** An earlier try of this pulse landed, and a person rejected what it did to the checks. */
function checksBaseOf({ pulses }: WorkflowState, row: PulseRow): { checksBaseSha?: string } {
  const rejected = pulses.find(
    ({ id, planned_pulse_id, status }) =>
      id !== row.id && planned_pulse_id === row.planned_pulse_id && status === 'succeeded',
  );
  return rejected?.start_sha ? { checksBaseSha: rejected.start_sha } : {};
}

function isChangingChecks({ workflow }: WorkflowState, plannedId: string): boolean {
  return workflow.plan.pulses.find(({ id }) => id === plannedId)?.changesChecks ?? false;
}

function isLastOf({ workflow, pulses }: WorkflowState, plannedId: string): boolean {
  const done = new Set(
    pulses.filter(({ status }) => status === 'succeeded').map(({ planned_pulse_id: id }) => id),
  );
  return workflow.plan.pulses.every(({ id }) => id === plannedId || done.has(id));
}

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
