/**
 * What models cost, for agents that do not say and for estimates while they run: the vendors' list prices of the day that
 * prices.json names, in USD for a million tokens, for prompts of ordinary length. `prices` of the config comes first.
 *
 * The list is kept small: a model that is not there has an unknown cost, never a guessed one. Models whose prompts reach
 * a second, dearer price within what agents send are left out (gemini's pro models, claude-haiku-5-5).
 */
import type { Prices, Usage } from '../../domain/attempt.ts';
import list from './prices.json' with { type: 'json' };

const LIST_PRICES: Prices = list.models;

/** `inputTokens` leaves out what came from a cache. */
export type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens' | 'cacheTokens'>;

/** `null` if the model's price is unknown. The user's own prices win, and of two patterns the longer one. */
export function costOf(model: string | null, tokens: Tokens, own: Prices): number | null {
  const price = model === null ? null : (findPrice(own, model) ?? findPrice(LIST_PRICES, model));
  if (!price) return null;
  const { input, output, cache = input } = price;
  const { inputTokens, outputTokens, cacheTokens } = tokens;
  return (inputTokens * input + outputTokens * output + cacheTokens * cache) / 1_000_000;
}

/** Whether the model has a price. */
export function hasPrice(model: string | null, own: Prices): boolean {
  return costOf(model, { inputTokens: 0, outputTokens: 0, cacheTokens: 0 }, own) !== null;
}

function findPrice(prices: Prices, model: string): Prices[string] | null {
  const matching = Object.keys(prices)
    .filter((name) => (name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : name === model))
    .sort((a, b) => b.length - a.length);
  return matching[0] === undefined ? null : (prices[matching[0]] ?? null);
}
