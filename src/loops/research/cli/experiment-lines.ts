/** The lines that research leaves behind: one for each experiment, one for what mends it, one for what surprises. */

import type { Room } from '../../../cli/follow/loop-follower.ts';
import type { PulseEvent } from '../../../domain/events.ts';
import { displayWidth, sanitizeLine, shorten } from '../../../terminal/text.ts';
import { crashLine } from '../measure/crash.ts';
import { formatDelta, formatFigure } from '../report/figures.ts';

/** Of an event of research. `unit`: the current one. */
export function experimentLines(event: PulseEvent, unit: string | null, room: Room): string[] {
  const { type, data } = event;
  switch (type) {
    case 'experiment.kept':
      return [ended(data, { ...room, word: 'keep', mark: '✓', color: 'green' })];
    case 'experiment.discarded':
      return [ended(data, { ...room, word: 'discard', mark: '·', color: 'dim' })];
    case 'experiment.crashed':
      return [ended(data, { ...room, word: 'crash', mark: '✗', color: 'red' })];
    case 'experiment.surprised':
      return [surprise(data, room)];
    case 'iteration.settled':
      return settled(data, unit, room);
    default:
      return [];
  }
}

interface Ending extends Room {
  word: string;
  mark: string;
  color: 'green' | 'red' | 'dim';
}

/** `✓ 3 keep     83.79 (-67.36)  What was tried  why` */
function ended(
  { number, description, metric, delta, reason }: Record<string, unknown>,
  { style, columns, word, mark, color }: Ending,
): string {
  const figure = typeof metric === 'number' ? formatFigure(metric) : '';
  const change = typeof delta === 'number' ? ` (${formatDelta(delta)})` : '';
  const head = `${mark} ${String(number).padStart(2)} ${word.padEnd(8)}`;
  const figures = `${figure}${change}`.padEnd(FIGURES);
  const about = shorten(sanitizeLine(String(description ?? '')), columns - head.length - figures.length - 3);
  const left = columns - head.length - figures.length - displayWidth(about) - 5;
  const why = left < LEAST_REASON ? '' : shorten(sanitizeLine(reasonOf(word, String(reason ?? ''))), left);
  return `${style[color](head)} ${figures} ${about}  ${style.dim(why)}`.trimEnd();
}

const FIGURES = 24;
const LEAST_REASON = 12;

function reasonOf(word: string, reason: string): string {
  return word === 'crash' ? crashLine(reason) : reason;
}

function surprise({ number, text, reason }: Record<string, unknown>, { style, columns }: Room): string {
  const told = typeof text === 'string' ? text : String(reason ?? '').split(/, 95 %| \(\d+ reading/)[0]!;
  return style.yellow(shorten(`! ${number} surprising: ${sanitizeLine(told)}`, columns));
}

/** Experiments tell their end themselves; what is left are runs that were not the last of theirs. */
function settled(data: Record<string, unknown>, unit: string | null, { style, columns }: Room): string[] {
  const number = unit?.replace(/^exp-/, '') ?? '';
  const reason = String(data.reason ?? '');
  if (data.outcome === 'continued') {
    return [
      style.yellow(shorten(`↻ ${number} broke, to be fixed: ${sanitizeLine(crashLine(reason))}`, columns)),
    ];
  }
  if (data.outcome === 'blocked') {
    return [style.yellow(shorten(`■ ${number} asks: ${sanitizeLine(reason)}`, columns))];
  }
  return [];
}
