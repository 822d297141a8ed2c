/** The lines of `copilot --output-format json` that matter here, field by field. */
import * as z from 'zod';
import { count, flag, text, whole } from '../shared/line-fields.ts';

/** Set on lines of a subagent. */
const agentId = text;

const failure = z.object({
  statusCode: whole,
  retryAttempt: whole,
  failureKind: text,
  errorCode: text,
  errorType: text,
});
export type CopilotFailure = z.infer<typeof failure>;

export const copilotLine = z.discriminatedUnion('type', [
  /** The first line, which Pulse prints itself: the session id that it gave to copilot. */
  z.object({ type: z.literal('pulse.session'), sessionId: z.string() }),
  z.object({ type: z.literal('model.call_start'), data: z.object({ model: text }) }),
  z.object({ type: z.literal('model.call_failure'), agentId, data: failure }),
  z.object({ type: z.literal('assistant.turn_retry') }),
  z.object({ type: z.literal('assistant.message_delta') }),
  z.object({
    type: z.literal('assistant.message'),
    agentId,
    data: z.object({ content: z.string(), parentToolCallId: text }),
  }),
  z.object({
    type: z.literal('tool.execution_start'),
    data: z.object({
      toolCallId: z.string(),
      toolName: z.string(),
      arguments: z.unknown(),
      mcpServerName: text,
      mcpToolName: text,
    }),
  }),
  z.object({
    type: z.literal('tool.execution_complete'),
    data: z.object({
      toolCallId: z.string(),
      success: flag,
      error: z.object({ code: text }).nullish().catch(null),
    }),
  }),
  z.object({ type: z.literal('session.compaction_start') }),
  z.object({ type: z.literal('session.error'), data: z.object({ message: text }) }),
  z.object({ type: z.literal('abort'), data: z.object({ reason: text }).nullish().catch(null) }),
  z.object({ type: z.literal('result'), sessionId: text, exitCode: z.number().nullish().catch(null) }),
]);
export type CopilotLine = z.infer<typeof copilotLine>;

const tokens = z.object({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
});
export type CopilotTokens = z.infer<typeof tokens>;

/** The usage file, in one line. */
export const copilotUsage = z.object({
  modelMetrics: z.record(z.string(), z.object({ usage: tokens })),
});

/** The OpenTelemetry span of a model call. Its input includes what came from a cache. */
export const copilotSpan = z.object({
  type: z.literal('span'),
  attributes: z.object({
    'gen_ai.operation.name': z.literal('chat'),
    'gen_ai.request.model': text,
    'gen_ai.response.model': text,
    'gen_ai.usage.input_tokens': z.int().nonnegative(),
    'gen_ai.usage.output_tokens': z.int().nonnegative(),
    'gen_ai.usage.cache_read.input_tokens': whole,
    'gen_ai.usage.cache_creation.input_tokens': whole,
  }),
});

/** Lines of these families that nobody needs, unless they are in the schema. */
export const IGNORED_LINES =
  /^(?:session|user|system|assistant|model|tool|subagent|hook|skill|permission|command)\./;
