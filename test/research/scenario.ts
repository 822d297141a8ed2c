import { open, stepAt, take } from '../../src/loops/research/measure/decide.ts';
import type { Decision } from '../../src/loops/research/measure/decision.ts';
import { nextBaselineStep, type Reference } from '../../src/loops/research/measure/reference.ts';
import type { Question } from '../../src/loops/research/measure/trial.ts';

export interface Settled {
  decision: Decision;
  reference: Reference;
}

/** Answers every wish for a reading until the machine settles; throws if that takes more than `limit`. */
export function settle(
  question: Question,
  read: (what: 'candidate' | 'best') => number | null,
  limit = 1000,
): Settled {
  let standing = open(question);
  for (let taken = 0; taken <= limit; taken++) {
    const step = stepAt(question, standing);
    if (step.do === 'settle') return step;
    standing = take(question, standing, { of: step.what, value: read(step.what) });
  }
  throw new Error(`no decision after ${limit} readings`);
}

export function referenceOf(values: readonly number[]): Reference {
  const step = nextBaselineStep(values);
  if (step.do !== 'begin') throw new Error('the baseline is not complete');
  return step.reference;
}

/** Twelve readings around 100 with a standard deviation of 3. */
export const NOISY_BASELINE = [100, 103, 97, 104, 96, 101, 99, 105, 95, 102, 98, 100];

/** Values in turns, for ever. */
export function cycle(values: readonly number[]): () => number {
  let index = 0;
  return () => values[index++ % values.length]!;
}
