/** The little arithmetic behind a decision. Sums run over sorted values: the order of readings never shows in a result. */

/** `NaN` of nothing. */
export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** Squared distances from their own mean. */
export function squaresAround(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const middle = mean(values);
  return sum(values.map((value) => (value - middle) ** 2));
}

/** `null` of nothing. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Without those beyond `reach` of the median, where they are at most `most`: what comes often is no stray. */
export function withoutStrays(
  values: readonly number[],
  { reach, most }: { reach: number; most: number },
): readonly number[] {
  if (values.length < 3 || !(reach > 0)) return values;
  const middle = median(values)!;
  const usual = values.filter((value) => Math.abs(value - middle) <= reach);
  return values.length - usual.length <= most ? usual : values;
}

/** Of the distances from the median, the median: a few strays do not change it. */
export function medianDistance(values: readonly number[]): number {
  const middle = median(values) ?? Number.NaN;
  return median(values.map((value) => Math.abs(value - middle))) ?? 0;
}

function sum(values: readonly number[]): number {
  return [...values].sort(bySize).reduce((total, value) => total + value, 0);
}

/** By distance from zero: mirrored readings are added in the mirrored order, so that their sum is exactly mirrored. */
function bySize(a: number, b: number): number {
  return Math.abs(a) - Math.abs(b) || a - b;
}
