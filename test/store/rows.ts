/** Rows for tests that need a store but no repository. */
import type { AttemptResult, AttemptSpec, RunReport, VerificationRecord } from '../../src/domain/attempt.ts';
import type { NewTask } from '../../src/store/inbox.ts';
import type { insertIteration } from '../../src/store/iterations.ts';

export function sessionId(number: number): string {
  return `ses_00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
}

export const SPEC: AttemptSpec = {
  projectPath: '/project',
  remote: null,
  projectKey: 'project',
  worktreePath: '/worktree',
  startSha: 'base',
  branch: 'pulse/goal-0001',
  agent: 'command',
  command: 'true',
  unit: null,
  verifyOn: 'complete',
  verify: [],
  setup: [],
  role: 'worker',
  tools: ['pulse_signal', 'report_usage'],
  identity: null,
  recoverTo: null,
  environmentPass: [],
  record: false,
  limits: { hardMs: 3_600_000, idleMs: null, usd: null, tokens: null, timeMs: null },
};

export function newTask(session: string, iteration: number, overrides: Partial<NewTask> = {}): NewTask {
  return {
    id: `tsk_${session.slice(4)}.${iteration}`,
    content: `brief ${iteration}`,
    spec: SPEC,
    attempt: 1,
    labels: [],
    context: {
      pulseSessionId: session,
      iterationNumber: iteration,
      projectId: 'project',
      branchName: SPEC.branch,
      sliceId: null,
    },
    ...overrides,
  };
}

type NewIteration = Parameters<typeof insertIteration>[1];

export function newIteration(
  session: string,
  number: number,
  overrides: Partial<NewIteration> = {},
): NewIteration {
  return {
    id: `itr_${session.slice(4)}.${number}`,
    session_id: session,
    iteration_number: number,
    unit: null,
    attempt: 1,
    inbox_task_id: `tsk_${session.slice(4)}.${number}`,
    task_content: `brief ${number}`,
    status: 'dispatched',
    signal: null,
    signal_source: null,
    signal_rule: null,
    output_summary: null,
    output_full: null,
    commit_hash: null,
    anchor_turn_id: null,
    anchor_strategy: null,
    anchor_resolution_ms: 0,
    anchor_hint_next: null,
    salience: null,
    depth: null,
    context_tokens: 10,
    slice_id: null,
    start_sha: 'base',
    tree_hash: null,
    cost_usd: null,
    input_tokens: 0,
    output_tokens: 0,
    cache_tokens: 0,
    failure_class: null,
    outcome: null,
    started_at: null,
    ended_at: null,
    ...overrides,
  };
}

export function runReport(overrides: Partial<RunReport> = {}): RunReport {
  return {
    failure: null,
    stopped: null,
    finalMessage: 'Did a step.\n<signal>CONTINUE</signal>',
    toolSignal: null,
    usage: { costUsd: null, inputTokens: 0, outputTokens: 0, cacheTokens: 0 },
    model: null,
    durationMs: 1000,
    endedAt: '2026-01-01T00:00:00.000Z',
    ...overrides,
  };
}

export function attemptResult(overrides: Partial<AttemptResult> = {}): AttemptResult {
  return {
    ranBy: 'test',
    stage: 'reported',
    run: runReport(),
    setupFailure: null,
    commit: 'c1',
    tree: 't1',
    files: ['a.txt'],
    verification: [],
    ...overrides,
  };
}

export function verification(overrides: Partial<VerificationRecord> = {}): VerificationRecord {
  return {
    command: 'npm test',
    cwd: '/worktree',
    exit: 0,
    passed: true,
    durationMs: 12.5,
    outputHash: 'hash',
    outputTail: 'ok',
    tree: 't1',
    commit: 'c1',
    environment: 'linux',
    at: '2026-01-01T00:00:00.000Z',
    ...overrides,
  };
}
