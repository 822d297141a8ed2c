/** The message of the commit that a run's work becomes. */
import type { AttemptResult, RunReport } from '../domain/attempt.ts';
import { outputSummary } from '../domain/summary.ts';
import type { HeldAttempt } from './ports.ts';

/** A pulse's summary is its commit's message; until it is done, its work is in progress. */
export function messageOf(
  { iteration, spec }: HeldAttempt,
  { run }: AttemptResult,
): { subject: string; body?: string } {
  if (run?.completion) {
    const [subject = '', ...rest] = run.completion.summary.trim().split('\n');
    return { subject, body: rest.join('\n').trim() || undefined };
  }
  if (spec.work?.kind === 'pulse')
    return { subject: `wip: ${spec.work.plannedPulseId}, iteration ${iteration}` };
  if (spec.work?.kind === 'experiment') return { subject: `experiment: ${experimentSubject(run)}` };
  const summary = outputSummary(run?.finalMessage ?? '') ?? 'work of this iteration';
  return { subject: `pulse: iteration ${iteration}: ${summary}` };
}

function experimentSubject(run: RunReport | null): string {
  return (
    run?.description?.split('\n')[0]?.trim() || outputSummary(run?.finalMessage ?? '') || 'no description'
  );
}
