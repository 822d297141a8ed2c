/** The tables as rows. Names of public columns are part of the protocol; machinery lives in `session_controls`. */
import type { ColumnType, Generated } from 'kysely';
import type { Trust } from '../domain/check-words.ts';
import type { FailureClass } from '../domain/failures.ts';
import type { Judgement } from '../domain/judgement.ts';
import type { IterationOutcome, IterationStatus, SessionStatus, StopReason } from '../domain/status.ts';
import type { ChoresTable, PullRequestsTable } from './after-schema.ts';
import type {
  EmbedderProjectsTable,
  EmbeddersTable,
  PacksTable,
  SliceKeysTable,
  TranscriptEntriesTable,
  TurnsTable,
  TurnTermsTable,
  TurnVectorsTable,
  TurnWordsTable,
} from './texts-schema.ts';

/** JSON columns are text in SQLite and jsonb in PostgreSQL; they are written as text and decoded on reading. */
export type Json = ColumnType<unknown, string, string>;
export type JsonOrNull = ColumnType<unknown, string | null, string | null>;

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
  /** How far what it has done so far can be relied on; `null`: it has claimed nothing yet. */
  trust: Trust | null;
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
  /** 1: it is complete, and its tree is its base's. */
  nothing_changed: Generated<number>;
  /** When, by whom, how and into which branch it was merged, and where that stood then. */
  merged_at: string | null;
  merged_by: string | null;
  merged_how: string | null;
  merged_into: string | null;
  merged_sha: string | null;
  /** The address of its pull request, or what was pushed where none could be opened. */
  pull_request: string | null;
  discarded_at: string | null;
  discarded_by: string | null;
  /** The session whose branch it continues. */
  follows: string | null;
}

export interface SessionControlsTable {
  session_id: string;
  project_id: string;
  settings: Json;
  /** The runner's lease: who drives the session. `token` fences the runner before it. */
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
  /** The `serve` that runs the session: its state directory's id. */
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

/** What is started by itself, and when next. */
export interface SchedulesTable {
  id: string;
  /** The host whose `serve` starts it: the project lies there. */
  host: string;
  expression: string;
  zone: string;
  missed: string;
  operation: string;
  input: Json;
  words: Json;
  actor: string;
  created_at: string;
  /** `null`: it is over. */
  next_at: string | null;
  last_at: string | null;
  last_session: string | null;
  last_error: string | null;
  missed_count: number;
  /** The first of those that were missed last. */
  missed_at: string | null;
  lease_owner: string | null;
  lease_until: string | null;
  token: number;
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
  /** The tokens of each section of the brief; `null`: it has none. */
  sections: Json | null;
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
  /** Where its agent runs, or waits to; `null`: it needs none, or is not under way. */
  slot_host: Generated<string | null>;
  /** Since when it has waited for the slot of an agent; `null`: it does not wait. */
  queued_at: Generated<string | null>;
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
  /** What the record tells beyond its columns. */
  detail: JsonOrNull;
}

export interface CheckRunsTable {
  session_id: string;
  run_key: string;
  run: Json;
  created_at: string;
}

export interface JudgementsTable {
  session_id: string;
  iteration_number: number;
  attempt: number;
  verdict: Judgement['verdict'];
  judgement: Json;
  decided_by: string | null;
  decided_at: string | null;
  /** Where its proof is kept; `null`: nowhere yet. */
  proof: string | null;
}

export interface IdempotencyKeysTable {
  key: string;
  digest: string;
  session_id: string;
  status: number | null;
  answer: string | null;
  created_at: string;
}

export interface ProjectRequestsTable {
  key: string;
  digest: string;
  answer: string;
  created_at: string;
}

export interface JobsTable {
  id: string;
  kind: string;
  session_id: string;
  status: string;
  answer: Json | null;
  error: Json | null;
  lease_owner: string | null;
  lease_until: string | null;
  created_at: string;
  ended_at: string | null;
}

export interface DeviceKeysTable {
  id: string;
  /** Of the key; it is stored nowhere. */
  hash: string;
  name: string;
  scope: string;
  created_at: string;
  last_used_at: string | null;
}

export interface LoginCodesTable {
  hash: string;
  scope: string;
  expires_at: string;
}

export interface DaemonsTable {
  owner: string;
  host: string;
  labels: Json;
  seen_until: string;
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
  check_runs: CheckRunsTable;
  judgements: JudgementsTable;
  notes: NotesTable;
  daemons: DaemonsTable;
  device_keys: DeviceKeysTable;
  login_codes: LoginCodesTable;
  pulse_sessions: SessionsTable;
  session_controls: SessionControlsTable;
  ended_figures: EndedFiguresTable;
  pulse_iterations: IterationsTable;
  inbox_tasks: InboxTasksTable;
  pulse_events: EventsTable;
  verifications: VerificationsTable;
  turns: TurnsTable;
  transcript_entries: TranscriptEntriesTable;
  turn_terms: TurnTermsTable;
  turn_words: TurnWordsTable;
  turn_vectors: TurnVectorsTable;
  embedders: EmbeddersTable;
  embedder_projects: EmbedderProjectsTable;
  slice_keys: SliceKeysTable;
  packs: PacksTable;
  idempotency_keys: IdempotencyKeysTable;
  project_requests: ProjectRequestsTable;
  jobs: JobsTable;
  chores: ChoresTable;
  pull_requests: PullRequestsTable;
  schedules: SchedulesTable;
}
