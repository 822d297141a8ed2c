/** Limits as pure arithmetic over a session's row (docs/protocol/sessions.md, Budgets). */
import type { AttemptSpec } from '../../domain/attempt.ts';
import { formatDuration } from '../../domain/durations.ts';
import type { IterationHead } from '../../store/iterations.ts';
import type { Session } from '../../store/sessions.ts';
import type { Stop } from '../loop.ts';

/** What a call reserves before anything is known of what calls cost here. */
const FIRST_RESERVATION_USD = 0.5;

type Limits = Pick<
  Session,
  | 'budget_usd'
  | 'budget_tokens'
  | 'time_limit_ms'
  | 'spent_usd'
  | 'total_tokens_used'
  | 'running_ms'
  | 'iteration_timeout_ms'
  | 'idle_timeout_ms'
>;

/** What one run may still use: the session's remaining budgets and its own clocks. */
export function runLimits(session: Limits): AttemptSpec['limits'] {
  return {
    hardMs: session.iteration_timeout_ms,
    idleMs: session.idle_timeout_ms,
    usd: session.budget_usd === null ? null : Math.max(0, session.budget_usd - session.spent_usd),
    tokens:
      session.budget_tokens === null ? null : Math.max(0, session.budget_tokens - session.total_tokens_used),
    timeMs: session.time_limit_ms === null ? null : Math.max(0, session.time_limit_ms - session.running_ms),
  };
}

/** The first budget that is used up, if any. Iterations are the loop's own count. */
export function budgetStop(session: Limits): Stop | null {
  if (session.budget_usd !== null && session.spent_usd >= session.budget_usd) {
    const spent = `${session.spent_usd.toFixed(2)} of ${session.budget_usd.toFixed(2)} USD spent`;
    return { status: 'blocked', reason: 'budget_cost', detail: spent };
  }
  if (session.budget_tokens !== null && session.total_tokens_used >= session.budget_tokens) {
    const used = `${session.total_tokens_used} of ${session.budget_tokens} tokens used`;
    return { status: 'blocked', reason: 'budget_tokens', detail: used };
  }
  if (session.time_limit_ms !== null && session.running_ms >= session.time_limit_ms) {
    const ran = `${formatDuration(session.running_ms)} of ${formatDuration(session.time_limit_ms)} running time used`;
    return { status: 'blocked', reason: 'budget_time', detail: ran };
  }
  return null;
}

/** Which budget has been gone beyond, while runs are still going. */
export function overspent(
  limits: Pick<Limits, 'budget_usd' | 'budget_tokens' | 'spent_usd' | 'total_tokens_used'>,
) {
  const { budget_usd: usd, budget_tokens: tokens, spent_usd: spentUsd, total_tokens_used: used } = limits;
  if (usd !== null && spentUsd > usd) return 'budget_cost';
  return tokens !== null && used > tokens ? 'budget_tokens' : null;
}

const WARNING_SHARE = 0.8;

/** Said once, by the iteration whose cost took the session over the share. */
export function budgetWarning(
  { budget_usd: limitUsd, spent_usd: spentUsd }: Limits,
  iterationUsd: number,
): { limitUsd: number; spentUsd: number } | null {
  if (limitUsd === null) return null;
  const isCrossed =
    spentUsd >= limitUsd * WARNING_SHARE && spentUsd - iterationUsd < limitUsd * WARNING_SHARE;
  return isCrossed ? { limitUsd, spentUsd } : null;
}

/** The largest of the last ten, or a first guess; never more than what is left. */
export function reservationUsd(session: Limits, recent: readonly Pick<IterationHead, 'cost_usd'>[]): number {
  if (session.budget_usd === null) return 0;
  const costs = recent.slice(0, 10).map((iteration) => iteration.cost_usd ?? 0);
  const largest = Math.max(0, ...costs) || FIRST_RESERVATION_USD;
  return Math.min(largest, Math.max(0, session.budget_usd - session.spent_usd));
}
