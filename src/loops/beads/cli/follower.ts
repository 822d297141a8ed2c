/** What followers of a swarm see: its workers, and the beads as they are taken, closed or given back. */
import type { LoopFollower, Room } from '../../../cli/follow/loop-follower.ts';
import type { PulseEvent } from '../../../domain/events.ts';
import type { Style } from '../../../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine, wrap } from '../../../terminal/text.ts';

export const beadsFollower: LoopFollower = {
  async board(pulse, id, room) {
    const { parent_session_id: lead } = await pulse.session(id);
    // Of a worker there is nothing below it.
    if (lead !== null) return [];
    const { boardLines } = await import('./board.ts');
    return boardLines(await pulse.swarm.show(id), room);
  },
  async team(pulse, id) {
    const { parent_session_id: lead } = await pulse.session(id);
    if (lead !== null) return [];
    const { workers } = await pulse.swarm.show(id);
    return Promise.all(workers.map(({ sessionId }) => pulse.session(sessionId)));
  },
  eventText,
  eventLines(event, _, { style, columns }) {
    // What its own iterations bring is told bead by bead.
    if (event.type === 'iteration.settled' && isGood(event.data.outcome)) return [];
    const { data } = event;
    if (event.type === 'bead.rejected' && Array.isArray(data.reasons))
      return reasonLines(style.red(`${sanitizeLine(String(data.bead))} not accepted`), data.reasons, {
        style,
        columns,
      });
    const text = eventText(event, style);
    if (text === null) return null;
    const [head = '', ...rest] = text.split('\n');
    return rest.length === 0 ? [head] : reasonLines(head, rest.slice(0, 1), { style, columns });
  },
};

/** So much of one reason. */
const REASON_LINES = 3;

/** The first line of each; `pulse log` has all of it. */
function reasonLines(head: string, reasons: readonly unknown[], { style, columns }: Room): string[] {
  const firsts = reasons.map((reason) => sanitizeLine(String(reason).split('\n')[0]!)).filter(Boolean);
  const lines = firsts.flatMap((reason) => wrap(reason, columns - 4, REASON_LINES));
  return [head, ...lines.map((line) => style.dim(`    ${line}`))];
}

function isGood(outcome: unknown): boolean {
  return outcome === 'completed' || outcome === 'continued';
}

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
