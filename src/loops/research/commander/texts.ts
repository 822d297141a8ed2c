/** What the commander is told about an experiment. */
import { formatDelta, formatFigure } from '../report/figures.ts';
import type { ResultRow } from '../report/results.ts';

export function taskDescription(iteration: number, description: string): string {
  return `Iteration #${iteration}: ${description}`;
}

/** `bestBefore`: what the metric was before this experiment. */
export function taskResult(row: ResultRow, bestBefore: number): string {
  const { status, description, delta } = row;
  return `${status}: ${ended(description)} Metric: ${formatFigure(bestBefore)} → ${metricOf(row)} (delta: ${formatDelta(delta) || '-'})`;
}

export function taskComment(row: ResultRow): string {
  return [
    `Status: ${row.status}`,
    `Metric: ${metricOf(row)} (delta: ${formatDelta(row.delta) || '-'})`,
    `Commit: ${row.commit ?? '-'}`,
    `Description: ${row.description}`,
  ].join('\n');
}

/** With one mark at its end, not two. */
function ended(sentence: string): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

function metricOf({ metric }: ResultRow): string {
  return metric === null ? '-' : formatFigure(metric);
}
