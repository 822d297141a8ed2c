/** A decision in one sentence, for logs, the terminal and the report. */

import { formatDelta, formatFigure, formatShare } from '../report/figures.ts';
import type { Decision } from './decision.ts';

export function explainDecision(decision: Decision): string {
  return `${REASONS[decision.reason](decision)} (${readingsOf(decision)}).`;
}

const REASONS: Record<Decision['reason'], (decision: Decision) => string> = {
  improved: (decision) => `Better by ${gainOf(decision)}`,
  simpler: (decision) => `No worse, and ${lines(-decision.netLines)} fewer: ${gainOf(decision)}`,
  no_improvement: (decision) => `No improvement: ${lossOf(decision)}`,
  undecided_at_bound: (decision) =>
    `Too small to tell from noise after as many readings as it is worth: ${gainOf(decision)}`,
  not_confirmed: (decision) => `It looked better at first, but fresh readings say ${gainOf(decision)}`,
  not_worth_its_lines: (decision) => `${gainOf(decision)} is not worth ${lines(decision.netLines)} more`,
  unreadable: () => 'A reading was no usable number',
  best_unreadable: () => 'The best could not be read again',
};

/** Without signs: beside it stands the metric's own change, which goes up where a lower one is better. */
function lossOf({ gain, best }: Decision): string {
  if (gain === null) return 'nothing measured';
  if (gain === 0) return 'the same';
  const share = best === 0 ? '' : ` = ${formatShare(Math.abs(gain / best)).replace('+', '')}`;
  return `${gain > 0 ? 'better by only' : 'worse by'} ${formatFigure(Math.abs(gain))}${share}`;
}

function gainOf({ gain, best, mode, figures: { gainFrom, gainTo, sigma } }: Decision): string {
  if (gain === null) return 'nothing measured';
  const share = best === 0 ? '' : ` = ${formatShare(gain / Math.abs(best))}`;
  if (mode === 'deterministic' || gainFrom === null || gainTo === null) return formatDelta(gain) + share;
  const bounds = `95 % bounds ${formatDelta(gainFrom)} to ${formatDelta(gainTo)}`;
  return `${formatDelta(gain)}${share}, ${bounds}, noise ${formatFigure(sigma)}`;
}

function readingsOf({ readings, figures: { strays } }: Decision): string {
  const candidates = readings.filter(({ of }) => of === 'candidate').length;
  const bests = readings.length - candidates;
  return [
    candidates === 1 ? '1 reading' : `${candidates} readings`,
    ...(bests === 0 ? [] : [`${bests} of the best`]),
    ...(strays === 0 ? [] : [`${strays} far off and left out`]),
  ].join(', ');
}

function lines(count: number): string {
  return count === 1 ? '1 line' : `${count} lines`;
}
