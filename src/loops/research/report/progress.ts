/** What a session says about itself while it runs and at its end. Scripts read these lines: do not reword them. */
import { formatDelta, formatFigure } from './figures.ts';
import type { ResultRow } from './results.ts';

export interface Progress {
  /** The newest experiment. */
  iteration: number;
  /** `null`: unbounded. */
  iterations: number | null;
  baseline: number;
  /** The best so far. */
  metric: number;
  keeps: number;
  discards: number;
  crashes: number;
  /** `null`: nothing was kept. */
  best: { iteration: number; description: string } | null;
  isGoalReached: boolean;
}

const STATUS_EVERY = 5;

/** Keeps are taken in the order of the rows: the newest is the best so far. */
export function progressOf(
  rows: readonly ResultRow[],
  { iterations, isGoalReached }: Pick<Progress, 'iterations' | 'isGoalReached'>,
): Progress {
  const counted = (status: ResultRow['status']): number => rows.filter((row) => row.status === status).length;
  const baseline = rows.find(({ status }) => status === 'baseline')?.metric ?? Number.NaN;
  const best = rows.findLast(({ status }) => status === 'keep');
  return {
    iteration: rows.reduce((newest, row) => Math.max(newest, row.iteration), 0),
    iterations,
    baseline,
    metric: best?.metric ?? baseline,
    keeps: counted('keep'),
    discards: counted('discard'),
    crashes: counted('crash'),
    best: best ? { iteration: best.iteration, description: best.description } : null,
    isGoalReached,
  };
}

export function isStatusDue(iteration: number): boolean {
  return iteration > 0 && iteration % STATUS_EVERY === 0;
}

export function statusLine({ iteration, metric, keeps, discards }: Progress): string {
  return `Iteration ${iteration}: metric at ${formatFigure(metric)}, ${keeps} keeps / ${discards} discards`;
}

export function finalLines(progress: Progress): string[] {
  const { iteration, iterations, baseline, metric } = progress;
  return [
    ...(progress.isGoalReached
      ? [`Goal achieved at iteration ${iteration}! Final metric: ${formatFigure(metric)}`]
      : []),
    `=== Autoresearch Complete (${iteration}/${iterations ?? iteration} iterations) ===`,
    `Baseline: ${formatFigure(baseline)} -> Final: ${formatFigure(metric)} (${deltaOf(progress)})`,
    counts(progress),
    `Best iteration: ${bestOf(progress)}`,
  ];
}

export function mailboxStatus(progress: Progress): string {
  const { iteration, metric, baseline } = progress;
  return (
    `Autoresearch progress — Iteration #${iteration}: metric at ${formatFigure(metric)} ` +
    `(baseline: ${formatFigure(baseline)}). ${counts(progress)}`
  );
}

export function mailboxResult(progress: Progress): string {
  const { iteration, metric, baseline } = progress;
  return (
    `Autoresearch complete (${iteration} iterations). Baseline: ${formatFigure(baseline)} → ` +
    `Final: ${formatFigure(metric)} (delta: ${deltaOf(progress)}). ${counts(progress)}. Best: ${bestOf(progress)}`
  );
}

function counts({ keeps, discards, crashes }: Progress): string {
  return `Keeps: ${keeps} | Discards: ${discards} | Crashes: ${crashes}`;
}

function deltaOf({ baseline, metric }: Progress): string {
  return formatDelta(metric - baseline);
}

function bestOf({ best }: Progress): string {
  return best ? `#${best.iteration} — ${best.description}` : '#0 — baseline';
}
