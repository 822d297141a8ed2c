/** What the attempts of a workflow carry, and what they report. */
import * as z from 'zod';
import type { AttemptResult } from '../../domain/attempt.ts';
import {
  baselineIssueSchema,
  checkSchema,
  completionSchema,
  extensionSchema,
  preflightDoneSchema,
  preflightReportSchema,
  toolCallSchema,
} from './model.ts';

export const preflightWorkSchema = z.object({
  kind: z.literal('preflight'),
  /** An agent sets the worktree up: nobody gave commands, and its files do not say for certain. */
  isByAgent: z.boolean().default(false),
  checks: z.array(checkSchema),
  limitMs: z.number(),
  /** What an earlier preflight left: kept when it is done again. */
  artifacts: z.array(z.string()).default([]),
});
export type PreflightWork = z.infer<typeof preflightWorkSchema>;

export const pulseWorkSchema = z.object({
  kind: z.literal('pulse'),
  pulseId: z.string(),
  plannedPulseId: z.string(),
  /** The only parent of the pulse's commit; the run itself may start on work in progress. */
  baseSha: z.string(),
  checks: z.array(checkSchema),
  /** What the checks are held against, where a person has rejected an earlier try that changed them. */
  checksBaseSha: z.string().optional(),
  /** The plan says that this pulse changes the checks; a person has approved it. */
  changesChecks: z.boolean().optional(),
  /** Every other pulse of the plan has succeeded. */
  isLast: z.boolean().optional(),
  /** Read when the attempt is claimed; empty in its row. */
  baseline: z.array(baselineIssueSchema).default([]),
  /** Untracked paths that preflight left: never committed, cleaned or counted. */
  artifacts: z.array(z.string()),
  rejections: z.number().int(),
  calls: z.array(toolCallSchema),
});
export type PulseWork = z.infer<typeof pulseWorkSchema>;

/** An agent drafts a plan, and changes nothing. */
export const planWorkSchema = z.object({ kind: z.literal('plan') });

/** What a run reported with the tools of a pulse, of preflight, or of a draft. */
const runSchema = z.object({
  completion: completionSchema.nullish(),
  extension: extensionSchema.nullish(),
  calls: z.array(toolCallSchema).optional(),
  preflight: preflightDoneSchema.nullish(),
  plan: z.unknown().optional(),
});
export type WorkflowRun = z.infer<typeof runSchema>;

export function readRun({ run }: Pick<AttemptResult, 'run'>): WorkflowRun {
  return runSchema.parse(run?.own ?? {});
}

export function readPreflightReport({ own }: AttemptResult) {
  return own === undefined || own === null ? null : preflightReportSchema.parse(own);
}
