/**
 * What models cost, for agents that do not say and for estimates while they run. List prices of November 2025;
 * `prices` of the config comes first.
 */
import type { Prices, Usage } from '../domain/attempt.ts';

/** USD for a million tokens. Kept small: a model that is not here has an unknown cost, never a guessed one. */
const LIST_PRICES: Prices = {
  'claude-opus-4-5*': { input: 5, output: 25, cache: 0.5 },
  'claude-sonnet-4*': { input: 3, output: 15, cache: 0.3 },
  'claude-haiku-4-5*': { input: 1, output: 5, cache: 0.1 },
  'gemini-2.5-flash': { input: 0.3, output: 2.5, cache: 0.03 },
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4, cache: 0.01 },
  'gpt-5': { input: 1.25, output: 10, cache: 0.125 },
  'gpt-5-codex': { input: 1.25, output: 10, cache: 0.125 },
  'gpt-5-mini': { input: 0.25, output: 2, cache: 0.025 },
  'gpt-5.1': { input: 1.25, output: 10, cache: 0.125 },
  'gpt-5.1-codex': { input: 1.25, output: 10, cache: 0.125 },
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

function findPrice(prices: Prices, model: string): Prices[string] | null {
  const matching = Object.keys(prices)
    .filter((name) => (name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : name === model))
    .sort((a, b) => b.length - a.length);
  return matching[0] === undefined ? null : (prices[matching[0]] ?? null);
}
