/** The workflow's tables as rows. */

import type { Json, JsonOrNull } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';
import type { PulseStatus } from './model.ts';

export interface WorkflowsTable {
  id: string;
  session_id: string;
  title: string;
  plan: Json;
  /** Counts the plans a person has approved. */
  plan_version: number;
  approved_at: string | null;
  approved_by: string | null;
  extensions: 'auto' | 'ask';
  /** The checks of every completion, with what preflight knew of them. */
  checks: Json;
  setup_steps: JsonOrNull;
  /** Untracked paths that preflight left. */
  artifacts: Json;
  reviewed_at: string | null;
  reviewed_by: string | null;
  merged_sha: string | null;
  created_at: string;
}

export interface PulsesTable {
  id: string;
  workflow_id: string;
  planned_pulse_id: string;
  position: number;
  title: string;
  status: PulseStatus;
  initiating_message_id: string | null;
  checkpoint_commit_sha: string | null;
  diff_artifact_id: string | null;
  description: string | null;
  pulse_branch: string | null;
  worktree_path: string | null;
  has_unresolved_issues: number;
  unresolved_issues: Json;
  is_recovery_checkpoint: number;
  failure_reason: string | null;
  /** What a person said when a review was rejected, or who retries what. */
  comments: string | null;
  start_sha: string | null;
  /** Work in progress of the runs so far. */
  wip_sha: string | null;
  runs: number;
  rejections: number;
  extensions: number;
  extension: JsonOrNull;
  calls: Json;
  agent_session_id: string | null;
  /** What the agent's own session has spent so far. */
  agent_usage: JsonOrNull;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

export interface PreflightSetupsTable {
  id: string;
  workflow_id: string;
  channel_id: string;
  status: 'running' | 'completed' | 'failed';
  progress_message: string | null;
  error_message: string | null;
  summary: string | null;
  setup_commands: Json;
  build_success: number | null;
  created_at: string;
  completed_at: string | null;
}

export interface PreflightBaselinesTable {
  id: string;
  workflow_id: string;
  command: string | null;
  issue_type: 'Error' | 'Warning';
  source: 'Build' | 'Lint' | 'Test';
  pattern: string;
  file_path: string | null;
  description: string | null;
  count: number;
  category: 'error' | 'warning' | 'flaky' | 'missing';
  recorded_at: string;
  /** The run of a preflight agent that is not over: not yet part of the baseline. */
  recorded_by: string | null;
}

export type WorkflowTables = {
  workflows: WorkflowsTable;
  pulses: PulsesTable;
  preflight_setups: PreflightSetupsTable;
  preflight_baselines: PreflightBaselinesTable;
};

/** The store, with the workflow's tables in its types. */
export function withWorkflowTables(db: Db) {
  return db.withTables<WorkflowTables>();
}
