import { PulseError } from '../../domain/errors.ts';
import { higherLimit } from '../../domain/next-command.ts';
import type { Session } from '../../store/sessions.ts';

/** After a limit was reached a resume needs a higher one: else `limit_not_raised` says which. */
export function requireRaisedLimits(session: Session, after: Session): void {
  const { stop_reason: reason, current_iteration, spent_usd, total_tokens_used, running_ms } = session;
  const isAbove = (limit: number | null, spent: number): boolean => limit === null || limit > spent;
  if (reason === 'iteration_limit' && !isAbove(after.max_iterations, current_iteration))
    throw notRaised('iteration limit', session);
  if (reason === 'budget_cost' && !isAbove(after.budget_usd, spent_usd))
    throw notRaised('cost limit', session);
  if (reason === 'budget_tokens' && !isAbove(after.budget_tokens, total_tokens_used))
    throw notRaised('token limit', session);
  if (reason === 'budget_time' && !isAbove(after.time_limit_ms, running_ms))
    throw notRaised('running time limit', session);
}

function notRaised(limit: string, session: Session): PulseError {
  return new PulseError(
    'limit_not_raised',
    `The session stopped at its ${limit}; it needs a higher one to continue.`,
    {
      hint: `For example: pulse resume ${session.id} ${higherLimit(session)}`,
    },
  );
}
