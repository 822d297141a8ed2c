/** What a claude run spends: an estimate, call by call, until its result has the total. */

import type { ParserOptions, RunEvent } from '../contract.ts';
import { contextWindowOf } from '../shared/context-windows.ts';
import { costOf, type Tokens } from '../shared/prices.ts';
import { addTokens, amountSince, tokensSince, usageEvent } from '../shared/usage.ts';
import type { CallUsage, ClaudeResult } from './lines.ts';

/** What writing into the cache costs, as a multiple of the input's price. */
const CACHE_WRITE_FACTOR = 1.25;

export interface ClaudeMeter {
  /** Sets the model of the next calls. */
  setModel(model: string): void;
  /** One more call has ended. */
  call(usage: CallUsage): RunEvent[];
  /** The agent's own total, which replaces the sum of the calls. */
  result(result: ClaudeResult): RunEvent[];
}

/** `countsCacheAsInput`: whether the agent counts cached tokens as input too. */
export function createClaudeMeter(
  { model: wanted, prices, earlier }: Pick<ParserOptions, 'model' | 'prices' | 'earlier'>,
  { countsCacheAsInput }: { countsCacheAsInput: boolean },
): ClaudeMeter {
  let model = wanted;
  let spent: Tokens = { inputTokens: 0, outputTokens: 0, cacheTokens: 0 };
  let costUsd: number | null = 0;

  function tokensOf(usage: CallUsage): Tokens {
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage;
    return {
      inputTokens: Math.max(0, input_tokens - (countsCacheAsInput ? cache_read_input_tokens : 0)),
      outputTokens: usage.output_tokens,
      cacheTokens: cache_read_input_tokens + cache_creation_input_tokens,
    };
  }

  function costOfCall({ inputTokens, outputTokens }: Tokens, usage: CallUsage): number | null {
    const written = CACHE_WRITE_FACTOR * usage.cache_creation_input_tokens;
    const cacheTokens = usage.cache_read_input_tokens;
    return costOf(model, { inputTokens: inputTokens + written, outputTokens, cacheTokens }, prices);
  }

  /** A resumed session may count from its beginning: then the total is at least the earlier usage and this run's. */
  function isFromTheBeginning(total: Tokens): boolean {
    if (!earlier) return false;
    return (
      total.inputTokens >= earlier.inputTokens + spent.inputTokens &&
      total.outputTokens >= earlier.outputTokens + spent.outputTokens
    );
  }

  return {
    setModel(named) {
      model = named;
    },
    call(usage) {
      const tokens = tokensOf(usage);
      const cost = costOfCall(tokens, usage);
      costUsd = cost === null || costUsd === null ? null : costUsd + cost;
      spent = addTokens([spent, tokens]);
      const contextTokens = tokens.inputTokens + tokens.cacheTokens + tokens.outputTokens;
      return [usageEvent('cumulative', { ...spent, contextTokens, costUsd })];
    },
    result({ total_cost_usd, usage, modelUsage }) {
      const models = Object.values(modelUsage ?? {});
      if (models.length === 0 && !usage) return [];
      // The usage by model covers the whole process. The result's own `usage` leaves out subagents and side calls.
      const total = models.length > 0 ? addTokens(models.map(tokensOfModel)) : tokensOf(usage!);
      const before = isFromTheBeginning(total) ? earlier : null;
      const tokens = tokensSince(total, before);
      const told = total_cost_usd ?? null;
      const costUsd = told === null ? costOf(model, tokens, prices) : amountSince(told, before?.costUsd);
      const asked = (model === null ? undefined : modelUsage?.[model]) ?? models[0];
      // qwen, which speaks the same words, does not tell it.
      const contextWindow = asked?.contextWindow ?? contextWindowOf(model) ?? undefined;
      return [usageEvent('cumulative', { ...tokens, contextWindow, costUsd })];
    },
  };
}

type ModelUsage = NonNullable<ClaudeResult['modelUsage']>[string];

function tokensOfModel(usage: ModelUsage): Tokens {
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cacheTokens: usage.cacheReadInputTokens + usage.cacheCreationInputTokens,
  };
}
