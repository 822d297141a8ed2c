/** What goes in over HTTP for workflows. */
import { z } from '@hono/zod-openapi';
import { planSchema } from '../domain/plan.ts';
import { SessionParams, startFields, text } from './schemas.ts';

export const WorkflowStartBody = z
  .strictObject({
    plan: planSchema.optional().openapi({ description: 'The plan; without one `goal` is required.' }),
    goal: text(64 * 1024)
      .refine((goal) => goal.trim() !== '', 'must say something')
      .optional()
      .openapi({
        description: 'Instead of a plan: an agent drafts one for it, which then waits for approval.',
      }),
    ...startFields,
    extensions: z
      .enum(['auto', 'ask'])
      .optional()
      .openapi({ description: 'Whether a pulse that asks for another run gets it by itself (`auto`).' }),
    approve: z.boolean().optional().openapi({ description: 'Approves the plan at once.' }),
  })
  .refine(({ plan, goal }) => (plan === undefined) !== (goal === undefined), {
    path: ['plan'],
    error: 'either a plan, or a goal for which one is drafted',
  })
  .openapi('WorkflowStart');
export type WorkflowStartBody = z.output<typeof WorkflowStartBody>;

/** With an edited plan: for what has not been started. */
export const ApproveBody = z.strictObject({ plan: planSchema.optional() }).openapi('WorkflowApprove');

export const ExtensionBody = z.strictObject({ approve: z.boolean() }).openapi('WorkflowExtension');

export const ReviewBody = z
  .strictObject({
    approve: z.boolean().optional(),
    merge: z
      .enum(['ff', 'merge', 'squash', 'pr'])
      .optional()
      .openapi({ description: 'With `approve`: how the base gets it (`ff`).' }),
    reject: text(64 * 1024)
      .optional()
      .openapi({ description: 'What is missing; it becomes a pulse of its own.' }),
  })
  .superRefine(({ approve, merge, reject }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if ((approve === true) === (reject !== undefined)) {
      refuse('approve', 'either approve must be true, or reject say what is missing');
    }
    if (merge !== undefined && approve !== true) refuse('merge', 'belongs to an approval');
  })
  .openapi('WorkflowReview');

export const PulseParams = SessionParams.extend({
  pulseId: z
    .string()
    .max(100)
    .openapi({
      param: { name: 'pulseId', in: 'path' },
      description: "A pulse's id, or its id in the plan: then its newest try",
    }),
});
