/** The words of the workflow: pulses and their states, completion, extension, what travels with a run. */

import * as z from 'zod';
import { PulseError } from '../../domain/errors.ts';
import { judgementSchema } from '../../domain/judgement.ts';
import { quoteWord } from '../../domain/shell-words.ts';
import { isStorable, NOT_STORABLE } from '../../domain/storable.ts';

export const PULSE_ID = /^[a-z0-9][a-z0-9._-]{0,40}$/;

export const PULSE_STATUSES = ['proposed', 'running', 'succeeded', 'failed', 'stopped'] as const;
export type PulseStatus = (typeof PULSE_STATUSES)[number];

const PULSE_TRANSITIONS: Record<PulseStatus, readonly PulseStatus[]> = {
  proposed: ['running'],
  running: ['succeeded', 'failed', 'stopped'],
  succeeded: [],
  failed: [],
  stopped: [],
};

export function transitionPulse(from: PulseStatus, to: PulseStatus): PulseStatus {
  if (PULSE_TRANSITIONS[from].includes(to)) return to;
  throw new PulseError('internal_error', `A pulse that is ${from} cannot become ${to}.`, {
    data: { from, to },
  });
}

export const ISSUE_SOURCES = ['Build', 'Lint', 'Test'] as const;

/** A verification command; with a scope it is asked only when a changed file matches one of its patterns. */
const pattern = z.string().min(1).max(1_000).refine(isStorable, NOT_STORABLE);
export const checkSchema = z.strictObject({
  command: z.string().trim().min(1).max(10_000).refine(isStorable, NOT_STORABLE),
  source: z.enum(ISSUE_SOURCES),
  scope: z.union([pattern, z.array(pattern).max(100)]).optional(),
});
export type Check = z.infer<typeof checkSchema>;

/** What was there before the first pulse: how often each issue was seen, by what it says and not where. */
export const baselineIssueSchema = z.object({
  /** The verification command that showed it; `null`: recorded by a preflight agent, for any command. */
  command: z.string().nullable(),
  issueType: z.enum(['Error', 'Warning']),
  source: z.enum(ISSUE_SOURCES),
  pattern: z.string(),
  filePath: z.string().nullable(),
  description: z.string().nullable(),
  count: z.number().int().positive(),
  category: z.enum(['error', 'warning', 'flaky', 'missing']),
});
export type BaselineIssue = z.infer<typeof baselineIssueSchema>;

/** A tool call of a pulse, as the completion protocol remembers it: the last call of each key counts. */
export const toolCallSchema = z.object({
  key: z.string(),
  ok: z.boolean(),
  isShell: z.boolean(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

export const CALLS_REMEMBERED = 20;
export const REJECTIONS_BEFORE_HATCH = 2;
export const RUNS_PER_PULSE = 10;
/** Named in a preflight's iteration, in place of a pulse's id. */
export const PREFLIGHT_UNIT = 'preflight';
export const AUTOMATIC_EXTENSIONS = 5;

export const unresolvedIssueSchema = z.object({
  issue: z.string().trim().min(1).max(10_000),
  reason: z.string().trim().min(1).max(10_000),
});
export type UnresolvedIssue = z.infer<typeof unresolvedIssueSchema>;

/** An accepted completion. This tree is committed, even if files changed afterwards. */
export const completionSchema = z.object({
  summary: z.string(),
  filesChanged: z.array(z.string()),
  unresolvedIssues: z.array(unresolvedIssueSchema),
  tree: z.string(),
  /** What git could not add: it was judged as not being there. */
  leftOut: z.array(z.string()).optional(),
  /** What the referee said of it. */
  judgement: judgementSchema.optional(),
  /** What its checks showed beyond the baseline. After a person has accepted it, later pulses are not blamed for it. */
  leftOver: z.array(baselineIssueSchema).optional(),
});
export type Completion = z.infer<typeof completionSchema>;

export const extensionSchema = z.object({
  reason: z.string().trim().min(1).max(10_000),
  completed: z.array(z.string().max(2_000)).max(200),
  remaining: z.array(z.string().max(2_000)).max(200),
});
export type Extension = z.infer<typeof extensionSchema>;

/** A commit's first line, as a pulse must give it. */
export const SUMMARY_LINE =
  /^(feat|fix|refactor|docs|test|chore|perf|build|ci|style|revert)(\([^)]+\))?!?: \S.*$/;
export const SUMMARY_LENGTH = 100;

export const setupStepSchema = z.object({ command: z.string(), cwd: z.string() });
export type SetupStep = z.infer<typeof setupStepSchema>;

/** Steps as the setup mechanism takes them: commands of the worktree's root. */
export function setupCommands(steps: readonly SetupStep[]): string[] {
  return steps.map(({ command, cwd }) =>
    cwd === '' || cwd === '.' ? command : `cd ${quoteWord(cwd)} && ${command}`,
  );
}

/** Commands as a plan or the config gives them. */
export function setupSteps(commands: readonly string[]): SetupStep[] {
  return commands.map((command) => ({ command, cwd: '.' }));
}

export const preflightReportSchema = z.object({
  /** Why it failed; `null`: it did not. */
  error: z.string().nullable(),
  summary: z.string(),
  setupCommands: z.array(z.string()),
  buildSuccess: z.boolean(),
  baseline: z.array(baselineIssueSchema),
  artifacts: z.array(z.string()),
});
export type PreflightReport = z.infer<typeof preflightReportSchema>;

/** What a preflight agent ended with. */
export const preflightDoneSchema = z.object({
  summary: z.string(),
  setupCommands: z.array(z.string()),
  buildSuccess: z.boolean(),
  baselinesRecorded: z.number(),
  records: z.array(baselineIssueSchema),
});
