/**
 * Keep or discard (docs/protocol/research.md, Deciding). Pure: from the readings so far to the next reading, or the
 * decision.
 *
 * A noisy metric passes two gates. The *test* is sequential and cheap: it throws out nearly all that does not help. What
 * passes is *confirmed* with fresh readings of both sides in turns. Those alone decide and are what is claimed, so that
 * luck in the test is neither believed nor reported; and the best needs a fresh group after a keep in any case.
 * A change that removes lines and is no better is *compared* at length: it is kept if it surely loses next to nothing.
 */
import type { Decision, Reading, Stage } from './decision.ts';
import { type Reference, WINDOW, withNewBest } from './reference.ts';
import { confirmSizes, limitsOf, namedDelta, RULE, readingBound } from './rule.ts';
import {
  beginTrial,
  claim,
  type Estimate,
  estimate,
  isAtOdds,
  logLikelihoodRatio,
  type Question,
  type Trial,
  withReading,
} from './trial.ts';

/** One-sided and two-sided 95 %. */
const [ONE_SIDED, TWO_SIDED] = [1.645, 1.96];
/** A smaller share is not worth many lines. */
const BARELY = 0.001;
const MANY_LINES = 20;
/** 0.3 − 0.2 must count as a gain of 0.1. */
const ROUNDING = 1e-12;

export type NextStep =
  | { do: 'read'; what: 'candidate' | 'best'; stage: Stage }
  /** `reference` is the one for the next experiment. */
  | { do: 'settle'; decision: Decision; reference: Reference };

type Reason = Decision['reason'];

/** Where a trial stands after its newest reading; a reason ends it. */
export interface Standing {
  trial: Trial;
  reason: Reason | null;
}

/** Deterministic: the same question has the same answer, so a crash between two readings loses none of them. */
export function nextStep(question: Question, readings: readonly Reading[]): NextStep {
  return stepAt(
    question,
    readings.reduce((standing, reading) => take(question, standing, reading), open(question)),
  );
}

export function open(question: Question): Standing {
  return judge(question, beginTrial(question.reference));
}

/** A reading after the end changes nothing. */
export function take(question: Question, standing: Standing, reading: Reading): Standing {
  return standing.reason === null ? judge(question, withReading(standing.trial, reading)) : standing;
}

export function stepAt(question: Question, { trial, reason }: Standing): NextStep {
  if (reason !== null) return settle(question, trial, reason);
  return { do: 'read', what: nextReading(question, trial), stage: trial.stage };
}

function judge(question: Question, trial: Trial): Standing {
  if (trial.unreadable.candidate > 0) return { trial, reason: 'unreadable' };
  if (trial.unreadable.best > WINDOW) return { trial, reason: 'best_unreadable' };
  if (trial.tested.length === 0) return { trial, reason: null };
  if (trial.reference.mode === 'deterministic') return judgeExactly(question, trial);
  if (trial.reference.window.length < WINDOW) return { trial, reason: null };
  if (trial.stage === 'test') return judgeTest(question, trial);
  if (trial.stage === 'confirm') return judgeConfirmation(question, trial);
  return judgeComparison(question, trial);
}

/** One reading each is all there is to know; now and then the best shows whether that still holds. */
function judgeExactly(question: Question, trial: Trial): Standing {
  if (isBestDue(question, trial)) return { trial, reason: null };
  const { gain, best, candidate } = estimate(question, trial);
  const named = namedDelta(question.minDelta, best);
  const slack = ROUNDING * (Math.abs(best) + Math.abs(candidate));
  if (gain > 0 && gain >= named - slack) return { trial, reason: improvedUnlessNotWorthIt(question, trial) };
  const isUnchanged = -gain <= (named === 0 ? 0 : named / 2 + slack);
  return { trial, reason: question.netLines < 0 && isUnchanged ? 'simpler' : 'no_improvement' };
}

function judgeTest(question: Question, trial: Trial): Standing {
  const seen = estimate(question, trial);
  const evidence = logLikelihoodRatio(seen);
  const { keepAt, discardAt } = limitsOf(ruleOf(question));
  const ended = { ...trial, logLikelihoodRatio: evidence };
  if (trial.tested.length >= 2 && evidence >= keepAt) {
    return { trial: { ...ended, stage: 'confirm' }, reason: null };
  }
  if (evidence <= discardAt)
    return isWorthAnother(question, trial, seen)
      ? { trial, reason: null }
      : notBetter(question, ended, 'no_improvement');
  if (trial.tested.length >= readingBound(seen.sigma, seen.delta)) {
    return notBetter(question, ended, 'undecided_at_bound');
  }
  return { trial, reason: null };
}

function judgeConfirmation(question: Question, trial: Trial): Standing {
  if (trial.fresh.length === 0) return { trial, reason: null };
  const rule = ruleOf(question);
  const seen = estimate(question, trial);
  if (isAtOdds(trial, seen)) return { trial, reason: null };
  if (logLikelihoodRatio(seen) <= rule.confirm.giveUpAt) return notBetter(question, trial, 'not_confirmed');
  const wanted = confirmSizes(rule, seen.sigma, seen.delta);
  if (trial.fresh.length < wanted.candidate || trial.freshBest.length < wanted.best) {
    return { trial, reason: null };
  }
  if (seen.gain < rule.confirm.share * seen.delta) return notBetter(question, trial, 'not_confirmed');
  return { trial, reason: improvedUnlessNotWorthIt(question, trial) };
}

/**
 * Before a discard: one stray reading must not be all there is against a change that removes lines, for it needs no gain
 * to be kept. Of others the first reading is enough: most that read far worse are.
 */
function isWorthAnother({ netLines }: Question, trial: Trial, seen: Estimate): boolean {
  return (netLines < 0 || trial.tested.length > 1) && isAtOdds(trial, seen);
}

/** Not the end for a change that removes lines, unless it is surely worse. */
function notBetter(question: Question, trial: Trial, reason: Reason): Standing {
  if (question.netLines >= 0 || isSurelyWorse(estimate(question, trial))) return { trial, reason };
  return judgeComparison(question, { ...trial, stage: 'compare' });
}

function judgeComparison(question: Question, trial: Trial): Standing {
  if (trial.fresh.length === 0) return { trial, reason: null };
  const seen = estimate(question, trial);
  if (isAtOdds(trial, seen)) return { trial, reason: null };
  if (isSurelyWorse(seen)) return { trial, reason: 'no_improvement' };
  const wanted = readingBound(seen.sigma, seen.delta);
  if (trial.fresh.length < wanted || trial.freshBest.length < wanted) return { trial, reason: null };
  const greatestLoss = ONE_SIDED * seen.standardError - seen.gain;
  return { trial, reason: greatestLoss <= seen.delta / 2 ? 'simpler' : 'no_improvement' };
}

function isSurelyWorse({ gain, standardError, delta }: Estimate): boolean {
  return gain + ONE_SIDED * standardError < -delta / 2;
}

function improvedUnlessNotWorthIt(question: Question, trial: Trial): Reason {
  const { gain, best } = claim(question, trial);
  const isBarely = gain < (BARELY - ROUNDING) * Math.abs(best);
  return isBarely && question.netLines > MANY_LINES ? 'not_worth_its_lines' : 'improved';
}

function nextReading(question: Question, trial: Trial): 'candidate' | 'best' {
  const { mode, window } = trial.reference;
  if (mode === 'noisy' && window.length < WINDOW) return 'best';
  if (trial.stage === 'test') {
    return trial.tested.length > 0 && isBestDue(question, trial) ? 'best' : 'candidate';
  }
  const { sigma, delta } = estimate(question, trial);
  const wanted =
    trial.stage === 'confirm' ? confirmSizes(ruleOf(question), sigma, delta) : { candidate: 1, best: 1 };
  const due = Math.floor((trial.fresh.length * wanted.best) / wanted.candidate);
  return trial.freshBest.length < due ? 'best' : 'candidate';
}

function isBestDue(question: Question, { reference }: Trial): boolean {
  const { bestEvery, bestEveryDeterministic } = ruleOf(question);
  return reference.sinceBest >= (reference.mode === 'noisy' ? bestEvery : bestEveryDeterministic);
}

function settle(question: Question, trial: Trial, reason: Reason): NextStep {
  const seen = claim(question, trial);
  const isKept = reason === 'improved' || reason === 'simpler';
  const isMeasured = seen.candidateReadings > 0;
  const decision: Decision = {
    verdict: isKept ? 'keep' : 'discard',
    reason,
    stage: trial.stage,
    mode: trial.reference.mode,
    metric: isMeasured ? seen.candidate : null,
    best: seen.best,
    gain: isMeasured ? seen.gain : null,
    claimedImprovement: isKept && seen.best !== 0 ? seen.gain / Math.abs(seen.best) : null,
    figures: figuresOf(question, trial, seen),
    netLines: question.netLines,
    readings: trial.taken,
    reference: question.reference,
  };
  const readings = trial.fresh.length > 0 ? trial.fresh : trial.tested;
  const reference = isKept ? withNewBest(trial.reference, readings) : trial.reference;
  return { do: 'settle', decision, reference };
}

function figuresOf(question: Question, trial: Trial, seen: Estimate): Decision['figures'] {
  const { reference, logLikelihoodRatio: evidence } = trial;
  const isExact = reference.mode === 'deterministic';
  const isMeasured = seen.candidateReadings > 0;
  const margin = isExact ? 0 : TWO_SIDED * seen.standardError;
  return {
    delta: isExact ? namedDelta(question.minDelta, seen.best) : seen.delta,
    sigma: seen.sigma,
    logLikelihoodRatio: evidence !== null && Number.isFinite(evidence) ? evidence : null,
    ...limitsOf(ruleOf(question)),
    gainFrom: isMeasured ? seen.gain - margin : null,
    gainTo: isMeasured ? seen.gain + margin : null,
    candidateReadings: seen.candidateReadings,
    bestReadings: seen.bestReadings,
    strays: seen.strays,
  };
}

function ruleOf(question: Question): NonNullable<Question['rule']> {
  return question.rule ?? RULE;
}
