/** The lines of `claude --output-format stream-json` that matter here (qwen prints the same kinds), field by field. */
import * as z from 'zod';
import { count, figure, text, whole } from '../shared/line-fields.ts';

const callUsage = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
});
export type CallUsage = z.infer<typeof callUsage>;

/** The parts of a message that matter: texts, tool calls and their results. Others (thinking, images) are dropped. */
const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    is_error: z.boolean().nullish(),
    content: z.unknown(),
  }),
]);
const parts = z
  .union([z.string().transform((said) => [{ type: 'text', text: said }]), z.array(z.unknown())])
  .catch([])
  .transform((all) => all.flatMap((each) => part.safeParse(each).data ?? []));

const rateLimit = z.object({ status: text, resetsAt: figure });

export const claudeLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('system'),
    subtype: z.string(),
    session_id: text,
    model: text,
    tools: z.array(z.string()).nullish().catch(null),
    attempt: whole,
    retry_delay_ms: figure,
    error_status: whole,
  }),
  z.object({
    type: z.literal('assistant'),
    message: z.object({ id: text, model: text, content: parts, usage: callUsage.nullish().catch(null) }),
    parent_tool_use_id: text,
    error: text,
    api_error: text,
    api_error_params: z.object({ rate_limit_info: rateLimit.nullish() }).nullish().catch(null),
  }),
  z.object({ type: z.literal('user'), message: z.object({ content: parts }) }),
  z.object({
    type: z.literal('stream_event'),
    event: z.object({
      type: z.string(),
      message: z.object({ model: text, usage: callUsage }).nullish().catch(null),
      usage: callUsage.nullish().catch(null),
    }),
    parent_tool_use_id: text,
  }),
  z.object({ type: z.literal('rate_limit_event'), rate_limit_info: rateLimit }),
  z.object({
    type: z.literal('result'),
    is_error: z.boolean(),
    subtype: text,
    result: text,
    errors: z.array(z.string()).nullish().catch(null),
    error: z.object({ message: z.string() }).nullish().catch(null),
    api_error_status: whole,
    terminal_reason: text,
    session_id: text,
    total_cost_usd: figure,
    usage: callUsage.nullish().catch(null),
    modelUsage: z
      .record(
        z.string(),
        z.object({
          inputTokens: count,
          outputTokens: count,
          cacheReadInputTokens: count,
          cacheCreationInputTokens: count,
          contextWindow: whole,
        }),
      )
      .nullish()
      .catch(null),
    permission_denials: z
      .array(z.object({ tool_name: z.string(), tool_use_id: text }))
      .nullish()
      .catch(null),
  }),
]);
export type ClaudeLine = z.infer<typeof claudeLine>;
export type ClaudeResult = Extract<ClaudeLine, { type: 'result' }>;
export type ClaudeMessage = Extract<ClaudeLine, { type: 'assistant' }>;
