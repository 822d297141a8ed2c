import type { RunEvent } from '../agents/contract.ts';
import type { Usage } from '../domain/attempt.ts';

type UsageEvent = Extract<RunEvent, { type: 'usage' }>;

/** Adds up what a run spends. A cumulative report replaces what was known; calls and turns add to it. */
export interface UsageMeter {
  add(event: Omit<UsageEvent, 'type'>): void;
  total(): Usage;
}

export function createUsageMeter(): UsageMeter {
  let usage: Usage = { costUsd: null, inputTokens: 0, outputTokens: 0, cacheTokens: 0 };
  return {
    add({ scope, costUsd, inputTokens = 0, outputTokens = 0, cacheTokens = 0 }) {
      if (scope === 'cumulative') {
        usage = { costUsd: costUsd ?? usage.costUsd, inputTokens, outputTokens, cacheTokens };
        return;
      }
      usage = {
        costUsd: costUsd === undefined ? usage.costUsd : (usage.costUsd ?? 0) + costUsd,
        inputTokens: usage.inputTokens + inputTokens,
        outputTokens: usage.outputTokens + outputTokens,
        cacheTokens: usage.cacheTokens + cacheTokens,
      };
    },
    total: () => usage,
  };
}

/** Tokens that count against a budget: what went in and what came out. */
export function budgetTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}
