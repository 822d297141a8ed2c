/** The figures of a decision's rule, and what follows from them for a metric's noise. */
import type { MinDelta } from './decision.ts';
import { WINDOW } from './reference.ts';

export interface Rule {
  /** Error rates of the test alone. */
  alpha: number;
  beta: number;
  /** The best is read again after so many candidate readings. */
  bestEvery: number;
  bestEveryDeterministic: number;
  /** Fresh readings of both after the test; their gain must reach a share of δ. */
  confirm: {
    candidate: number;
    best: number;
    share: number;
    /** A log likelihood ratio of the fresh readings alone at which no more are wanted. */
    giveUpAt: number;
  };
}

/** Chosen with bench/research.ts, which also runs the plain sequential test that it came from. */
export const RULE: Rule = {
  alpha: 0.08,
  beta: 0.07,
  bestEvery: 2,
  bestEveryDeterministic: 10,
  confirm: { candidate: WINDOW, best: WINDOW / 2, share: 0.4, giveUpAt: Math.log(0.05) },
};

/** δ when the user named none, in standard deviations. */
const DEFAULT_DELTA = 1.5;
/** Nothing finer is tested for, in standard deviations: the readings needed grow with its square. */
const FINEST_DELTA = 0.5;

/** The smallest gain worth having, at the best's level; 0 when the user named none. */
export function namedDelta(minDelta: MinDelta | null, level: number): number {
  if (minDelta === null) return 0;
  return minDelta.unit === 'relative' ? minDelta.value * Math.abs(level) : minDelta.value;
}

/** The gain that a noisy metric is tested for. */
export function testedDelta(named: number, sigma: number): number {
  return named > 0 ? Math.max(named, FINEST_DELTA * sigma) : DEFAULT_DELTA * sigma;
}

export function limitsOf({ alpha, beta }: Rule): { keepAt: number; discardAt: number } {
  return { keepAt: Math.log((1 - beta) / alpha), discardAt: Math.log(beta / (1 - alpha)) };
}

/** The most candidate readings that a test takes, and how many a comparison takes of either side. */
export function readingBound(sigma: number, delta: number): number {
  return Math.max(WINDOW, Math.ceil(40 * noiseShare(sigma, delta)));
}

/** `rule.confirm` is made for noise no greater than δ; beyond that it grows with the square. */
export function confirmSizes(
  { confirm }: Rule,
  sigma: number,
  delta: number,
): { candidate: number; best: number } {
  const factor = Math.max(1, noiseShare(sigma, delta));
  return { candidate: Math.ceil(confirm.candidate * factor), best: Math.ceil(confirm.best * factor) };
}

/** δ is never finer than half of σ, so this is at most 4. */
function noiseShare(sigma: number, delta: number): number {
  return sigma === 0 ? 0 : (sigma / delta) ** 2;
}
