import { describe, expect, it } from 'vitest';
import { nextStep } from '../../src/loops/research/measure/decide.ts';
import { decisionSchema, type Reading } from '../../src/loops/research/measure/decision.ts';
import { explainDecision } from '../../src/loops/research/measure/decision-words.ts';
import {
  levelOf,
  nextBaselineStep,
  referenceSchema,
  variance,
  withBestReading,
} from '../../src/loops/research/measure/reference.ts';
import { RULE } from '../../src/loops/research/measure/rule.ts';
import type { Question } from '../../src/loops/research/measure/trial.ts';
import { cycle, NOISY_BASELINE, referenceOf, settle } from './scenario.ts';

const EXACT: Question = {
  direction: 'lower',
  minDelta: null,
  reference: referenceOf([100, 100, 100, 100, 100]),
  netLines: 3,
};
const NOISY: Question = {
  direction: 'lower',
  minDelta: { unit: 'relative', value: 0.05 },
  reference: referenceOf(NOISY_BASELINE),
  netLines: 3,
};
const noise = (level: number): (() => number) => cycle(NOISY_BASELINE.map((value) => (value * level) / 100));

describe('the baseline', () => {
  it('is deterministic after five equal readings', () => {
    expect(nextBaselineStep([7, 7, 7, 7])).toEqual({ do: 'read' });
    expect(nextBaselineStep([7, 7, 7, 7, 7])).toMatchObject({
      do: 'begin',
      reference: { mode: 'deterministic' },
    });
  });

  it('is read twelve times when two readings differ', () => {
    expect(nextBaselineStep([7, 7, 7, 7, 8])).toEqual({ do: 'read' });
    expect(nextBaselineStep(NOISY_BASELINE.slice(0, 11))).toEqual({ do: 'read' });
    const step = nextBaselineStep(NOISY_BASELINE);
    expect(step).toMatchObject({ do: 'begin', reference: { mode: 'noisy', window: NOISY_BASELINE } });
  });

  it('knows the noise of its readings', () => {
    expect(variance(referenceOf(NOISY_BASELINE))).toBeCloseTo(110 / 11, 10);
  });

  it('gives up on a metric that is never a number', () => {
    expect(nextBaselineStep(Array(12).fill(Number.NaN))).toEqual({ do: 'read' });
    expect(nextBaselineStep(Array(13).fill(Number.NaN))).toEqual({ do: 'give_up' });
  });
});

describe('a deterministic metric', () => {
  it('is kept for any strict improvement, after one reading', () => {
    const { decision, reference } = settle(EXACT, cycle([99.5]));
    expect(decision).toMatchObject({
      verdict: 'keep',
      reason: 'improved',
      metric: 99.5,
      best: 100,
      gain: 0.5,
    });
    expect(decision.claimedImprovement).toBeCloseTo(0.005, 12);
    expect(decision.readings).toEqual([{ of: 'candidate', value: 99.5 }]);
    expect(reference).toMatchObject({ mode: 'deterministic', window: [99.5] });
  });

  it.each([
    ['equal', 100],
    ['worse', 101],
  ])('is discarded when it is %s', (_, value) => {
    const { decision, reference } = settle(EXACT, cycle([value]));
    expect(decision).toMatchObject({
      verdict: 'discard',
      reason: 'no_improvement',
      claimedImprovement: null,
    });
    expect(reference.window).toEqual(EXACT.reference.window);
  });

  it('must improve by min_delta where one is named', () => {
    const question: Question = { ...EXACT, minDelta: { unit: 'absolute', value: 2 } };
    expect(settle(question, cycle([98.5])).decision.verdict).toBe('discard');
    expect(settle(question, cycle([98])).decision.verdict).toBe('keep');
    const decimal: Question = {
      ...EXACT,
      reference: referenceOf([0.3, 0.3, 0.3, 0.3, 0.3]),
      minDelta: { unit: 'absolute', value: 0.1 },
    };
    expect(settle(decimal, cycle([0.2])).decision.verdict).toBe('keep');
  });

  it('goes up where higher is better', () => {
    const question: Question = { ...EXACT, direction: 'higher' };
    expect(settle(question, cycle([101])).decision.verdict).toBe('keep');
    expect(settle(question, cycle([99])).decision.verdict).toBe('discard');
  });

  it('is kept when nothing changed but lines went', () => {
    const simpler: Question = { ...EXACT, netLines: -1 };
    expect(settle(simpler, cycle([100])).decision).toMatchObject({ verdict: 'keep', reason: 'simpler' });
    expect(settle(simpler, cycle([100.1])).decision.verdict).toBe('discard');
    expect(settle({ ...simpler, netLines: 0 }, cycle([100])).decision.verdict).toBe('discard');
    const tolerant: Question = { ...simpler, minDelta: { unit: 'absolute', value: 2 } };
    expect(settle(tolerant, cycle([101])).decision.reason).toBe('simpler');
    expect(settle(tolerant, cycle([101.1])).decision.reason).toBe('no_improvement');
  });

  it('is discarded when less than 0.1 % costs more than 20 lines', () => {
    expect(settle({ ...EXACT, netLines: 21 }, cycle([99.95])).decision).toMatchObject({
      verdict: 'discard',
      reason: 'not_worth_its_lines',
    });
    expect(settle({ ...EXACT, netLines: 20 }, cycle([99.95])).decision.verdict).toBe('keep');
    expect(settle({ ...EXACT, netLines: 21 }, cycle([99.9])).decision.verdict).toBe('keep');
  });

  it('has its best read again now and then', () => {
    let reference = EXACT.reference;
    const asked: string[] = [];
    for (let index = 0; index < 20; index++) {
      reference = settle({ ...EXACT, reference }, (what) => {
        asked.push(what);
        return what === 'best' ? 100 : 101;
      }).reference;
    }
    expect(asked.filter((what) => what === 'best')).toHaveLength(2);
    expect(reference.mode).toBe('deterministic');
  });

  it('turns noisy for good when the best reads otherwise, and the same experiment goes on so', () => {
    const due = { ...EXACT.reference, sinceBest: 9 };
    const best = cycle([100.5, 99, 101]);
    const { decision, reference } = settle({ ...EXACT, reference: due }, (what) =>
      what === 'best' ? best() : 99.9,
    );
    expect(decision.mode).toBe('noisy');
    expect(decision.verdict).toBe('discard');
    expect(reference).toMatchObject({ mode: 'noisy' });
    expect(reference.window).toHaveLength(12);
    expect(variance(reference)).toBeGreaterThan(0);
  });

  it('has the best read twelve times before anything is decided by noise', () => {
    const due = { ...EXACT.reference, sinceBest: 9 };
    const readings: Reading[] = [
      { of: 'candidate', value: 150 },
      { of: 'best', value: 100.5 },
    ];
    expect(nextStep({ ...EXACT, reference: due }, readings)).toMatchObject({ do: 'read', what: 'best' });
  });

  it('takes no noise from the quiet time when it turns noisy', () => {
    const quiet = Array(40).fill(100).reduce(withBestReading, EXACT.reference);
    expect(quiet.mode).toBe('deterministic');
    expect(variance(withBestReading(quiet, 112))).toBeCloseTo((11 * 1 + 11 ** 2) / 11, 10);
  });

  it('claims no share of a best that is 0', () => {
    const reference = referenceOf([0, 0, 0, 0, 0]);
    const { decision } = settle({ ...EXACT, reference }, cycle([-1]));
    expect(decision).toMatchObject({ verdict: 'keep', gain: 1, claimedImprovement: null });
  });
});

describe('a noisy metric', () => {
  it('is kept when it is better by δ, and claims what fresh readings say', () => {
    const candidate = noise(94);
    const best = noise(100);
    let count = 0;
    // The test sees luck, the confirmation does not.
    const { decision, reference } = settle(NOISY, (what) => {
      if (what === 'best') return best();
      return count++ < 2 ? 85 : candidate();
    });
    expect(decision).toMatchObject({ verdict: 'keep', reason: 'improved', stage: 'confirm' });
    expect(decision.metric).toBeCloseTo(94, 6);
    expect(decision.claimedImprovement).toBeGreaterThan(0.05);
    expect(decision.claimedImprovement).toBeLessThan(0.07);
    expect(reference.window).toHaveLength(12);
    expect(Math.max(...reference.window)).toBeLessThan(99);
    expect(reference.window).not.toContain(85);
    expect(decision.figures.gainFrom).toBeLessThan(decision.gain!);
  });

  it('is not kept on luck that fresh readings do not repeat', () => {
    const candidate = noise(100);
    const best = noise(100);
    let count = 0;
    const { decision, reference } = settle(NOISY, (what) => {
      if (what === 'best') return best();
      return count++ < 2 ? 85 : candidate();
    });
    expect(decision).toMatchObject({ verdict: 'discard', reason: 'not_confirmed', claimedImprovement: null });
    expect(reference.window.every((value) => value > 90)).toBe(true);
    expect(decision.readings.length).toBeLessThan(2 + 12 + 6);
  });

  it('is not kept when fresh readings say much less than δ', () => {
    const [candidate, best] = [cycle([98.1]), cycle([104, 96])];
    let count = 0;
    const { decision } = settle(NOISY, (what) => {
      if (what === 'best') return best();
      return count++ < 2 ? 85 : candidate();
    });
    expect(decision).toMatchObject({ verdict: 'discard', reason: 'not_confirmed' });
    expect(decision.readings).toHaveLength(2 + 12 + 6);
  });

  it('is never kept on a single reading', () => {
    const step = nextStep(NOISY, [{ of: 'candidate', value: 10 }]);
    expect(step).toEqual({ do: 'read', what: 'candidate', stage: 'test' });
  });

  it('is discarded at once when it is clearly worse', () => {
    const { decision } = settle(NOISY, cycle([115]));
    expect(decision).toMatchObject({ verdict: 'discard', reason: 'no_improvement' });
    expect(decision.readings).toHaveLength(1);
  });

  it('has the best read again after every second candidate reading, counted over experiments', () => {
    const halfway = (reference: Question['reference'], readings: Reading[]) =>
      nextStep({ ...NOISY, reference }, readings);
    const undecided: Reading = { of: 'candidate', value: 97.5 };
    expect(halfway(NOISY.reference, [undecided])).toMatchObject({ what: 'candidate' });
    expect(halfway(NOISY.reference, [undecided, undecided])).toMatchObject({ what: 'best' });
    const owing = { ...NOISY.reference, sinceBest: 1 };
    expect(halfway(owing, [])).toMatchObject({ what: 'candidate' });
    expect(halfway(owing, [undecided])).toMatchObject({ what: 'best' });
  });

  it('ends undecided at its bound', () => {
    const { decision } = settle(NOISY, (what) => (what === 'best' ? 100 : 97.5));
    expect(decision).toMatchObject({ verdict: 'discard', reason: 'undecided_at_bound' });
    const candidates = decision.readings.filter(({ of }) => of === 'candidate');
    expect(candidates.length).toBeGreaterThanOrEqual(12);
    expect(candidates.length).toBeLessThanOrEqual(16);
  });

  it('is tested for 1.5 σ when no min_delta is named, and for nothing finer than half a σ', () => {
    const sigma = Math.sqrt(10);
    const unnamed = settle({ ...NOISY, minDelta: null }, cycle([130])).decision;
    expect(unnamed.figures.delta).toBeCloseTo(1.5 * sigma, 10);
    const fine: Question = { ...NOISY, minDelta: { unit: 'absolute', value: 0.001 } };
    expect(settle(fine, cycle([130])).decision.figures.delta).toBeCloseTo(0.5 * sigma, 10);
  });

  it('is kept when it removes lines and surely loses nearly nothing', () => {
    const [candidate, best] = [noise(100), noise(100)];
    const simpler: Question = { ...NOISY, netLines: -4 };
    const { decision } = settle(simpler, (what) => (what === 'best' ? best() : candidate()));
    expect(decision).toMatchObject({ verdict: 'keep', reason: 'simpler', stage: 'compare' });
    const longer = settle({ ...simpler, netLines: 0 }, cycle([100]));
    expect(longer.decision.verdict).toBe('discard');
  });

  it('is discarded when it removes lines and loses more than half of min_delta', () => {
    const [candidate, best] = [noise(103), noise(100)];
    const { decision } = settle({ ...NOISY, netLines: -4 }, (what) =>
      what === 'best' ? best() : candidate(),
    );
    expect(decision).toMatchObject({ verdict: 'discard', reason: 'no_improvement' });
  });

  it('is not looked at for long when it removes lines and is soon seen to be worse', () => {
    let count = 0;
    const { decision } = settle({ ...NOISY, netLines: -4 }, (what) =>
      what === 'best' ? 100 : count++ < 1 ? 104 : 110,
    );
    expect(decision).toMatchObject({ verdict: 'discard', reason: 'no_improvement', stage: 'compare' });
    expect(decision.readings.length).toBeLessThan(8);
  });

  it('is compared with as many readings of the best when δ is as small as the noise', () => {
    const fine: Question = { ...NOISY, minDelta: { unit: 'absolute', value: 3.2 }, netLines: -4 };
    const [candidate, best] = [noise(100), noise(100)];
    const { decision } = settle(fine, (what) => (what === 'best' ? best() : candidate()));
    expect(decision).toMatchObject({ verdict: 'keep', reason: 'simpler' });
    expect(decision.figures.bestReadings).toBeGreaterThan(30);
  });

  it('stays noisy and ends when the noise goes away', () => {
    let reference = NOISY.reference;
    for (let index = 0; index < 60; index++) {
      reference = settle({ ...NOISY, minDelta: null, reference }, () => 100).reference;
    }
    expect(variance(reference)).toBe(0);
    const quiet: Question = { ...NOISY, minDelta: null, reference };
    const { decision } = settle(quiet, (what) => (what === 'best' ? 100 : 99));
    expect(decision.verdict).toBe('keep');
    expect(decisionSchema.parse(decision)).toEqual(decision);
    expect(settle(quiet, () => 100).decision.verdict).toBe('discard');
  });

  it('forgets old groups: what is stored of the best does not grow', () => {
    let reference = NOISY.reference;
    const best = noise(100);
    for (let index = 0; index < 300; index++) {
      reference = settle({ ...NOISY, reference }, (what) => (what === 'best' ? best() : 101)).reference;
    }
    expect(referenceSchema.parse(reference)).toEqual(reference);
    expect(JSON.stringify(reference).length).toBeLessThan(500);
  });
});

describe('a stray reading', () => {
  const far = 150;
  const STRAY_BASELINE = NOISY_BASELINE.with(4, far);

  it('of the best is no part of its noise, nor of its level', () => {
    const reference = referenceOf(STRAY_BASELINE);
    expect(Math.sqrt(variance(reference))).toBeLessThan(3.3);
    expect(levelOf(reference)).toBeCloseTo(1104 / 11, 10);
    // With it counted, noise would be 15 and nothing better by 5 % could ever be told.
    const { decision } = settle({ ...NOISY, reference }, cycle([120]));
    expect(decision).toMatchObject({ reason: 'no_improvement', figures: { strays: 1 } });
    expect(decision.readings).toHaveLength(1);
    expect(explainDecision(decision)).toContain('1 far off and left out');
  });

  it('is what the metric is like where it comes often', () => {
    const often = referenceOf(NOISY_BASELINE.with(1, far).with(5, far).with(9, far));
    expect(Math.sqrt(variance(often))).toBeGreaterThan(20);
    expect(levelOf(often)).toBeGreaterThan(110);
  });

  it('is not all there is against a change that removes lines', () => {
    const [candidate, best] = [noise(100), noise(100)];
    let count = 0;
    const { decision } = settle({ ...NOISY, netLines: -4 }, (what) =>
      what === 'best' ? best() : count++ === 0 ? far : candidate(),
    );
    expect(decision).toMatchObject({ verdict: 'keep', reason: 'simpler' });
    expect(decision.readings[0]).toEqual({ of: 'candidate', value: far });
    expect(decision.metric).toBeCloseTo(100, 0);
  });

  it('is none when the second reading says the same', () => {
    const { decision } = settle({ ...NOISY, netLines: -4 }, (what) => (what === 'best' ? 100 : far));
    expect(decision).toMatchObject({ verdict: 'discard', reason: 'no_improvement', stage: 'test' });
    expect(decision.readings.filter(({ of }) => of === 'candidate')).toHaveLength(2);
    expect(decision.readings.length).toBeLessThanOrEqual(3);
  });

  it.each([
    [1, 'keep'],
    [2, 'discard'],
  ] as const)(
    'is left out once among twelve, not twice, where a gain is confirmed: %i, %s',
    (strays, verdict) => {
      const [candidate, best] = [noise(94), noise(100)];
      let count = 0;
      const { decision } = settle(NOISY, (what) => {
        if (what === 'best') return best();
        const isStray = count >= 6 && count < 6 + strays;
        count++;
        return isStray ? far : candidate();
      });
      expect(decision.verdict).toBe(verdict);
      if (verdict === 'keep') expect(decision.figures.strays).toBe(1);
    },
  );

  it('ends nothing while fresh readings have not settled which is one', () => {
    const [candidate, best] = [noise(94), noise(100)];
    let count = 0;
    // The first fresh one, after two in the test.
    const { decision } = settle(NOISY, (what) => {
      if (what === 'best') return best();
      return [85, 85, far][count++] ?? candidate();
    });
    expect(decision).toMatchObject({ verdict: 'keep', stage: 'confirm', figures: { strays: 1 } });
  });
});

describe('a decision', () => {
  it('can be stored, and made again from what is stored', () => {
    const [candidate, best] = [noise(93), noise(100)];
    const { decision } = settle(NOISY, (what) => (what === 'best' ? best() : candidate()));
    const stored = decisionSchema.parse(JSON.parse(JSON.stringify(decision)));
    const again = nextStep({ ...NOISY, reference: stored.reference }, stored.readings);
    expect(again).toMatchObject({ do: 'settle', decision: stored });
    const late: Reading = { of: 'candidate', value: 500 };
    expect(nextStep({ ...NOISY, reference: stored.reference }, [...stored.readings, late])).toEqual(again);
  });

  it('is a discard when the candidate reads as no number, or the best never does', () => {
    const noNumber = settle(NOISY, cycle([Number.NaN])).decision;
    expect(noNumber).toMatchObject({ verdict: 'discard', reason: 'unreadable', metric: null, gain: null });
    expect(decisionSchema.parse(JSON.parse(JSON.stringify(noNumber)))).toEqual(noNumber);
    const noBest = settle(NOISY, (what) => (what === 'best' ? null : 97.5)).decision;
    expect(noBest).toMatchObject({ verdict: 'discard', reason: 'best_unreadable' });
  });

  it('names the limits it was held to', () => {
    const { figures } = settle(NOISY, cycle([115])).decision;
    expect(figures.keepAt).toBeCloseTo(Math.log((1 - RULE.beta) / RULE.alpha), 12);
    expect(figures.discardAt).toBeCloseTo(Math.log(RULE.beta / (1 - RULE.alpha)), 12);
    expect(figures.logLikelihoodRatio).toBeLessThan(figures.discardAt);
  });
});
