/** Workflows as they are answered, in camelCase. */
import * as z from 'zod';
import { TRUST_WORDS } from '../../../domain/check-words.ts';
import { Session, time } from '../../../operations/session/view-schema.ts';
import {
  baselineIssueSchema,
  checkSchema,
  extensionSchema,
  PULSE_STATUSES,
  unresolvedIssueSchema,
} from '../model.ts';
import { planSchema } from '../plan.ts';

export const Workflow = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    title: z.string(),
    plan: planSchema,
    planVersion: z.int(),
    approvedAt: time.nullable(),
    approvedBy: z.string().nullable(),
    extensions: z.enum(['auto', 'ask']),
    checks: z.array(checkSchema),
    setupSteps: z.array(z.object({ command: z.string(), cwd: z.string() })).nullable(),
    artifacts: z.array(z.string()),
    reviewedAt: time.nullable(),
    reviewedBy: z.string().nullable(),
    mergedSha: z.string().nullable(),
    createdAt: time,
  })
  .meta({ id: 'Workflow' });

export const Pulse = z
  .object({
    id: z.string(),
    workflowId: z.string(),
    plannedPulseId: z.string(),
    position: z.int(),
    title: z.string(),
    status: z.enum(PULSE_STATUSES),
    initiatingMessageId: z.string().nullable(),
    checkpointCommitSha: z.string().nullable(),
    diffArtifactId: z.string().nullable(),
    description: z.string().nullable(),
    pulseBranch: z.string().nullable(),
    worktreePath: z.string().nullable(),
    hasUnresolvedIssues: z.boolean(),
    unresolvedIssues: z.array(unresolvedIssueSchema),
    isRecoveryCheckpoint: z.boolean(),
    failureReason: z.string().nullable(),
    comments: z.string().nullable(),
    startSha: z.string().nullable(),
    runs: z.int(),
    rejections: z.int(),
    extensions: z.int(),
    extension: extensionSchema.nullable(),
    createdAt: time,
    startedAt: time.nullable(),
    endedAt: time.nullable(),
  })
  .meta({ id: 'Pulse' });

export const Preflight = z
  .object({
    id: z.string(),
    workflowId: z.string(),
    channelId: z.string(),
    status: z.enum(['running', 'completed', 'failed']),
    progressMessage: z.string().nullable(),
    errorMessage: z.string().nullable(),
    summary: z.string().nullable(),
    setupCommands: z.array(z.string()),
    buildSuccess: z.boolean().nullable(),
    createdAt: time,
    completedAt: time.nullable(),
  })
  .meta({ id: 'Preflight' });

const Baseline = z
  .object({ id: z.string(), workflowId: z.string(), ...baselineIssueSchema.shape, recordedAt: time })
  .meta({ id: 'Baseline' });

export const WorkflowStartAnswer = z.object({
  sessionId: z.string(),
  session: Session,
  workflow: Workflow,
  pulses: z.array(Pulse),
});
export const WorkflowAnswer = z.object({
  session: Session,
  trust: z
    .enum(TRUST_WORDS)
    .nullable()
    .describe('How far what its pulses have made can be relied on; null: none is done.'),
  workflow: Workflow,
  pulses: z.array(Pulse),
  preflight: Preflight.nullable(),
});
export const BaselineAnswer = z.object({ baseline: z.array(Baseline) });
export const ReviewAnswer = z.object({
  session: Session,
  merged: z
    .object({ base: z.string(), sha: z.string() })
    .nullable()
    .describe('What was brought in; with `pr` the commit that was pushed.'),
  said: z.string().nullable().describe('What was done, for a person.'),
});
