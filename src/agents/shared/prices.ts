/**
 * What models cost, for agents that do not say and for estimates while they run. List prices for prompts of ordinary
 * length, as of 15 November 2026: platform.claude.com/docs/en/about-claude/pricing, developers.openai.com/api/docs/pricing,
 * ai.google.dev/gemini-api/docs/pricing. `prices` of the config comes first.
 */
import type { Prices, Usage } from '../../domain/attempt.ts';

/**
 * USD for a million tokens. Kept small: a model that is not here has an unknown cost, never a guessed one. Left out are
 * models whose prompts reach a second, dearer price within what agents send (gemini's pro models, claude-haiku-5-5).
 */
const LIST_PRICES: Prices = {
  'claude-fable-5': { input: 10, output: 50, cache: 1 },
  'claude-opus-4-5*': { input: 5, output: 25, cache: 0.5 },
  'claude-opus-4-6*': { input: 5, output: 25, cache: 0.5 },
  'claude-opus-4-7*': { input: 5, output: 25, cache: 0.5 },
  'claude-opus-4-8*': { input: 5, output: 25, cache: 0.5 },
  'claude-opus-5': { input: 5, output: 25, cache: 0.5 },
  'claude-opus-5-5*': { input: 4, output: 20, cache: 0.2 },
  'claude-sonnet-4*': { input: 3, output: 15, cache: 0.3 },
  'claude-sonnet-5': { input: 2, output: 10, cache: 0.2 },
  'claude-sonnet-5-5*': { input: 2, output: 10, cache: 0.2 },
  'claude-haiku-4-5*': { input: 1, output: 5, cache: 0.1 },
  'gemini-2.5-flash': { input: 0.3, output: 2.5, cache: 0.03 },
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4, cache: 0.01 },
  'gemini-3.5-flash': { input: 1.5, output: 9, cache: 0.15 },
  'gpt-5': { input: 1.25, output: 10, cache: 0.125 },
  'gpt-5-codex': { input: 1.25, output: 10, cache: 0.125 },
  'gpt-5-mini': { input: 0.25, output: 2, cache: 0.025 },
  'gpt-5.1': { input: 1.25, output: 10, cache: 0.125 },
  'gpt-5.1-codex': { input: 1.25, output: 10, cache: 0.125 },
  'gpt-5.2': { input: 1.75, output: 14, cache: 0.175 },
  'gpt-5.2-codex': { input: 1.75, output: 14, cache: 0.175 },
  'gpt-5.3-codex': { input: 1.75, output: 14, cache: 0.175 },
  'gpt-5.4': { input: 2.5, output: 15, cache: 0.25 },
  'gpt-5.4-mini': { input: 0.75, output: 4.5, cache: 0.075 },
  'gpt-5.4-nano': { input: 0.2, output: 1.25, cache: 0.02 },
  'gpt-5.5': { input: 5, output: 30, cache: 0.5 },
  'gpt-5.6-luna': { input: 0.2, output: 1.2, cache: 0.02 },
  'gpt-5.6-terra': { input: 2, output: 12, cache: 0.2 },
};

/** Tokens of one kind each: `input` is without what came from a cache. */
export type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens' | 'cacheTokens'>;

/** `null` when nobody knows what the model costs. The user's own prices win; of two patterns the longer one. */
export function costOf(model: string | null, tokens: Tokens, own: Prices): number | null {
  const price = model === null ? null : (findPrice(own, model) ?? findPrice(LIST_PRICES, model));
  if (!price) return null;
  const { input, output, cache = input } = price;
  const { inputTokens, outputTokens, cacheTokens } = tokens;
  return (inputTokens * input + outputTokens * output + cacheTokens * cache) / 1_000_000;
}

/** Whether what the model's tokens cost is known before any were used. */
export function hasPrice(model: string | null, own: Prices): boolean {
  return costOf(model, { inputTokens: 0, outputTokens: 0, cacheTokens: 0 }, own) !== null;
}

function findPrice(prices: Prices, model: string): Prices[string] | null {
  const matching = Object.keys(prices)
    .filter((name) => (name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : name === model))
    .sort((a, b) => b.length - a.length);
  return matching[0] === undefined ? null : (prices[matching[0]] ?? null);
}
