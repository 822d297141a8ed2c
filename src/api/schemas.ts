/** What goes in and out over HTTP, as schemas: they check requests and make /openapi.json. */
import { isAbsolute } from 'node:path';
import { z } from '@hono/zod-openapi';
import { MOST_BUDGET_TOKENS, MOST_DURATION_MS, MOST_ITERATIONS } from '../domain/bounds.ts';
import { parseDuration } from '../domain/durations.ts';
import { SESSION_STATUSES } from '../domain/status.ts';
import { isStorable, NOT_STORABLE } from '../domain/storable.ts';

const MAX_COMMAND = 64 * 1024;

export function text(longest: number) {
  return z.string().min(1).max(longest).refine(isStorable, NOT_STORABLE);
}

const duration = z
  .union([z.string(), z.number()], { error: 'must be a duration such as "90s", or milliseconds' })
  .transform((value, context) => {
    const ms = typeof value === 'number' ? value : durationMs(value);
    if (Number.isSafeInteger(ms) && ms > 0 && ms <= MOST_DURATION_MS) return ms;
    context.addIssue({
      code: 'custom',
      message: 'must be a duration such as 90s, 10m or 2h, or milliseconds',
    });
    return z.NEVER;
  })
  .openapi({
    oneOf: [
      { type: 'string', pattern: '^(\\d+(\\.\\d+)?(ms|s|m|h|d))+$' },
      { type: 'integer', minimum: 1, maximum: MOST_DURATION_MS },
    ],
    description: '`90s`, `10m`, `2h`, `1h30m`; a number is milliseconds',
  });

function durationMs(value: string): number {
  try {
    return parseDuration(value);
  } catch {
    return Number.NaN; // the schema says what is wrong
  }
}

const budgets = {
  budgetUsd: z
    .number()
    .positive()
    .max(1e12)
    .nullable()
    .optional()
    .openapi({ description: '`null`: no limit' }),
  budgetTokens: z.int().min(1).max(MOST_BUDGET_TOKENS).optional(),
  timeLimit: duration.optional(),
};
const limits = { maxIterations: z.int().min(1).max(MOST_ITERATIONS).optional(), ...budgets };

/** Chat services number their chats; here an id is text. */
const externalId = z
  .union([text(200), z.int()], { error: 'must be text or a whole number' })
  .transform(String)
  .openapi({ oneOf: [{ type: 'string', minLength: 1, maxLength: 200 }, { type: 'integer' }] });

const commands = z.array(text(MAX_COMMAND)).max(100);

/** Of every start, whatever the loop. */
export const startFields = {
  projectPath: text(4096).refine(isAbsolute, 'must be an absolute path'),
  projectName: text(200).optional(),
  agent: text(100).optional(),
  model: text(200).optional().openapi({ description: 'Which model the agent is asked to use.' }),
  command: text(MAX_COMMAND).optional(),
  base: text(1000).optional(),
  branch: text(1000).optional(),
  ...budgets,
  iterationTimeout: duration.optional(),
  idleTimeout: duration.optional(),
  sandbox: z.enum(['off', 'auto', 'on']).optional().openapi({
    description:
      'Whether the agent and its checks are enclosed (the configured). With `on` a start that cannot have it is refused.',
  }),
  trust: z.boolean().optional().openapi({
    description:
      'A person’s word that the repository’s own config may be believed, for this session; without it one that was never trusted is refused (`untrusted_config`).',
  }),
  chatId: externalId.optional(),
  phoneNumber: text(50).optional(),
  discordThreadId: externalId.optional(),
};

export const StartBody = z
  .strictObject({
    goal: text(1024 * 1024).refine((goal) => goal.trim() !== '', 'must say something'),
    ...startFields,
    verify: commands.optional(),
    contextStrategy: z.enum(['none', 'prefetch', 'mcp', 'hybrid']).optional(),
    anchorTurnId: text(200).optional(),
    ...limits,
  })
  .openapi('Start');

export const ResumeBody = z
  .strictObject({
    answer: text(1024 * 1024).optional(),
    ...limits,
    iterationTimeout: duration.optional(),
    idleTimeout: duration.optional(),
    verify: commands.optional().openapi({ description: 'What must pass before "done" is believed.' }),
    setup: commands.optional().openapi({ description: 'What makes a fresh worktree usable.' }),
    agent: text(100).optional(),
    model: text(200).optional(),
    command: text(MAX_COMMAND).optional(),
  })
  .openapi('Resume');
export type ResumeBody = z.output<typeof ResumeBody>;

export const NoteBody = z
  .strictObject({
    text: text(64 * 1024),
    isAnswer: z
      .boolean()
      .optional()
      .openapi({ description: 'It answers what a stopped session asked: the session goes on.' }),
  })
  .openapi('Note');

/** Pause and abort take no input; `{}` is accepted. */
export const NoBody = z.strictObject({});

export const SessionParams = z.object({
  id: z
    .string()
    .max(100)
    .openapi({ param: { name: 'id', in: 'path' }, description: "A session's id, or the beginning of it" }),
});

export const IterationParams = SessionParams.extend({
  n: wholeNumber({ min: 1, max: MOST_ITERATIONS }).openapi({
    param: { name: 'n', in: 'path' },
    type: 'integer',
    minimum: 1,
    maximum: MOST_ITERATIONS,
  }),
});

export const KeyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
    .optional(),
});

/** An empty value counts as none: `?status=&limit=`. */
export const ListQuery = z.object({
  status: orEmpty(z.enum(SESSION_STATUSES)).openapi({ type: 'string', enum: [...SESSION_STATUSES] }),
  limit: orEmpty(wholeNumber({ min: 1, max: 200 })).openapi({ type: 'integer', minimum: 1, maximum: 200 }),
  cursor: orEmpty(z.string().regex(/^ses_[0-9a-f-]{36}$/, 'must be a nextCursor')).openapi({
    type: 'string',
  }),
});

const eventNumber = wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER });
export const EventsQuery = z.object({
  after: orEmpty(eventNumber).openapi({ type: 'integer', minimum: 0 }),
});
export const EventsHeaders = z.object({
  'last-event-id': orEmpty(eventNumber).openapi({ type: 'integer', minimum: 0 }),
});

function orEmpty<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
}

/** A number as a path, a query or a header spells it. */
function wholeNumber({ min, max }: { min: number; max: number }) {
  return z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max));
}
