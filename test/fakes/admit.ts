import { DEFAULT_REFEREE } from '../../src/domain/judgement.ts';
import { appendEvents } from '../../src/store/events.ts';
import { insertSession, type NewSession, type SessionSettings } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';

/** A session's rows without a repository behind them. */
export async function admit(store: Store, overrides: Partial<NewSession> = {}): Promise<string> {
  const id = overrides.id ?? 'ses_00000000-0000-7000-8000-000000000001';
  await store.tx('admit', async (db) => {
    await insertSession(db, {
      session: { ...SESSION, id, ...overrides },
      projectId: 'project',
      settings: SETTINGS,
    });
    await appendEvents(db, id, [{ type: 'session.created' }]);
  });
  return id;
}

const SETTINGS: SessionSettings = {
  contextStrategy: 'none',
  inferredCompletion: 'confirm',
  limitsWait: true,
  environmentPass: [],
  identity: null,
  record: false,
  labels: [],
  remote: null,
  referee: { ...DEFAULT_REFEREE, review: { agent: 'command', model: null, command: 'review' } },
};

const SESSION: NewSession = {
  id: '',
  kind: 'goal',
  project_name: 'project',
  project_path: '/project',
  goal: 'goal',
  max_iterations: 10,
  current_iteration: 0,
  status: 'pending',
  last_signal: null,
  anchor_turn_id: null,
  branch_name: 'pulse/goal-0001',
  branch_lags_at: null,
  branch_of: null,
  base_branch: 'main',
  base_sha: 'base',
  worktree_path: '/worktree',
  agent: 'command',
  command: 'true',
  setup: [],
  verify: ['check'],
  budget_usd: 10,
  budget_tokens: null,
  time_limit_ms: 8 * 3_600_000,
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
  started_at: null,
  ended_at: null,
};
