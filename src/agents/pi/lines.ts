/** The lines of `pi --mode json` that matter here, field by field. */
import * as z from 'zod';
import { count, figure, flag, text } from '../shared/line-fields.ts';

const usage = z.object({
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  cost: z.object({ total: z.number().nonnegative() }).nullish().catch(null),
});
export type PiUsage = z.infer<typeof usage>;

/** Only the texts of a message: tool calls have lines of their own. */
const texts = z
  .array(z.unknown())
  .catch([])
  .transform((parts) =>
    parts.map((part) => z.object({ type: z.literal('text'), text: z.string() }).safeParse(part)),
  )
  .transform((parts) => parts.flatMap(({ data }) => data?.text ?? []));

const message = z.object({
  role: z.string(),
  content: texts,
  model: text,
  stopReason: text,
  errorMessage: text,
  usage: usage.nullish().catch(null),
});
export type PiMessage = z.infer<typeof message>;

export const piLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), id: z.string() }),
  /** A piece of a message. */
  z.object({ type: z.literal('message_update') }),
  z.object({ type: z.literal('message_end'), message }),
  z.object({
    type: z.literal('tool_execution_start'),
    toolCallId: z.string(),
    toolName: z.string(),
    args: z.unknown(),
  }),
  z.object({
    type: z.literal('tool_execution_end'),
    toolCallId: z.string(),
    isError: flag,
  }),
  z.object({
    type: z.literal('auto_retry_start'),
    attempt: z.int().nonnegative(),
    delayMs: figure,
    errorMessage: text,
  }),
  z.object({ type: z.literal('compaction_start'), reason: text }),
  z.object({ type: z.literal('agent_end') }),
]);
export type PiLine = z.infer<typeof piLine>;

/** Other lines, which repeat the ones above. */
export const IGNORED_LINES =
  /^(?:agent_start|turn_start|turn_end|message_start|tool_execution_update|auto_retry_end|compaction_end|queue_update)$/;
