/** What a follower of research is told beside the events: the baseline, and seed 4's status line every five experiments. */
import type { PulseEvent } from '../../domain/events.ts';
import type { Pulse } from '../../pulse.ts';
import { formatFigure } from '../../research/figures.ts';
import { isStatusDue, progressOf, statusLine } from '../../research/progress.ts';
import type { RowStatus } from '../../research/stuck.ts';

const ENDS = new Set(['experiment.kept', 'experiment.discarded', 'experiment.crashed']);

/** `null`: there is nothing to say. */
export async function researchStatus(pulse: Pulse, event: PulseEvent): Promise<string | null> {
  if (event.type === 'iteration.settled' && event.data.outcome === 'completed') {
    const { research, file } = await pulse.research.view(event.sessionId);
    if (research.baseline === null) return null;
    return `✓  0 baseline ${formatFigure(research.baseline)}  ${file.metric.name}, ${file.metric.direction} is better`;
  }
  const number = Number(event.data.number);
  return ENDS.has(event.type) && isStatusDue(number) ? statusAt(pulse, event.sessionId, number) : null;
}

/** As it was then: whoever watches later sees what was said at the time. */
async function statusAt(pulse: Pulse, sessionId: string, number: number): Promise<string> {
  const { research, experiments } = await pulse.research.view(sessionId);
  const nothing = { commit: null, delta: null, commanderTaskId: null };
  const rows = [
    { ...nothing, iteration: 0, metric: research.baseline, status: 'baseline' as const, description: '' },
    ...experiments
      .filter((experiment) => experiment.number <= number)
      .map(({ number: iteration, metric, status, description }) => ({
        ...nothing,
        iteration,
        metric,
        status: status as RowStatus,
        description,
      })),
  ];
  return statusLine(progressOf(rows, { iterations: research.iterations, isGoalReached: false }));
}
