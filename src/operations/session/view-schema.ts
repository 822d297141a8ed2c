/** Sessions as they are answered; the compiler holds the operations to these schemas. */
import * as z from 'zod';
import { TRUST_WORDS } from '../../domain/check-words.ts';
import { judgementSchema, testCountsSchema } from '../../domain/judgement.ts';
import { ITERATION_STATUSES, SESSION_STATUSES, STOP_REASONS, type StopReason } from '../../domain/status.ts';

export const time = z.string().meta({ format: 'date-time' });
const stopReasons = [...new Set(Object.values(STOP_REASONS).flat())] as [StopReason, ...StopReason[]];

const Progress = z.object({
  iteration: z.int(),
  signal: z.string().nullable(),
  summary: z.string().nullable(),
  commit: z.string().nullable(),
  files: z.array(z.string()),
  reason: z.string().optional(),
  at: time,
});

export const Session = z
  .object({
    id: z.string(),
    kind: z.string(),
    project_name: z.string(),
    project_path: z.string(),
    goal: z.string(),
    max_iterations: z.int(),
    current_iteration: z.int(),
    status: z.enum(SESSION_STATUSES),
    last_signal: z.string().nullable(),
    progress_log: z.array(Progress),
    anchor_turn_id: z.string().nullable(),
    branch_name: z.string(),
    branch_lags_at: z.string().nullable(),
    branch_of: z.string().nullable(),
    trust: z.enum(TRUST_WORDS).nullable(),
    base_branch: z.string().nullable(),
    base_sha: z.string(),
    worktree_path: z.string(),
    agent: z.string(),
    command: z.string().nullable(),
    setup: z.array(z.string()).nullable(),
    verify: z.array(z.string()),
    budget_usd: z.number().nullable(),
    budget_tokens: z.int().nullable(),
    time_limit_ms: z.int().nullable(),
    iteration_timeout_ms: z.int(),
    idle_timeout_ms: z.int().nullable(),
    spent_usd: z.number(),
    reserved_usd: z.number(),
    running_ms: z.int(),
    total_commits: z.int(),
    total_tokens_used: z.int(),
    stop_reason: z.enum(stopReasons).nullable(),
    blocked_reason: z.string().nullable(),
    resume_at: time.nullable(),
    chat_id: z.string().nullable(),
    phone_number: z.string().nullable(),
    discord_thread_id: z.string().nullable(),
    parent_session_id: z.string().nullable(),
    created_by: z.string(),
    created_at: time,
    started_at: time.nullable(),
    ended_at: time.nullable(),
    nothing_changed: z.boolean().describe("It is complete, and its tree is its base's."),
    merged_at: time.nullable(),
    merged_by: z.string().nullable(),
    merged_how: z.string().nullable(),
    merged_into: z.string().nullable(),
    merged_sha: z.string().nullable(),
    pull_request: z.string().nullable(),
    discarded_at: time.nullable(),
    discarded_by: z.string().nullable(),
    follows: z.string().nullable(),
  })
  .meta({ id: 'Session' });

export const Iteration = z
  .object({
    id: z.string(),
    session_id: z.string(),
    iteration_number: z.int(),
    unit: z.string().nullable(),
    attempt: z.int(),
    inbox_task_id: z.string().nullable(),
    task_content: z.string(),
    status: z.enum(ITERATION_STATUSES),
    signal: z.string().nullable(),
    signal_source: z.string().nullable(),
    signal_rule: z.string().nullable(),
    output_summary: z.string().nullable(),
    output_full: z.string().nullable(),
    commit_hash: z.string().nullable(),
    files_changed: z.array(z.string()),
    anchor_turn_id: z.string().nullable(),
    anchor_strategy: z.string().nullable(),
    anchor_resolution_ms: z.number().nullable(),
    anchor_hint_next: z.string().nullable(),
    salience: z.number().nullable(),
    depth: z.int().nullable(),
    context_tokens: z.int(),
    slice_id: z.string().nullable(),
    sections: z.array(z.object({ name: z.string(), tokens: z.int() })).nullable(),
    start_sha: z.string(),
    tree_hash: z.string().nullable(),
    new_tree: z.int(),
    cost_usd: z.number().nullable(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cache_tokens: z.int(),
    failure_class: z.string().nullable(),
    outcome: z.string().nullable(),
    started_at: time.nullable(),
    ended_at: time.nullable(),
  })
  .meta({ id: 'Iteration' });

const Verification = z
  .object({
    iteration: z.int(),
    attempt: z.int(),
    command: z.string(),
    cwd: z.string(),
    exit: z.int().nullable(),
    passed: z.boolean(),
    durationMs: z.number(),
    outputHash: z.string(),
    outputTail: z.string(),
    tree: z.string(),
    commit: z.string().nullable(),
    environment: z.string(),
    at: time,
    tests: testCountsSchema.optional(),
    isFlaky: z.boolean().optional(),
    isReused: z.boolean().optional(),
  })
  .meta({ id: 'Verification' });

export const JudgedClaim = judgementSchema
  .extend({
    iteration: z.int(),
    attempt: z.int(),
    decidedBy: z.string().nullable().describe('Who decided about changed checks.'),
    decidedAt: time.nullable(),
    proof: z.string().nullable(),
  })
  .meta({ id: 'Judgement' });

export const StartAnswer = z.object({ sessionId: z.string(), session: Session });
export const SessionAnswer = z.object({ session: Session });
export const Waiting = z
  .object({
    agent: z.string(),
    failureClass: z.string(),
    since: time.nullable().describe('When the first try failed.'),
    until: time.describe('The next try.'),
    patienceMs: z.int().nullable().describe('How long it waits in all.'),
  })
  .describe('A service that does not answer, or a usage limit.');

export const Unresolved = z.object({ pulse: z.string(), issue: z.string(), reason: z.string() });

export const SessionViewAnswer = z.object({
  session: Session,
  iterations: z.array(Iteration),
  waiting: Waiting.nullable(),
  doing: z
    .object({ text: z.string(), since: time, lastSign: time })
    .nullable()
    .describe('What happens at this moment: setup, the agent, a check, a measurement.'),
  judgement: JudgedClaim.nullable().describe('What the referee said of the newest claim.'),
  head: z.string().nullable().describe('The commit that its work stands at.'),
  issue: z
    .object({ number: z.int(), title: z.string(), url: z.string(), comment: z.boolean() })
    .nullable()
    .describe('The issue that its goal came from, and whether it is told of the end.'),
  from: z.string().nullable().describe('The file that its goal was read from.'),
  request: z
    .enum(['pause', 'stop'])
    .nullable()
    .describe('What it was asked for and has not done yet: pause after this iteration, or stop at once.'),
  unreadNotes: z.int().describe('Notes that no agent has got to read.'),
  unresolved: z
    .array(Unresolved)
    .describe("What a workflow's pulses were accepted with although it was not resolved."),
  kept: z
    .array(z.object({ ref: z.string(), at: time.nullable(), command: z.string() }))
    .describe('Work that was not taken over, and the command that makes a branch of it.'),
});
export const SessionsAnswer = z.object({ sessions: z.array(Session), nextCursor: z.string().nullable() });
export const IterationAnswer = z.object({ iteration: Iteration, verifications: z.array(Verification) });
export const VerificationsAnswer = z.object({ verifications: z.array(Verification) });

export const EvidenceAnswer = z.object({
  trust: z
    .enum(TRUST_WORDS)
    .nullable()
    .describe('How far the result can be relied on; null: nothing was claimed.'),
  verifications: z.array(Verification),
  judgements: z.array(JudgedClaim),
});

const VERDICTS = ['fresh', 'stale', 'false'] as const;

const VerifyAnswer = z
  .object({
    sessionId: z.string(),
    commit: z.string(),
    tree: z.string(),
    verdict: z.enum(VERDICTS),
    trust: z.enum(TRUST_WORDS).nullable(),
    checks: z.array(
      z.object({
        command: z.string(),
        verdict: z.enum(VERDICTS),
        recorded: Verification,
        again: Verification.omit({ iteration: true, attempt: true }),
        news: z.string().nullish(),
      }),
    ),
    unresolved: z.array(Unresolved),
  })
  .meta({ id: 'VerifyReport' });

export const JobView = z
  .object({
    id: z.string(),
    kind: z.literal('verify'),
    sessionId: z.string(),
    status: z.enum(['waiting', 'running', 'done', 'failed']),
    answer: VerifyAnswer.nullable(),
    error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }).nullable(),
    createdAt: time,
    endedAt: time.nullable(),
  })
  .meta({ id: 'Job' });
export const JobAnswer = z.object({ job: JobView });
export const JobAskedAnswer = z.object({ jobId: z.string() });

export const ChangedChecksAnswer = z.object({
  session: Session,
  judgement: JudgedClaim,
  verifications: z.array(Verification),
  diff: z.string().describe('Of the changed checks alone, against the base.'),
});

export const EventMessage = z
  .object({
    seq: z.int(),
    type: z.string(),
    at: time,
    sessionId: z.string(),
    iteration: z.int().optional(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event' });
