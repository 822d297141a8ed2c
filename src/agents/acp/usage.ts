/** What a turn spent: the protocol's own field, if the agent fills it, else gemini's extension. */
import * as z from 'zod';
import type { RunEvent } from '../contract.ts';
import { count } from '../shared/line-fields.ts';

const standard = z.object({
  usage: z.object({
    inputTokens: count,
    outputTokens: count,
    thoughtTokens: count,
    cachedReadTokens: count,
    cachedWriteTokens: count,
  }),
});

const tokenCount = z.object({ input_tokens: count, output_tokens: count });
const gemini = z.object({
  _meta: z.object({
    quota: z.object({
      token_count: tokenCount,
      model_usage: z
        .array(z.object({ model: z.string() }))
        .catch([])
        .default([]),
    }),
  }),
});

/** These agents report only the last call. A number that is too low is worse than none. */
const TELLS_LAST_CALL = /opencode/i;

export function readUsage(response: unknown, agentName: string): RunEvent[] {
  if (TELLS_LAST_CALL.test(agentName)) return [];
  const { data } = standard.safeParse(response);
  if (data) {
    const { inputTokens, outputTokens, thoughtTokens, cachedReadTokens, cachedWriteTokens } = data.usage;
    return [
      {
        type: 'usage',
        scope: 'cumulative',
        inputTokens,
        outputTokens: outputTokens + thoughtTokens,
        cacheTokens: cachedReadTokens + cachedWriteTokens,
      },
    ];
  }
  const quota = gemini.safeParse(response).data?._meta.quota;
  if (!quota) return [];
  const models = quota.model_usage.map(({ model }) => model);
  const started: RunEvent[] = models.length === 1 ? [{ type: 'started', model: models[0] }] : [];
  const { input_tokens: inputTokens, output_tokens: outputTokens } = quota.token_count;
  return [...started, { type: 'usage', scope: 'cumulative', inputTokens, outputTokens }];
}
