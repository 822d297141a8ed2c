/** Session states by hand, as `loadState` would fold them. */
import type { AttemptResult, RunReport } from '../../src/domain/attempt.ts';
import type { LiveIteration, SessionState, Step } from '../../src/engine/loop.ts';
import { decideGoal } from '../../src/loops/goal/decide.ts';
import type { Task } from '../../src/store/inbox.ts';
import type { IterationHead } from '../../src/store/iterations.ts';
import { NO_RETRIES, type Session, type SessionControl } from '../../src/store/sessions.ts';
import { attemptResult, newIteration, newTask, runReport, SPEC } from '../store/rows.ts';

const ID = 'ses_00000000-0000-7000-8000-000000000001';

export interface StateParts {
  session?: Partial<Session>;
  control?: Partial<Omit<SessionControl, 'settings'>>;
  settings?: Partial<SessionControl['settings']>;
  /** Newest first; numbers are given by position. */
  recent?: Partial<IterationHead>[];
  live?: Partial<Omit<LiveIteration, 'task' | 'iteration'>> & { result?: AttemptResult | null } & {
    task?: Partial<Task>;
  };
  isNewTree?: boolean;
}

/** Running, `recent` iterations done, and, if `live` is given, one more in hand. */
export function stateOf({
  session,
  control,
  settings,
  recent = [],
  live,
  isNewTree = true,
}: StateParts): SessionState {
  const settled = recent.map((row, index) => iterationOf(recent.length - index, row));
  const number = recent.length + 1;
  return {
    session: {
      ...SESSION,
      current_iteration: live ? number : recent.length,
      ...session,
    },
    control: { ...CONTROL, settings: { ...CONTROL.settings, ...settings }, ...control },
    recent: settled,
    live: live ? liveOf(number, live) : null,
    isNewTree,
    own: undefined,
  };
}

/** The attempt in hand has been reported with this run and these checks. */
export function reported(
  run: Partial<RunReport>,
  parts: StateParts & { result?: Partial<AttemptResult> } = {},
): SessionState {
  return stateOf({ ...parts, live: { result: attemptResult({ run: runReport(run), ...parts.result }) } });
}

export function decide(state: SessionState): Step {
  return decideGoal(state);
}

/** The verdict on a reported attempt; fails where the step is another. */
export function verdictOf(state: SessionState) {
  const step = decide(state);
  if (step.do !== 'settle') throw new Error(`the step is ${step.do}`);
  return step.verdict;
}

function liveOf(number: number, live: NonNullable<StateParts['live']>): LiveIteration {
  const { id, content, spec, context, attempt } = newTask(ID, number);
  return {
    iteration: iterationOf(number, { status: 'running', outcome: null }),
    lease: live.lease ?? 'held',
    isWaiting: live.isWaiting ?? false,
    task: {
      id,
      slot_host: null,
      queued_at: null,
      source: 'pulse',
      status: 'running',
      task_content: content,
      project_path: SPEC.projectPath,
      agent: 'command',
      labels: [],
      priority: 0,
      media_context: context,
      session_id: ID,
      iteration_number: number,
      spec,
      run_at: '',
      attempt,
      max_attempts: 100,
      lease_owner: 'me',
      lease_until: '',
      token: 1,
      reserved_usd: 0.5,
      idempotency_key: '',
      result: live.result ?? null,
      created_at: '',
      ...live.task,
    },
  };
}

function iterationOf(number: number, row: Partial<IterationHead>): IterationHead {
  const { task_content: _, output_full: __, ...head } = newIteration(ID, number);
  const settled = { status: 'complete', outcome: 'continued', signal: 'CONTINUE', new_tree: 1 } as const;
  return { ...head, files_changed: [], ...settled, ...row } as IterationHead;
}

const SESSION: Session = {
  id: ID,
  kind: 'goal',
  project_name: 'project',
  project_path: '/project',
  goal: 'goal',
  max_iterations: 10,
  current_iteration: 0,
  status: 'running',
  last_signal: null,
  progress_log: [],
  anchor_turn_id: null,
  branch_name: 'pulse/goal-0001',
  branch_lags_at: null,
  branch_of: null,
  trust: null,
  base_branch: 'main',
  base_sha: 'base',
  worktree_path: '/worktree',
  agent: 'command',
  command: 'true',
  setup: [],
  verify: [],
  budget_usd: 10,
  budget_tokens: null,
  time_limit_ms: null,
  iteration_timeout_ms: 3_600_000,
  idle_timeout_ms: null,
  spent_usd: 0,
  reserved_usd: 0,
  running_ms: 0,
  total_commits: 0,
  total_tokens_used: 0,
  stop_reason: null,
  blocked_reason: null,
  resume_at: null,
  chat_id: null,
  phone_number: null,
  discord_thread_id: null,
  parent_session_id: null,
  created_by: 'cli',
  created_at: '',
  started_at: '',
  ended_at: null,
  nothing_changed: false,
  merged_at: null,
  merged_by: null,
  merged_how: null,
  merged_into: null,
  merged_sha: null,
  pull_request: null,
  discarded_at: null,
  discarded_by: null,
  follows: null,
};

const CONTROL: SessionControl = {
  session_id: ID,
  project_id: 'project',
  settings: {
    contextStrategy: 'none',
    inferredCompletion: 'confirm',
    limitsWait: true,
    environmentPass: [],
    identity: null,
    record: false,
    labels: [],
    remote: null,
  },
  lease_owner: 'me',
  lease_until: '',
  token: 1,
  event_seq: 1,
  request: null,
  request_actor: null,
  answer: null,
  counters: NO_RETRIES,
  window_from: 0,
  head_sha: null,
  served_by: null,
  daemon_host: null,
  settled_iterations: 0,
  packed_at: null,
  retired_at: null,
  is_counted: 0,
};
