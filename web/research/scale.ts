/** What the plot shows, and how far it reaches: one absurd reading must not flatten all the others. */
import type { Experiment } from '../api/types.ts';

export interface PlotAsked {
  baseline: number;
  target: number | null;
  experiments: readonly Pick<Experiment, 'number' | 'status' | 'metric' | 'decision'>[];
}

/** A reading that the plot has no room for: it stands at its edge, with its value. */
export interface Stray {
  number: number;
  value: number;
  side: 'above' | 'below';
}

export interface PlotShown {
  low: number;
  high: number;
  numbers: number[];
  best: number[];
  /** An experiment that changes nothing reads within, 95 times of 100; `null`: no noise is known. */
  noiseLow: (number | null)[];
  noiseHigh: (number | null)[];
  kept: (number | null)[];
  rest: (number | null)[];
  strays: Stray[];
}

const BAND = 1.96;
const PADDING = 0.08;
/** Readings so many times the middle half's width beyond it are strays. */
const FAR = 3;
/** Fewer readings have no middle. */
const FEW = 5;
/** Leaving strays out must win this much room. */
const WORTH = 2;

/** The first point is the baseline. */
export function plotOf({ baseline, target, experiments }: PlotAsked): PlotShown {
  const numbers = [0];
  const best = [baseline];
  const sigmas: (number | null)[] = [null];
  const readings: { value: number | null; isKept: boolean }[] = [{ value: baseline, isKept: true }];
  for (const { number, status, metric, decision } of experiments) {
    const isKept = status === 'keep' && metric !== null;
    numbers.push(number);
    best.push(isKept ? metric : best.at(-1)!);
    sigmas.push(sigmaOf(decision) ?? sigmas.at(-1)!);
    readings.push({ value: metric, isKept });
  }
  const values = readings.flatMap(({ value }) => (value === null ? [] : [value]));
  const { low, high } = rangeOf(values, { best: best.at(-1)!, target });
  const isIn = (value: number | null): boolean => value !== null && value >= low && value <= high;
  const clip = (value: number): number => Math.min(high, Math.max(low, value));
  const edge = (sign: 1 | -1) =>
    best.map((value, at) => (sigmas[at] ? clip(value + sign * BAND * sigmas[at]) : null));
  return {
    ...{ low, high, numbers, best: best.map(clip), noiseLow: edge(-1), noiseHigh: edge(1) },
    kept: readings.map(({ value, isKept }) => (isKept && isIn(value) ? value : null)),
    rest: readings.map(({ value, isKept }) => (!isKept && isIn(value) ? value : null)),
    strays: readings.flatMap(({ value }, at) =>
      value === null || isIn(value)
        ? []
        : [{ number: numbers[at]!, value, side: value > high ? ('above' as const) : ('below' as const) }],
    ),
  };
}

function sigmaOf(decision: Experiment['decision']): number | null {
  const sigma = (decision?.figures as { sigma?: unknown } | undefined)?.sigma;
  return typeof sigma === 'number' && sigma > 0 ? sigma : null;
}

/** All readings, or, where some of them lie far out, the others: the best so far is always one of them. */
function rangeOf(
  values: readonly number[],
  { best, target }: { best: number; target: number | null },
): { low: number; high: number } {
  const all = extentOf(values);
  const core = values.length < FEW ? all : extentOf([best, ...withoutStrays(values)]);
  const isWorth = all.high - all.low > WORTH * (core.high - core.low);
  const { low, high } = isWorth ? core : all;
  const reach = Math.max(high - low, Math.abs(high) * 0.01);
  const shown =
    target !== null && target >= low - reach && target <= high + reach
      ? extentOf([low, high, target])
      : { low, high };
  const size = Math.max(Math.abs(shown.low), Math.abs(shown.high), Number.MIN_VALUE);
  const isFlat = shown.high - shown.low <= size * 1e-12;
  const space = isFlat ? size * PADDING || 1 : (shown.high - shown.low) * PADDING;
  return { low: shown.low - space, high: shown.high + space };
}

function withoutStrays(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.round(part * (sorted.length - 1))]!;
  const [from, to] = [at(0.25), at(0.75)];
  // Of a metric that hardly moves the middle half may be one value.
  const reach = FAR * (to - from) || FAR * nearest(sorted, at(0.5));
  return sorted.filter((value) => value >= from - reach && value <= to + reach);
}

function nearest(sorted: readonly number[], middle: number): number {
  return sorted.reduce((least, value) => {
    const distance = Math.abs(value - middle);
    return distance > 0 && distance < least ? distance : least;
  }, Infinity);
}

function extentOf(values: readonly number[]): { low: number; high: number } {
  return values.reduce(
    ({ low, high }, value) => ({ low: Math.min(low, value), high: Math.max(high, value) }),
    { low: Infinity, high: -Infinity },
  );
}
