/** Adds up and reports what a run has spent. */
import type { Usage } from '../../domain/attempt.ts';
import type { RunEvent, UsageScope } from '../contract.ts';
import type { Tokens } from './prices.ts';

export interface Spent extends Tokens {
  /** `null`: unknown. */
  costUsd: number | null;
  contextTokens?: number;
  contextWindow?: number;
}

export function usageEvent(scope: UsageScope, { costUsd, ...tokens }: Spent): RunEvent {
  return { type: 'usage', scope, ...tokens, ...(costUsd === null ? {} : { costUsd }) };
}

export function addTokens(all: readonly Tokens[]): Tokens {
  const total = (field: keyof Tokens) => all.reduce((sum, each) => sum + each[field], 0);
  return {
    inputTokens: total('inputTokens'),
    outputTokens: total('outputTokens'),
    cacheTokens: total('cacheTokens'),
  };
}

/** `null` if the list is empty or one cost is unknown. */
export function addCosts(all: readonly (number | null)[]): number | null {
  if (all.length === 0 || all.includes(null)) return null;
  return all.reduce<number>((sum, cost) => sum + (cost ?? 0), 0);
}

/** What this run has added to a total that counts from the session's beginning. */
export function tokensSince(total: Tokens, earlier: Usage | null): Tokens {
  return {
    inputTokens: amountSince(total.inputTokens, earlier?.inputTokens),
    outputTokens: amountSince(total.outputTokens, earlier?.outputTokens),
    cacheTokens: amountSince(total.cacheTokens, earlier?.cacheTokens),
  };
}

export function amountSince(total: number, earlier: number | null | undefined): number {
  return Math.max(0, total - (earlier ?? 0));
}
