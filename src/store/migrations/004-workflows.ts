import type { ColumnTypes } from './types.ts';

/** The workflow of pulses: its public fields, and the machinery beside them. */
export function workflowsMigration({ json }: ColumnTypes): string[] {
  return [
    `CREATE TABLE workflows (
      id text PRIMARY KEY,
      session_id text NOT NULL UNIQUE REFERENCES pulse_sessions (id),
      title text NOT NULL,
      plan ${json} NOT NULL,
      plan_version integer NOT NULL,
      approved_at text,
      approved_by text,
      extensions text NOT NULL CHECK (extensions IN ('auto','ask')),
      checks ${json} NOT NULL,
      setup_steps ${json},
      artifacts ${json} NOT NULL,
      reviewed_at text,
      reviewed_by text,
      merged_sha text,
      created_at text NOT NULL
    )`,

    `CREATE TABLE pulses (
      id text PRIMARY KEY,
      workflow_id text NOT NULL REFERENCES workflows (id),
      planned_pulse_id text NOT NULL,
      position integer NOT NULL,
      title text NOT NULL,
      status text NOT NULL CHECK (status IN ('proposed','running','succeeded','failed','stopped')),
      initiating_message_id text,
      checkpoint_commit_sha text,
      diff_artifact_id text,
      description text,
      pulse_branch text,
      worktree_path text,
      has_unresolved_issues integer NOT NULL,
      unresolved_issues ${json} NOT NULL,
      is_recovery_checkpoint integer NOT NULL,
      failure_reason text,
      comments text,
      start_sha text,
      wip_sha text,
      runs integer NOT NULL,
      rejections integer NOT NULL,
      extensions integer NOT NULL,
      extension ${json},
      calls ${json} NOT NULL,
      agent_session_id text,
      agent_usage ${json},
      created_at text NOT NULL,
      started_at text,
      ended_at text
    )`,
    `CREATE INDEX pulses_by_workflow ON pulses (workflow_id, position)`,
    `CREATE UNIQUE INDEX one_running_pulse ON pulses (workflow_id) WHERE status = 'running'`,

    `CREATE TABLE preflight_setups (
      id text PRIMARY KEY,
      workflow_id text NOT NULL UNIQUE REFERENCES workflows (id),
      channel_id text NOT NULL,
      status text NOT NULL CHECK (status IN ('running','completed','failed')),
      progress_message text,
      error_message text,
      summary text,
      setup_commands ${json} NOT NULL,
      build_success integer,
      created_at text NOT NULL,
      completed_at text
    )`,

    `CREATE TABLE preflight_baselines (
      id text PRIMARY KEY,
      workflow_id text NOT NULL REFERENCES workflows (id),
      command text,
      issue_type text NOT NULL CHECK (issue_type IN ('Error','Warning')),
      source text NOT NULL CHECK (source IN ('Build','Lint','Test')),
      pattern text NOT NULL,
      file_path text,
      description text,
      count integer NOT NULL,
      category text NOT NULL CHECK (category IN ('error','warning','flaky','missing')),
      recorded_at text NOT NULL
    )`,
    'CREATE INDEX preflight_baselines_by_workflow ON preflight_baselines (workflow_id)',
  ];
}
