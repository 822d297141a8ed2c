/** The lines of `gemini --output-format stream-json`, field by field. */
import * as z from 'zod';
import { count, text } from '../shared/line-fields.ts';

const problem = z.object({ type: text, message: text }).nullish().catch(null);

const tokens = z.object({ total_tokens: count, input_tokens: count, output_tokens: count, cached: count });
export type GeminiTokens = z.infer<typeof tokens>;

export const geminiLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('init'), session_id: text, model: text }),
  z.object({ type: z.literal('message'), role: z.string(), content: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    tool_name: z.string(),
    tool_id: z.string(),
    parameters: z.unknown(),
  }),
  z.object({ type: z.literal('tool_result'), tool_id: z.string(), status: text, error: problem }),
  z.object({ type: z.literal('error'), message: text }),
  z.object({
    type: z.literal('result'),
    status: z.string(),
    error: problem,
    stats: tokens
      .extend({ models: z.record(z.string(), tokens).nullish().catch(null) })
      .nullish()
      .catch(null),
  }),
]);
export type GeminiLine = z.infer<typeof geminiLine>;
