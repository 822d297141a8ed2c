/** A swarm at a glance: how many beads are closed, what waits, and what each worker does now. Pure. */
import type { Room } from '../../../cli/follow/loop-follower.ts';
import { formatDuration } from '../../../domain/durations.ts';
import { phaseWords } from '../../../domain/phase.ts';
import { sanitizeLine, shorten } from '../../../terminal/text.ts';
import type { SwarmView } from '../operations/swarm-operations.ts';

/** As many as a swarm may have. */
const MOST_WORKERS = 16;

export function boardLines(
  { workers, beads }: Pick<SwarmView, 'workers' | 'beads'>,
  { style, columns, nowMs }: Room & { nowMs: number },
): string[] {
  const atWork = workers.filter(({ status }) => status === 'running' || status === 'pending');
  const shown = atWork.slice(0, MOST_WORKERS);
  const width = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));
  const names = width(shown.map(({ nickname }) => sanitizeLine(nickname)));
  const ids = Math.min(30, width(shown.map(({ bead }) => sanitizeLine(bead ?? ''))));
  const lines = shown.map((worker) => {
    const name = sanitizeLine(worker.nickname).padEnd(names);
    const bead = shorten(sanitizeLine(worker.bead ?? ''), ids).padEnd(ids);
    const context = worker.contextUsed === null ? '' : `  context ${Math.round(worker.contextUsed * 100)}%`;
    const head = `  ${name}  ${bead}`;
    const rest = shorten(`${doingText(worker, nowMs)}${context}`, columns - head.length - 2);
    return `${head}  ${style.dim(rest)}`.trimEnd();
  });
  return [`  ${countsText(beads, workers, columns - 2)}`, ...lines];
}

function countsText(beads: SwarmView['beads'], workers: SwarmView['workers'], columns: number): string {
  const count = (status: string): number => beads.filter((bead) => bead.status === status).length;
  const waiting = workers.filter(({ isWaiting }) => isWaiting).length;
  const others = [
    [count('in_progress'), 'in progress'],
    [count('open'), 'open'],
    [count('blocked'), 'blocked'],
  ] as const;
  return shorten(
    [
      `${count('closed')} of ${beads.length} beads closed`,
      ...others.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`),
      ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? 'waits' : 'wait'} to be merged`] : []),
    ].join(' · '),
    columns,
  );
}

function doingText({ status, bead, isWaiting, doing }: SwarmView['workers'][number], nowMs: number): string {
  if (isWaiting) return 'waits to be merged';
  if (status === 'pending') return 'begins';
  if (bead === null) return 'waits for a bead';
  if (!doing) return 'begins';
  // Each sign of an agent is newer than the one before: how long it works is not told by them.
  if (doing.text === phaseWords('agent')) return doing.text;
  const since = formatDuration(Math.max(0, nowMs - Date.parse(doing.since)));
  return `${sanitizeLine(doing.text)} (${since})`;
}
