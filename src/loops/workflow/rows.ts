/** `workflows`, `pulses` and preflight's rows. A pulse's status changes through `movePulse` alone. */
import type { Selectable, UpdateObject } from 'kysely';
import type { Usage } from '../../domain/attempt.ts';
import { PulseError } from '../../domain/errors.ts';
import { type Db, fromJson, storeNow, toJson } from '../../store/store.ts';
import {
  type Check,
  type Extension,
  type PulseStatus,
  type SetupStep,
  type ToolCall,
  transitionPulse,
  type UnresolvedIssue,
} from './model.ts';
import type { Plan } from './plan.ts';
import {
  type PreflightSetupsTable,
  type PulsesTable,
  type WorkflowsTable,
  type WorkflowTables,
  withWorkflowTables,
} from './tables.ts';

type WorkflowColumns = Omit<Selectable<WorkflowsTable>, 'plan' | 'checks' | 'setup_steps' | 'artifacts'>;
export interface Workflow extends WorkflowColumns {
  plan: Plan;
  checks: Check[];
  /** `null`: not known yet. */
  setup_steps: SetupStep[] | null;
  artifacts: string[];
}

type PulseColumns = Omit<
  Selectable<PulsesTable>,
  'unresolved_issues' | 'extension' | 'calls' | 'agent_usage'
>;
export interface PulseRow extends PulseColumns {
  unresolved_issues: UnresolvedIssue[];
  extension: Extension | null;
  calls: ToolCall[];
  agent_usage: Usage | null;
}

export interface PreflightSetup extends Omit<Selectable<PreflightSetupsTable>, 'setup_commands'> {
  setup_commands: string[];
}

export interface NewWorkflow {
  id: string;
  sessionId: string;
  plan: Plan;
  checks: readonly Check[];
  setupSteps: readonly SetupStep[] | null;
  extensions: 'auto' | 'ask';
}

export async function insertWorkflow(db: Db, workflow: NewWorkflow): Promise<void> {
  await withWorkflowTables(db)
    .insertInto('workflows')
    .values({
      id: workflow.id,
      session_id: workflow.sessionId,
      title: workflow.plan.title,
      plan: toJson(workflow.plan),
      plan_version: 0,
      approved_at: null,
      approved_by: null,
      extensions: workflow.extensions,
      checks: toJson(workflow.checks),
      setup_steps: workflow.setupSteps && toJson(workflow.setupSteps),
      artifacts: '[]',
      reviewed_at: null,
      reviewed_by: null,
      merged_sha: null,
      created_at: storeNow(),
    })
    .execute();
}

export async function findWorkflow(db: Db, sessionId: string): Promise<Workflow | null> {
  const row = await withWorkflowTables(db)
    .selectFrom('workflows')
    .selectAll()
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  if (!row) return null;
  return {
    ...row,
    plan: fromJson<Plan>(row.plan),
    checks: fromJson<Check[]>(row.checks),
    setup_steps: row.setup_steps === null ? null : fromJson<SetupStep[]>(row.setup_steps),
    artifacts: fromJson<string[]>(row.artifacts),
  };
}

export async function updateWorkflow(
  db: Db,
  id: string,
  patch: Omit<UpdateObject<WorkflowTables, 'workflows'>, 'id' | 'session_id'>,
): Promise<void> {
  await withWorkflowTables(db).updateTable('workflows').set(patch).where('id', '=', id).execute();
}

export interface NewPulse {
  id: string;
  workflowId: string;
  plannedPulseId: string;
  position: number;
  title: string;
  comments?: string | null;
}

export async function insertPulse(db: Db, pulse: NewPulse): Promise<void> {
  await withWorkflowTables(db)
    .insertInto('pulses')
    .values({
      id: pulse.id,
      workflow_id: pulse.workflowId,
      planned_pulse_id: pulse.plannedPulseId,
      position: pulse.position,
      title: pulse.title,
      status: 'proposed',
      initiating_message_id: null,
      checkpoint_commit_sha: null,
      diff_artifact_id: null,
      description: null,
      pulse_branch: null,
      worktree_path: null,
      has_unresolved_issues: 0,
      unresolved_issues: '[]',
      is_recovery_checkpoint: 0,
      failure_reason: null,
      comments: pulse.comments ?? null,
      start_sha: null,
      wip_sha: null,
      runs: 0,
      rejections: 0,
      extensions: 0,
      extension: null,
      calls: '[]',
      agent_session_id: null,
      agent_usage: null,
      created_at: storeNow(),
      started_at: null,
      ended_at: null,
    })
    .execute();
}

/** In the order in which they were put into the queue. */
export async function listPulses(db: Db, workflowId: string): Promise<PulseRow[]> {
  const rows = await withWorkflowTables(db)
    .selectFrom('pulses')
    .selectAll()
    .where('workflow_id', '=', workflowId)
    .orderBy('position')
    .execute();
  return rows.map((row) => ({
    ...row,
    unresolved_issues: fromJson<UnresolvedIssue[]>(row.unresolved_issues),
    extension: row.extension === null ? null : fromJson<Extension>(row.extension),
    calls: fromJson<ToolCall[]>(row.calls),
    agent_usage: row.agent_usage === null ? null : fromJson<Usage>(row.agent_usage),
  }));
}

export type PulsePatch = Omit<UpdateObject<WorkflowTables, 'pulses'>, 'id' | 'status' | 'workflow_id'>;

/**
 * From the status that the caller has seen; throws `invalid_transition` where the pulse is gone or has moved on
 * meanwhile, as after an edit of the plan. A second running pulse of one workflow breaks the unique index.
 */
export async function movePulse(
  db: Db,
  { id, status }: Pick<PulseRow, 'id' | 'status'>,
  to: PulseStatus,
  patch: PulsePatch = {},
): Promise<void> {
  const moved = await withWorkflowTables(db)
    .updateTable('pulses')
    .set({ ...patch, status: status === to ? to : transitionPulse(status, to) })
    .where('id', '=', id)
    .where('status', '=', status)
    .returning('id')
    .executeTakeFirst();
  if (moved) return;
  throw new PulseError('invalid_transition', `The pulse ${id} is no longer ${status}.`, {
    hint: 'Look again: its plan was edited, or another process has continued it.',
    data: { pulse: id, from: status, to },
  });
}

/** One more, durable before it is told: the count decides when the hatch is revealed. Returns the new count. */
export async function countRejection(db: Db, pulseId: string): Promise<number> {
  const row = await withWorkflowTables(db)
    .updateTable('pulses')
    .set((eb) => ({ rejections: eb('rejections', '+', 1) }))
    .where('id', '=', pulseId)
    .returning('rejections')
    .executeTakeFirstOrThrow();
  return row.rejections;
}

/** Of these only the ones that have not been started. */
export async function removeProposedPulses(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await withWorkflowTables(db)
    .deleteFrom('pulses')
    .where('id', 'in', ids)
    .where('status', '=', 'proposed')
    .execute();
}

export async function insertPreflight(
  db: Db,
  { id, workflowId, channelId }: { id: string; workflowId: string; channelId: string },
): Promise<void> {
  await withWorkflowTables(db)
    .insertInto('preflight_setups')
    .values({
      id,
      workflow_id: workflowId,
      channel_id: channelId,
      status: 'running',
      progress_message: null,
      error_message: null,
      summary: null,
      setup_commands: '[]',
      build_success: null,
      created_at: storeNow(),
      completed_at: null,
    })
    .onConflict((conflict) =>
      conflict
        .column('workflow_id')
        .doUpdateSet({ status: 'running', progress_message: null, error_message: null, completed_at: null }),
    )
    .execute();
}

/** What it does in this moment. */
export async function recordProgress(db: Db, sessionId: string, message: string): Promise<void> {
  await withWorkflowTables(db)
    .updateTable('preflight_setups')
    .set({ progress_message: message })
    .where('channel_id', '=', sessionId)
    .execute();
}

export async function findPreflight(db: Db, workflowId: string): Promise<PreflightSetup | null> {
  const row = await withWorkflowTables(db)
    .selectFrom('preflight_setups')
    .selectAll()
    .where('workflow_id', '=', workflowId)
    .executeTakeFirst();
  return row ? { ...row, setup_commands: fromJson<string[]>(row.setup_commands) } : null;
}

export async function endPreflight(
  db: Db,
  workflowId: string,
  end: {
    status: 'completed' | 'failed';
    error: string | null;
    summary: string;
    commands: string[];
    builds: boolean;
  },
): Promise<void> {
  await withWorkflowTables(db)
    .updateTable('preflight_setups')
    .set({
      status: end.status,
      progress_message: null,
      error_message: end.error,
      summary: end.summary,
      setup_commands: toJson(end.commands),
      build_success: end.builds ? 1 : 0,
      completed_at: storeNow(),
    })
    .where('workflow_id', '=', workflowId)
    .execute();
}

/** The workflow's next step is preflight again. */
export async function restartPreflight(db: Db, workflowId: string): Promise<void> {
  await withWorkflowTables(db)
    .updateTable('preflight_setups')
    .set({ status: 'running', completed_at: null })
    .where('workflow_id', '=', workflowId)
    .execute();
}
