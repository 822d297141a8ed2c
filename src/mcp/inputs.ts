/** What the session tools take. The descriptions are what an assistant reads before it calls. */
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { MOST_BUDGET_TOKENS, MOST_ITERATIONS } from '../domain/bounds.ts';
import { parseDuration } from '../domain/durations.ts';
import { isPulseError } from '../domain/errors.ts';
import { SESSION_STATUSES } from '../domain/status.ts';

export const sessionId = z.string().min(1).max(100).describe('A session: its id, or the beginning of it.');
const command = z.string().trim().min(1).max(10_000);
const duration = z
  .string()
  .max(50)
  .describe('Like 90s, 10m or 2h.')
  .transform((text, context) => {
    try {
      return parseDuration(text);
    } catch (error) {
      if (!isPulseError(error)) throw error;
      context.addIssue({ code: 'custom', message: `${error.message} Write it like 90s, 10m or 2h.` });
      return z.NEVER;
    }
  });

const MOST = 1_000_000_000_000;

/** Inclusive bounds and enums only: not every model's API knows `exclusiveMinimum` and `const`. */
const budgets = {
  budgetUsd: z
    .union([z.number().min(0.000_001).max(MOST), z.enum(['none'])])
    .optional()
    .describe('Stop before more is spent (10), or "none".'),
  budgetTokens: z.int().min(1).max(MOST_BUDGET_TOKENS).optional().describe('Stop at so many tokens.'),
  timeLimit: duration.optional().describe('Stop after so much running time, like 90s, 10m or 2h (8h).'),
};

const limits = {
  maxIterations: z
    .int()
    .min(1)
    .max(MOST_ITERATIONS)
    .optional()
    .describe('Stop after so many iterations (10).'),
  ...budgets,
};

export const projectPath = z
  .string()
  .max(4096)
  .refine(isAbsolute, { error: 'must be an absolute path' })
  .describe('The git repository, as an absolute path.');

/** Of every start, whatever the loop. */
export const startFields = {
  projectName: z.string().min(1).max(200).optional().describe("The project's name (the folder's)."),
  agent: z
    .string()
    .max(50)
    .optional()
    .describe('Which agent works (the configured, else the first installed).'),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Which model the agent is asked to use (its own choice).'),
  command: command
    .optional()
    .describe('A shell command to run as the agent: brief on stdin, message on stdout.'),
  ...budgets,
  iterationTimeout: duration.optional().describe('End an iteration after this time (60m).'),
  idleTimeout: duration.optional().describe('End it after this time without a sign of life (10m).'),
  base: z.string().min(1).max(500).optional().describe('Start from this branch, tag or commit (HEAD).'),
  branch: z.string().min(1).max(500).optional().describe('The branch to write (pulse/<goal>-<id>).'),
  sandbox: z
    .enum(['off', 'auto', 'on'])
    .optional()
    .describe(
      'Enclose the agent and its checks: on, or refused; auto where it works; off (the configured). Other than on only on a person’s word.',
    ),
  trust: z
    .boolean()
    .optional()
    .describe('Believe what the repository’s own config says, for this session. Only on a person’s word.'),
};

export const startInput = z.strictObject({
  projectPath,
  goal: z.string().describe('What should be done.'),
  ...startFields,
  verify: z
    .array(command)
    .max(50)
    .optional()
    .describe('Shell commands that must pass before "done" is believed, like "npm test".'),
  maxIterations: limits.maxIterations,
  anchorTurnId: z.string().min(1).max(100).optional().describe('Begin the context at this turn.'),
  contextStrategy: z
    .enum(['none', 'prefetch', 'mcp', 'hybrid'])
    .optional()
    .describe('How earlier turns reach the agent.'),
});

export const statusInput = z.strictObject({
  sessionId,
  waitSeconds: z
    .number()
    .min(0)
    .max(50)
    .optional()
    .describe(
      'Wait so long for the session to stop before answering, instead of asking again and again (0).',
    ),
});

export const listInput = z.strictObject({
  status: z.enum(SESSION_STATUSES).optional().describe('Only those with this status.'),
  limit: z.int().min(1).max(100).optional().describe('At most so many (20).'),
});

export const pauseInput = z.strictObject({
  sessionId,
  now: z
    .boolean()
    .optional()
    .describe('End the agent at once; its work is kept aside and the iteration done again.'),
});

export const abortInput = z.strictObject({ sessionId });

export const resumeInput = z.strictObject({
  sessionId,
  answer: z.string().max(65_536).optional().describe('Answers what the agent asked.'),
  ...limits,
  iterationTimeout: startFields.iterationTimeout,
  idleTimeout: startFields.idleTimeout,
  verify: z
    .array(command)
    .max(50)
    .optional()
    .describe('Other commands that must pass before "done" is believed.'),
  setup: z.array(command).max(50).optional().describe('Other commands that make a fresh worktree usable.'),
  agent: z.string().max(50).optional().describe('Go on with another agent.'),
  model: startFields.model,
  command: startFields.command,
});

export const noteInput = z.strictObject({
  sessionId,
  text: z.string().min(1).max(65_536).describe('What to heed.'),
  isAnswer: z.boolean().optional().describe('It answers what a stopped session asked: the session goes on.'),
});

export const contextInput = z.strictObject({
  sessionId,
  maxTurns: z.int().min(1).max(50).optional().describe('At most so many of the newest turns (10).'),
});

/** `none` is no limit, for Pulse `null`. */
export function usd(value: number | 'none' | undefined): number | null | undefined {
  return value === 'none' ? null : value;
}
