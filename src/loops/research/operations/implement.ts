/** What research has found becomes beads, and a swarm that executes them. */
import { PulseError } from '../../../domain/errors.ts';
import type { Operations } from '../../../operations/context.ts';
import { type ImplementOptions, implementDraft } from '../../../operations/implement-draft.ts';
import { findingsOf, nextStepsOf } from '../report/findings.ts';
import { implementationDraft } from '../report/implementation.ts';
import { findingsInput } from '../report/research-files.ts';
import { rowsOf } from '../report/result-rows.ts';
import type { ResearchRows } from './research.ts';

export async function implementFindings(
  operations: Operations,
  { session, research, file, experiments }: ResearchRows,
  options: ImplementOptions,
): ReturnType<typeof implementDraft> {
  if (session.status === 'running' || session.status === 'pending')
    throw new PulseError(
      'invalid_transition',
      `Session ${session.id} is still at it: its findings may change.`,
      {
        hint: `pulse pause ${session.id} first, or wait for its end.`,
      },
    );
  const rows = rowsOf(session, research, experiments.toReversed());
  const found = await findingsInput(operations.engine.store, { session, research, rows });
  const steps = research.baseline === null ? [] : nextStepsOf(found);
  if (steps.length === 0)
    throw new PulseError('invalid_transition', `Session ${session.id} has found nothing to implement.`, {
      hint: `pulse research finish ${session.id} --done closes it.`,
    });
  const draft = implementationDraft({
    ...{ sessionId: session.id, goal: file.goal, inScope: file.scope.inScope, guard: file.guard },
    ...{ measure: file.metric.verifyCommand, findings: findingsOf(found), steps },
  });
  return implementDraft(operations, { session, draft }, options);
}
