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

const SAMPLES = 2000;

/** 95 % of the means of as many questions, drawn with repetition; the same every time. */
export function interval(values: readonly number[]): [low: number, high: number] {
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const means = Array.from({ length: SAMPLES }, () => {
    let sum = 0;
    for (let each = 0; each < values.length; each++) sum += values[Math.floor(next() * values.length)]!;
    return sum / values.length;
  }).sort((a, b) => a - b);
  return [means[Math.floor(0.025 * SAMPLES)]!, means[Math.floor(0.975 * SAMPLES)]!];
}
