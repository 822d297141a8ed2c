/** The message of the commit that a run's work becomes. */
import type { AttemptResult } from '../../domain/attempt.ts';
import { summaryBy } from '../../domain/summary.ts';
import type { HeldAttempt } from '../ports.ts';
import type { WorkKinds } from '../work.ts';

export function unitMessage(
  works: WorkKinds,
  { iteration, spec }: HeldAttempt,
  result: AttemptResult,
): { subject: string; body?: string } {
  const { kind, work } = works.of(spec);
  const { agent } = spec;
  if (kind.message) return kind.message({ work, iteration, result, agent });
  const summary = summaryBy(agent, result.run?.finalMessage ?? '') ?? 'work of this iteration';
  return { subject: `pulse: iteration ${iteration}: ${summary}` };
}
