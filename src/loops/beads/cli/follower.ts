/** What followers of a swarm see: its workers, and the beads as they are taken, closed or given back. */
import type { LoopFollower } from '../../../cli/follow/loop-follower.ts';
import type { PulseEvent } from '../../../domain/events.ts';
import type { Style } from '../../../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../../terminal/text.ts';

export const beadsFollower: LoopFollower = {
  eventText,
  eventLines(event, _, { style }) {
    const text = eventText(event, style);
    return text === null ? null : text.split('\n');
  },
};

function listOf(names: unknown): string {
  return Array.isArray(names) ? names.map((name) => sanitizeLine(String(name))).join(', ') : '';
}

function eventText({ type, data }: PulseEvent, style: Style): string | null {
  const word = (name: string): string => sanitizeLine(String(data[name] ?? ''));
  const bead = `${word('bead')} ${word('title')}`.trim();
  const reasons = Array.isArray(data.reasons)
    ? data.reasons.map((one) => sanitizeForTerminal(String(one)))
    : [];
  switch (type) {
    case 'swarm.workers': {
      const count = Array.isArray(data.workers) ? data.workers.length : 0;
      return `${count} ${count === 1 ? 'worker begins' : 'workers begin'}`;
    }
    case 'worker.online':
      return style.dim(`${word('name')} is online`);
    case 'worker.left':
      return style.yellow(`${word('nickname')} hands over: ${word('reason')}`);
    case 'bead.taken':
      return `${word('worker')} takes ${style.bold(bead)}`;
    case 'bead.merging':
      return style.dim(`${listOf(data.beads)} is merged onto what arrived meanwhile`);
    case 'bead.returned':
      return [
        style.yellow(`${word('bead')} goes back to its worker`),
        sanitizeForTerminal(String(data.reason ?? '')),
      ].join('\n');
    case 'bead.released':
      return style.yellow(`${listOf(data.beads)} is open again: nobody works on it`);
    case 'bead.rejected':
      return [style.red(`${word('bead')} not accepted`), ...reasons].join('\n');
    case 'bead.closed':
      return `${style.green('✓')} ${bead}  ${style.dim(word('commit').slice(0, 7))}`;
    case 'bead.blocked':
      return [style.red(`✗ ${bead} is blocked`), sanitizeForTerminal(String(data.reason ?? ''))].join('\n');
    case 'bead.asked':
      return [
        style.yellow(`? ${bead} has changed checks, and waits`),
        sanitizeForTerminal(String(data.reason ?? '')),
      ].join('\n');
    default:
      return null;
  }
}
