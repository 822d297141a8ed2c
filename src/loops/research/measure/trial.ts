/** One experiment's readings on the way to a decision. */
import type { Direction, MinDelta, Reading, Stage } from './decision.ts';
import {
  FAR,
  isReadable,
  type Reference,
  usualBests,
  variance,
  WINDOW,
  withBestReading,
  withCandidateReading,
} from './reference.ts';
import { namedDelta, type Rule, testedDelta } from './rule.ts';
import { mean, withoutStrays } from './statistics.ts';

export interface Question {
  direction: Direction;
  minDelta: MinDelta | null;
  /** As it was when the experiment began. */
  reference: Reference;
  /** Lines added minus lines removed, in-scope files only. */
  netLines: number;
  rule?: Rule;
}

export interface Trial {
  stage: Stage;
  reference: Reference;
  taken: Reading[];
  /** Candidate readings that the test saw. */
  tested: number[];
  /** Readings after the test: no choice was made by them. */
  fresh: number[];
  freshBest: number[];
  /** Where the test ended. */
  logLikelihoodRatio: number | null;
  unreadable: { candidate: number; best: number };
}

export function beginTrial(reference: Reference): Trial {
  return {
    stage: 'test',
    reference,
    taken: [],
    tested: [],
    fresh: [],
    freshBest: [],
    logLikelihoodRatio: null,
    unreadable: { candidate: 0, best: 0 },
  };
}

export function withReading(trial: Trial, reading: Reading): Trial {
  const { of, value } = reading;
  if (value === null || !isReadable(value)) {
    const unreadable = { ...trial.unreadable, [of]: trial.unreadable[of] + 1 };
    return { ...trial, unreadable, taken: [...trial.taken, { of, value: null }] };
  }
  const taken = [...trial.taken, reading];
  const isTest = trial.stage === 'test';
  if (of === 'best') {
    const freshBest = isTest ? trial.freshBest : [...trial.freshBest, value];
    return { ...trial, taken, freshBest, reference: withBestReading(trial.reference, value) };
  }
  const reference = withCandidateReading(trial.reference);
  return isTest
    ? { ...trial, taken, reference, tested: [...trial.tested, value] }
    : { ...trial, taken, reference, fresh: [...trial.fresh, value] };
}

export interface Estimate {
  candidate: number;
  best: number;
  /** Positive is better. */
  gain: number;
  /** Of the gain. */
  standardError: number;
  sigma: number;
  delta: number;
  candidateReadings: number;
  bestReadings: number;
  /** Readings that were left out. */
  strays: number;
}

/** What the readings of the present stage say, against the newest readings of the best. */
export function estimate(question: Question, trial: Trial): Estimate {
  const { window } = trial.reference;
  return compare(question, trial, trial.freshBest.length > WINDOW ? trial.freshBest : window);
}

/** From fresh readings of both sides where there are any: what may be claimed. */
export function claim(question: Question, trial: Trial): Estimate {
  return compare(question, trial, trial.freshBest.length > 0 ? trial.freshBest : trial.reference.window);
}

function compare(question: Question, trial: Trial, allBests: readonly number[]): Estimate {
  const sigma = Math.sqrt(variance(trial.reference));
  const all = inHand(trial);
  const candidates = withoutStrays(all, {
    reach: FAR * sigma,
    most: Math.max(1, Math.floor(all.length / WINDOW)),
  });
  const bests = usualBests(allBests, sigma);
  const [candidate, best] = [mean(candidates), mean(bests)];
  return {
    candidate,
    best,
    gain: question.direction === 'higher' ? candidate - best : best - candidate,
    standardError: sigma * Math.sqrt(1 / candidates.length + 1 / bests.length),
    sigma,
    delta: testedDelta(namedDelta(question.minDelta, best), sigma),
    candidateReadings: candidates.length,
    bestReadings: bests.length,
    strays: all.length - candidates.length + allBests.length - bests.length,
  };
}

/** Those that the present stage goes by. */
function inHand({ fresh, tested }: Trial): readonly number[] {
  return fresh.length > 0 ? fresh : tested;
}

/**
 * Whether the candidate's first readings are further off than noise explains, from the best or from each other: one of
 * them may be a stray. By the third it is known which.
 */
export function isAtOdds(trial: Trial, { best, sigma }: Estimate): boolean {
  const [first, second, third] = inHand(trial);
  if (first === undefined || third !== undefined || sigma === 0) return false;
  return Math.abs(first - (second ?? best)) > FAR * sigma;
}

/** Evidence for a gain of δ against none. Without any noise one look is certain. */
export function logLikelihoodRatio({ gain, delta, standardError }: Estimate): number {
  if (standardError === 0) return gain > 0 && gain >= delta ? Infinity : -Infinity;
  return (delta * (gain - delta / 2)) / standardError ** 2;
}
