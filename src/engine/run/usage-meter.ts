import type { RunEvent } from '../../agents/contract.ts';
import type { Usage } from '../../domain/attempt.ts';
import { boundedTokens, boundedUsd } from '../../domain/bounds.ts';

type UsageEvent = Extract<RunEvent, { type: 'usage' }>;

/** Adds up what a run spends, by its stream and by `report_usage`: neither knows of the other. */
export interface UsageMeter {
  /** From the stream. A cumulative report replaces what the stream had told, in the fields that it has. */
  add(event: Omit<UsageEvent, 'type'>): void;
  /** By `report_usage`: always on top. */
  report(usage: Omit<UsageEvent, 'type' | 'scope'>): void;
  total(): Usage;
}

const NOTHING: Usage = { costUsd: null, inputTokens: 0, outputTokens: 0, cacheTokens: 0 };

export function createUsageMeter(): UsageMeter {
  let streamed = NOTHING;
  let reported = NOTHING;
  return {
    add({ scope, ...told }) {
      streamed =
        scope === 'cumulative' ? usageOf(told, streamed) : addUsage(streamed, usageOf(told, NOTHING));
    },
    report(told) {
      reported = addUsage(reported, usageOf(told, NOTHING));
    },
    total: () => addUsage(streamed, reported),
  };
}

function usageOf(told: Partial<Usage>, otherwise: Usage): Usage {
  return {
    costUsd: boundedUsd(told.costUsd ?? otherwise.costUsd),
    inputTokens: boundedTokens(told.inputTokens ?? otherwise.inputTokens),
    outputTokens: boundedTokens(told.outputTokens ?? otherwise.outputTokens),
    cacheTokens: boundedTokens(told.cacheTokens ?? otherwise.cacheTokens),
  };
}

/** Both together; a cost that nobody knows is left out, unless neither is known. */
export function addUsage(one: Usage, other: Usage): Usage {
  const isUnknown = one.costUsd === null && other.costUsd === null;
  return {
    costUsd: isUnknown ? null : boundedUsd((one.costUsd ?? 0) + (other.costUsd ?? 0)),
    inputTokens: boundedTokens(one.inputTokens + other.inputTokens),
    outputTokens: boundedTokens(one.outputTokens + other.outputTokens),
    cacheTokens: boundedTokens(one.cacheTokens + other.cacheTokens),
  };
}

/** Tokens that count against a budget: what went in and what came out. */
export function budgetTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}
