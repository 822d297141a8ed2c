/** What a session's plot shows, before it becomes SVG or text: best so far, its noise band, and where each experiment lies. */

import type { RowStatus } from '../ideas/stuck.ts';
import type { Direction } from '../measure/decision.ts';

export interface PlotRow {
  iteration: number;
  /** `null`: a crash, or void before it was measured. */
  metric: number | null;
  status: RowStatus;
  description: string;
  /** Noise of one reading as it was known then; `null`: none. */
  sigma: number | null;
}

export interface PlotData {
  metric: string;
  direction: Direction;
  rows: readonly PlotRow[];
}

export interface BestStep {
  /** From this experiment on. */
  iteration: number;
  value: number;
  /** An experiment that changes nothing reads within, 95 times of 100. */
  low: number;
  high: number;
}

export interface PlotLayout {
  iterations: { from: number; to: number };
  values: { low: number; high: number };
  ticks: number[];
  best: BestStep[];
  rows: readonly PlotRow[];
}

export type PlotMark = 'kept' | 'discarded' | 'unmeasured' | 'crashed';

const BAND = 1.96;
const PADDING = 0.06;
const TICKS = 5;
/** A smaller share of their size is rounding. */
const ROUNDING = 1e-12;
/** Nothing is told apart below. */
const SMALLEST = 1e-100;

export function layoutPlot({ rows }: PlotData): PlotLayout {
  const best = bestSteps(rows);
  const last = rows.at(-1)?.iteration ?? 0;
  const values = valueRange(rows, best);
  return {
    iterations: { from: rows[0]?.iteration ?? 0, to: Math.max(last, (rows[0]?.iteration ?? 0) + 1) },
    values,
    ticks: niceTicks(values.low, values.high),
    best,
    rows,
  };
}

export function markOf({ status, metric }: PlotRow): PlotMark {
  if (status === 'crash') return 'crashed';
  if (metric === null) return 'unmeasured';
  return status === 'discard' ? 'discarded' : 'kept';
}

/** Where a reading lies that the plot has no room for; `null`: it has. */
export function beyond({ metric }: PlotRow, { low, high }: PlotLayout['values']): 'above' | 'below' | null {
  if (metric === null) return null;
  return metric > high ? 'above' : metric < low ? 'below' : null;
}

/** A step for each keep, and one where the noise came to be known otherwise. */
function bestSteps(rows: readonly PlotRow[]): BestStep[] {
  const steps: BestStep[] = [];
  let [value, sigma]: [number | null, number] = [null, 0];
  for (const row of rows) {
    const isBest = (row.status === 'baseline' || row.status === 'keep') && row.metric !== null;
    const before: [number | null, number] = [value, sigma];
    if (isBest) value = row.metric;
    sigma = row.sigma ?? sigma;
    if (value === null || (before[0] === value && before[1] === sigma)) continue;
    steps.push({ iteration: row.iteration, value, low: value - BAND * sigma, high: value + BAND * sigma });
  }
  return steps;
}

/** All that was best, and what lies near it: one absurd reading must not flatten everything else. */
function valueRange(rows: readonly PlotRow[], best: readonly BestStep[]): PlotLayout['values'] {
  const metrics = rows.flatMap(({ metric }) => (metric === null ? [] : [metric]));
  const core = best.length > 0 ? best.flatMap(({ low, high }) => [low, high]) : metrics;
  if (core.length === 0) return { low: 0, high: 1 };
  const [coreLow, coreHigh] = [least(core), most(core)];
  const reach = coreHigh > coreLow ? coreHigh - coreLow : Infinity;
  const near = metrics.filter((metric) => metric >= coreLow - reach && metric <= coreHigh + reach);
  const [low, high] = [least([coreLow, ...near]), most([coreHigh, ...near])];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const isFlat = high - low <= size * ROUNDING || size < SMALLEST;
  const space = isFlat ? Math.max(size, SMALLEST) : (high - low) * PADDING;
  return { low: low - space, high: high + space };
}

/** Round numbers within the range, about five. */
function niceTicks(low: number, high: number): number[] {
  const rough = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= 0.7 * rough) ?? rough;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  if (!Number.isFinite(first) || !(count > 0) || count > 4 * TICKS) return [low, high];
  return Array.from({ length: count }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

function most(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}
