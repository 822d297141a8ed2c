/** What the research and commander tools take. */
import * as z from 'zod';
import { COMMANDER_STATUSES } from '../domain/commander.ts';
import { researchInputSchema } from '../research/research-file.ts';
import { projectPath, sessionId, startFields } from './inputs.ts';

const text = (longest: number) => z.string().trim().min(1).max(longest);

export const researchStartInput = z.strictObject({
  projectPath,
  research: researchInputSchema.describe(
    'What a research.yaml holds: the goal, the metric and the command that prints it, what may be changed.',
  ),
  iterations: z.int().min(1).max(1_000_000).optional().describe('Stop after so many experiments.'),
  parallel: z.int().min(1).max(16).optional().describe('How many experiments are worked on at once (1).'),
  ...startFields,
});

export const researchReportInput = z.strictObject({ sessionId });

export const researchFinishInput = z.strictObject({
  sessionId,
  how: z
    .enum(['implement', 'pause', 'done'])
    .describe('implement: make a plan of the next steps; pause: leave it for later; done: close it.'),
});

export const showReportInput = z.strictObject({
  sessionId,
  title: text(500).optional().describe('Instead of "Autoresearch Complete: <goal>".'),
  summary: text(20_000).optional().describe('What you want to say at the top of it.'),
});

const groupId = text(200).describe('One group belongs together; a research session’s is its id.');
const limit = z.int().min(1).max(200).optional().describe('The newest so many (50).');

/** One object, not a union: not every model's API takes one at the top. What is missing is told when it is needed. */
export const commanderTaskInput = z
  .strictObject({
    operation: z.enum(['create', 'claim', 'complete', 'comment:add', 'list', 'get']),
    task_id: text(200).optional().describe('claim, complete, comment:add, get: which task.'),
    description: text(10_000).optional().describe('create: what is to be done.'),
    working_directory: text(4_096).optional().describe('create: where.'),
    group_id: groupId.optional(),
    agent_name: text(200).optional().describe('claim, comment:add: who.'),
    result: text(10_000).optional().describe('complete: what came of it.'),
    body: text(64 * 1024)
      .optional()
      .describe('comment:add: the comment.'),
    status: z.enum(COMMANDER_STATUSES).optional().describe('list: only those.'),
    limit,
  })
  .superRefine(
    demand({
      create: ['description'],
      claim: ['task_id', 'agent_name'],
      complete: ['task_id', 'result'],
      'comment:add': ['task_id', 'body', 'agent_name'],
      list: [],
      get: ['task_id'],
    }),
  );
export type CommanderTaskInput = z.output<typeof commanderTaskInput>;

export const commanderMailboxInput = z
  .strictObject({
    operation: z.enum(['send', 'list']),
    from_agent: text(200).optional().describe('send: who.'),
    to_agent: text(200).optional().describe('send: to whom; list: only those to them.'),
    body: text(64 * 1024)
      .optional()
      .describe('send: the message.'),
    message_type: text(50).optional().describe('send: such as status or result; list: only those.'),
    group_id: groupId.optional(),
    limit,
  })
  .superRefine(demand({ send: ['from_agent', 'to_agent', 'body', 'message_type'], list: [] }));

function demand(fields: Record<string, readonly string[]>) {
  return (given: { operation: string } & Record<string, unknown>, context: z.RefinementCtx): void => {
    for (const name of fields[given.operation] ?? []) {
      if (given[name] !== undefined) continue;
      context.addIssue({ code: 'custom', path: [name], message: `${given.operation} needs it` });
    }
  };
}
