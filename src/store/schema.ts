/** The tables as rows. Names of public columns are part of the protocol; machinery lives in `session_controls`. */
import type { ColumnType, Generated } from 'kysely';
import type { FailureClass } from '../domain/failures.ts';
import type { IterationOutcome, IterationStatus, SessionStatus, StopReason } from '../domain/status.ts';
import type { PulseStatus } from '../domain/workflow.ts';
import type {
  CommanderCommentsTable,
  CommanderMessagesTable,
  CommanderOutboxTable,
  CommanderTasksTable,
} from './commander-schema.ts';
import type { PacksTable, TurnsTable } from './texts-schema.ts';

/** JSON columns are text in SQLite and jsonb in PostgreSQL; they are written as text and decoded on reading. */
type Json = ColumnType<unknown, string, string>;
type JsonOrNull = ColumnType<unknown, string | null, string | null>;

export interface SessionsTable {
  id: string;
  kind: string;
  project_name: string;
  project_path: string;
  goal: string;
  max_iterations: number;
  current_iteration: number;
  status: SessionStatus;
  last_signal: string | null;
  progress_log: Json;
  anchor_turn_id: string | null;
  branch_name: string;
  /** Where Pulse left the branch when it could not follow the session's head; `null`: it follows. */
  branch_lags_at: string | null;
  /** Of an unfinished session no other of the project has the branch. `null`: admitted before that was so. */
  branch_of: string | null;
  base_branch: string | null;
  base_sha: string;
  worktree_path: string;
  agent: string;
  command: string | null;
  setup: JsonOrNull;
  verify: Json;
  budget_usd: number | null;
  budget_tokens: number | null;
  time_limit_ms: number | null;
  iteration_timeout_ms: number;
  idle_timeout_ms: number | null;
  spent_usd: number;
  reserved_usd: number;
  running_ms: number;
  total_commits: number;
  total_tokens_used: number;
  stop_reason: StopReason | null;
  blocked_reason: string | null;
  resume_at: string | null;
  chat_id: string | null;
  phone_number: string | null;
  discord_thread_id: string | null;
  parent_session_id: string | null;
  created_by: string;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

export interface SessionControlsTable {
  session_id: string;
  project_id: string;
  settings: Json;
  /** The runner's lease: who drives the session. `token` fences whoever drove it before. */
  lease_owner: string | null;
  lease_until: string | null;
  token: number;
  event_seq: number;
  request: string | null;
  request_actor: string | null;
  /** A person's answer that the next brief quotes. */
  answer: string | null;
  counters: Json;
  /** Windows (stagnation, rejections in a row) begin after this iteration: a resume opens new ones. */
  window_from: number;
  /** The commit the next attempt starts from; `null` before the first commit. */
  head_sha: string | null;
  /** The host whose worktree is prepared for this session, where daemons run its attempts. */
  daemon_host: string | null;
  /** The `serve` that has the session in hand: its state directory's id. */
  served_by: string | null;
  /** How many of its iterations have an outcome. */
  settled_iterations: Generated<number>;
  /** When its texts were packed; `null`: they are not, or not all. */
  packed_at: Generated<string | null>;
  /** When what is kept for a while only was removed. */
  retired_at: Generated<string | null>;
  /** 1: what it adds up to is in `ended_figures`. */
  is_counted: Generated<number>;
}

/** What ended sessions add up to: the sum of all rows. */
export interface EndedFiguresTable {
  status: SessionStatus;
  sessions: number;
  spent_usd: number;
  tokens: number;
  settled_iterations: number;
}

export interface IterationsTable {
  id: string;
  session_id: string;
  iteration_number: number;
  unit: string | null;
  attempt: number;
  inbox_task_id: string | null;
  task_content: string;
  status: IterationStatus;
  signal: string | null;
  signal_source: string | null;
  signal_rule: string | null;
  output_summary: string | null;
  output_full: string | null;
  commit_hash: string | null;
  files_changed: Json;
  anchor_turn_id: string | null;
  anchor_strategy: string | null;
  anchor_resolution_ms: number | null;
  anchor_hint_next: string | null;
  salience: number | null;
  depth: number | null;
  context_tokens: number;
  slice_id: string | null;
  start_sha: string;
  tree_hash: string | null;
  /** 1 when this iteration's commit gave a tree not seen before in the session. */
  new_tree: number;
  cost_usd: number | null;
  input_tokens: number;
  output_tokens: number;
  cache_tokens: number;
  failure_class: FailureClass | null;
  outcome: IterationOutcome | null;
  started_at: string | null;
  ended_at: string | null;
  /** 1: its texts are in a pack, and empty here. */
  is_packed: Generated<number>;
}

export interface InboxTasksTable {
  id: string;
  source: string;
  status: 'pending' | 'running' | 'complete' | 'failed' | 'cancelled';
  task_content: string;
  project_path: string;
  agent: string;
  labels: Json;
  priority: number;
  media_context: Json;
  session_id: string;
  iteration_number: number;
  spec: Json;
  run_at: string;
  attempt: number;
  max_attempts: number;
  lease_owner: string | null;
  lease_until: string | null;
  token: number;
  reserved_usd: number;
  idempotency_key: string;
  result: JsonOrNull;
  created_at: string;
}

export interface EventsTable {
  session_id: string;
  seq: number;
  type: string;
  at: string;
  iteration: number | null;
  data: Json;
}

export interface VerificationsTable {
  id: string;
  session_id: string;
  iteration_number: number;
  attempt: number;
  position: number;
  command: string;
  cwd: string;
  exit: number | null;
  passed: number;
  duration_ms: number;
  output_hash: string;
  output_tail: string;
  tree: string;
  commit_hash: string | null;
  environment: string;
  at: string;
}

export interface IdempotencyKeysTable {
  key: string;
  digest: string;
  session_id: string;
  status: number | null;
  answer: string | null;
  created_at: string;
}

export interface DaemonsTable {
  owner: string;
  host: string;
  labels: Json;
  seen_until: string;
}

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

export interface ResearchesTable {
  session_id: string;
  content: Json;
  /** As the session's file calls it: researching, implementing, complete, paused. */
  phase: string;
  /** What is known of the best so far; `null` before the baseline. */
  reference: JsonOrNull;
  baseline: number | null;
  best: number | null;
  best_experiment: number | null;
  /** How long the newest good readings took. */
  good_runs_ms: Json;
  /** `null`: no end. */
  iterations: number | null;
  findings: string;
  created_at: string;
  /** How many sessions edit at once; 1: the session itself does. */
  parallel: number;
  /** The commit of the best; `null`: nothing was kept yet. */
  best_sha: string | null;
  /** Where the best was read: readings of different hosts are never compared. */
  host: string | null;
  /** What `finish --implement` made of the findings. */
  implementation: string | null;
  finished_by: string | null;
  finished_at: string | null;
}

export interface ExperimentsTable {
  session_id: string;
  number: number;
  status: 'running' | 'keep' | 'discard' | 'crash';
  description: string;
  fingerprint: string;
  start_sha: string;
  commit_hash: string | null;
  wip_sha: string | null;
  metric: number | null;
  /** Against the best before. */
  delta: number | null;
  reason: string | null;
  decision: JsonOrNull;
  crashes: Json;
  runs: number;
  duration_ms: number;
  started_at: string;
  ended_at: string | null;
  /** The session that edits it, where that is not the research itself; else empty. */
  worker_id: string;
  /** 1: something else was kept meanwhile; it is to be put on top of that and measured. */
  is_outdated: number;
}

/** A service whose breaker is not closed; `trips`: how often it opened in a row. */
export interface AgentBreakersTable {
  key: string;
  state: 'open' | 'half_open';
  trips: number;
  failure_class: FailureClass;
  retry_at: string;
}

export interface NotesTable {
  id: string;
  session_id: string;
  text: string;
  actor: string;
  /** Whose brief has quoted it; `null`: none yet. */
  iteration_number: number | null;
  /** When a running agent was told of it. */
  delivered_at: string | null;
  created_at: string;
}

export interface Schema {
  agent_breakers: AgentBreakersTable;
  notes: NotesTable;
  daemons: DaemonsTable;
  pulse_sessions: SessionsTable;
  session_controls: SessionControlsTable;
  ended_figures: EndedFiguresTable;
  pulse_iterations: IterationsTable;
  inbox_tasks: InboxTasksTable;
  pulse_events: EventsTable;
  verifications: VerificationsTable;
  turns: TurnsTable;
  packs: PacksTable;
  idempotency_keys: IdempotencyKeysTable;
  workflows: WorkflowsTable;
  pulses: PulsesTable;
  preflight_setups: PreflightSetupsTable;
  preflight_baselines: PreflightBaselinesTable;
  researches: ResearchesTable;
  experiments: ExperimentsTable;
  commander_tasks: CommanderTasksTable;
  commander_comments: CommanderCommentsTable;
  commander_messages: CommanderMessagesTable;
  commander_outbox: CommanderOutboxTable;
}
