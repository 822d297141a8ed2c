/** What followers of research see: its experiments, the baseline, the best so far. */

import type { LoopFollower } from '../../../cli/follow/loop-follower.ts';
import type { PulseEvent } from '../../../domain/events.ts';
import type { Pulse } from '../../../pulse.ts';
import type { Style } from '../../../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../../terminal/text.ts';
import { formatDelta, formatFigure } from '../report/figures.ts';
import { experimentLines } from './experiment-lines.ts';

export const researchFollower: LoopFollower = {
  async plan(pulse, id) {
    return { units: [], total: (await pulse.research.rows(id)).research.iterations };
  },
  eventText,
  eventLines: (event, { unit }, room) =>
    event.type === 'iteration.settled' || event.type.startsWith('experiment.')
      ? experimentLines(event, unit, room)
      : null,
  statusLine,
};

/** The baseline, and every five experiments how it stands. */
async function statusLine(pulse: Pulse, event: PulseEvent): Promise<string | null> {
  if (event.type === 'iteration.settled' && event.data.outcome === 'completed') {
    const { research, file } = await pulse.research.rows(event.sessionId);
    if (research.baseline === null) return null;
    return `✓  0 baseline ${formatFigure(research.baseline)}  ${file.metric.name}, ${file.metric.direction} is better`;
  }
  return event.type === 'experiment.status' ? String(event.data.text) : null;
}

function eventText({ type, data }: PulseEvent, style: Style): string | null {
  const word = (name: string): string => sanitizeLine(String(data[name] ?? ''));
  const figures = (): string => {
    const metric = typeof data.metric === 'number' ? ` ${formatFigure(data.metric)}` : '';
    const delta = typeof data.delta === 'number' ? ` (${formatDelta(data.delta)})` : '';
    return `${metric}${delta}`;
  };
  switch (type) {
    case 'experiment.status':
      return word('text');
    case 'experiment.workers':
      return `${Array.isArray(data.workers) ? data.workers.length : 'several'} sessions experiment at once`;
    case 'experiment.started':
      return style.bold(`experiment ${word('number')}`);
    case 'experiment.kept':
      return `${style.green(`kept ${word('number')}`)}${figures()} ${word('description')}\n${sanitizeForTerminal(String(data.reason ?? ''))}`;
    case 'experiment.discarded':
      return `discarded ${word('number')}${figures()} ${word('description')}\n${sanitizeForTerminal(String(data.reason ?? ''))}`;
    case 'experiment.crashed':
      return `${style.red(`crashed ${word('number')}`)} ${word('description')}\n${sanitizeForTerminal(String(data.reason ?? ''))}`;
    case 'experiment.surprised':
      return style.yellow(`surprising: ${word('text') || word('reason')}`);
    default:
      return null;
  }
}
