/** What a follower of research is told beside the events: the baseline, and seed 4's status line every five experiments. */
import type { PulseEvent } from '../../../domain/events.ts';
import type { Pulse } from '../../../pulse.ts';
import { formatFigure } from '../../../research/figures.ts';

/** `null`: there is nothing to say. */
export async function researchStatus(pulse: Pulse, event: PulseEvent): Promise<string | null> {
  if (event.type === 'iteration.settled' && event.data.outcome === 'completed') {
    const { research, file } = await pulse.research.rows(event.sessionId);
    if (research.baseline === null) return null;
    return `✓  0 baseline ${formatFigure(research.baseline)}  ${file.metric.name}, ${file.metric.direction} is better`;
  }
  return event.type === 'experiment.status' ? String(event.data.text) : null;
}
