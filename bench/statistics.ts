export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** From one moment to the next. */
export function steps(moments: readonly number[]): number[] {
  return moments.slice(1).map((moment, index) => moment - moments[index]!);
}
