/** What the workflow tools take. */
import * as z from 'zod';
import { planSchema } from '../domain/plan.ts';
import { projectPath, sessionId, startFields } from './inputs.ts';

const plan = planSchema.describe(
  'The plan: pulses are small, ordered commits; verify commands judge each of them, preflight commands set up.',
);

export const workflowStartInput = z
  .strictObject({
    projectPath,
    plan: plan.optional(),
    goal: z
      .string()
      .min(1)
      .max(65_536)
      .optional()
      .describe('Instead of a plan: what should be true afterwards. An agent drafts a plan for it.'),
    ...startFields,
    extensions: z
      .enum(['auto', 'ask'])
      .optional()
      .describe('Whether a pulse that asks for another run gets it by itself (auto).'),
    approve: z.boolean().optional().describe('Approve the plan at once. Only on a person’s word.'),
  })
  .refine((input) => (input.plan === undefined) !== (input.goal === undefined), {
    error: 'either a plan, or a goal for which one is drafted',
  });

export const workflowApproveInput = z.strictObject({
  sessionId,
  plan: plan.optional().describe('An edited plan, for pulses that were not started.'),
});

export const workflowExtensionInput = z.strictObject({
  sessionId,
  approve: z.boolean().describe('true: another run; false: the pulse fails, its work is kept on its branch.'),
});

export const workflowStopInput = z.strictObject({ sessionId });

export const workflowReviewInput = z
  .strictObject({
    sessionId,
    approve: z.boolean().optional().describe('true: merge it into its base.'),
    merge: z.enum(['ff', 'merge', 'squash', 'pr']).optional().describe('How the base gets it (ff).'),
    reject: z.string().min(1).max(65_536).optional().describe('What is missing; becomes a pulse of its own.'),
  })
  .refine(({ approve, reject }) => (approve === true) !== (reject !== undefined), {
    error: 'either approve must be true, or reject say what is missing',
  });

export const workflowBaselineInput = z.strictObject({
  sessionId,
  refresh: z.boolean().optional().describe('Record it again. Only on a person’s word.'),
});
