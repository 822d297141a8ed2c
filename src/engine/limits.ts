import { PulseError } from '../domain/errors.ts';
import type { Session } from '../store/sessions.ts';

export interface LimitChange {
  maxIterations?: number;
  /** `null`: no limit. */
  budgetUsd?: number | null;
  budgetTokens?: number;
  timeLimitMs?: number;
}

type LimitColumns = Partial<
  Pick<Session, 'max_iterations' | 'budget_usd' | 'budget_tokens' | 'time_limit_ms'>
>;

/** The columns to change. After a limit was reached a resume needs a higher one: else `limit_not_raised` says which. */
export function raisedLimits(session: Session, change: LimitChange): LimitColumns {
  const columns: LimitColumns = {
    ...(change.maxIterations === undefined ? {} : { max_iterations: change.maxIterations }),
    ...(change.budgetUsd === undefined ? {} : { budget_usd: change.budgetUsd }),
    ...(change.budgetTokens === undefined ? {} : { budget_tokens: change.budgetTokens }),
    ...(change.timeLimitMs === undefined ? {} : { time_limit_ms: change.timeLimitMs }),
  };
  const after = { ...session, ...columns };
  if (after.max_iterations <= session.current_iteration && session.stop_reason === 'iteration_limit') {
    throw notRaised('iteration limit', `--max-iterations ${session.current_iteration + 5}`);
  }
  if (
    after.budget_usd !== null &&
    after.budget_usd <= session.spent_usd &&
    session.stop_reason === 'budget_cost'
  ) {
    throw notRaised('cost limit', `--budget-usd ${Math.ceil(session.spent_usd * 2) || 1}`);
  }
  const { stop_reason: reason } = session;
  if (
    after.budget_tokens !== null &&
    after.budget_tokens <= session.total_tokens_used &&
    reason === 'budget_tokens'
  ) {
    throw notRaised('token limit', `--budget-tokens ${session.total_tokens_used * 2}`);
  }
  if (after.time_limit_ms !== null && after.time_limit_ms <= session.running_ms && reason === 'budget_time') {
    throw notRaised('running time limit', `--time-limit ${Math.ceil(session.running_ms / 3_600_000) + 1}h`);
  }
  return columns;
}

function notRaised(limit: string, option: string): PulseError {
  return new PulseError(
    'limit_not_raised',
    `The session stopped at its ${limit}; it needs a higher one to go on.`,
    {
      hint: `For example: ${option}`,
    },
  );
}
