/**
 * The research loop's decisions against proposals whose worth is known. It drives the product's own code; beside it the
 * naive rule (keep what reads better than the stored best), the sequential test alone, and what Wald's arithmetic allows.
 */
import { open, stepAt, take } from '../src/loops/research/measure/decide.ts';
import type { Decision } from '../src/loops/research/measure/decision.ts';
import { nextBaselineStep, type Reference } from '../src/loops/research/measure/reference.ts';
import { RULE, type Rule } from '../src/loops/research/measure/rule.ts';
import type { Question } from '../src/loops/research/measure/trial.ts';
import { type Row, tell } from './row.ts';

const SEEDS = Array.from({ length: 200 }, (_, index) => index + 1);
const PROPOSALS = 200;
const SIGMA = 0.03;
const WORSE = 0.03;
const STRAYS = 0.02;
const STRAY = 1.5;
/** Without confirmation: the test alone decides; twelve readings of the new best follow. */
const TEST_ALONE: Rule = {
  ...RULE,
  alpha: 0.03,
  beta: 0.08,
  confirm: { candidate: 12, best: 0, share: -Infinity, giveUpAt: -Infinity },
};

interface Scenario {
  delta: number;
  /** In σ, per measurement, towards what looks better. */
  drift: number;
  /** Lines added minus lines removed by every proposal. */
  netLines: number;
  /** The share of readings that are half as much again, as where another process was at work. */
  strays: number;
  pick: (chance: number) => Proposal;
}
type Proposal = 'better' | 'nothing' | 'worse';

interface Outcome {
  proposals: Record<Proposal, number>;
  kept: Record<Proposal, number>;
  measurements: number;
  /** Each keep's claim minus its truth, in points. */
  excess: number[];
  /** How much better the final metric is told than it is, in per cent. */
  sessionExcess: number;
}

/** What a strategy does with one proposal: the claim of a keep, `null` for a discard. */
interface Strategy {
  baseline: number;
  propose: (read: Reader) => { claimed: number; best: number } | null;
}
interface Reader {
  candidate: () => number;
  best: () => number;
}
type StrategyMaker = (readBest: () => number, scenario: Scenario) => Strategy;

const mixed = (chance: number): Proposal => (chance < 0.1 ? 'better' : chance < 0.55 ? 'nothing' : 'worse');
const five: Scenario = { delta: 0.05, drift: 0, netLines: 5, strays: 0, pick: mixed };
const three: Scenario = { ...five, delta: 0.03 };
const drifting: Scenario = { ...five, drift: 0.01, pick: () => 'nothing' };

tell([
  mixedRow('(h) research, proposals better by 5 %', five, { false: 1, recall: 90, measurements: 5.5 }),
  mixedRow('(h) research, proposals better by 3 %', three, { false: 1.5, recall: 80, measurements: 12 }),
  driftRow('(h) research, drift of 0.01 σ, δ 5 %', drifting),
  driftRow('(h) research, drift of 0.01 σ, δ 3 %', { ...drifting, delta: 0.03 }),
  simplerRow({ ...five, netLines: -5 }),
  strayRow(),
  simplerRow({ ...five, netLines: -5, strays: STRAYS }),
]);

function mixedRow(
  what: string,
  scenario: Scenario,
  target: { false: number; recall: number; measurements: number },
): Row {
  const { pulse, testAlone, naive } = sideBySide(scenario);
  return {
    what,
    measured: inWords(pulse),
    beside: `naive: ${inWords(naive)}; test alone: ${inWords(testAlone)}; ${wald(scenario)}`,
    result: `${(naive.falseKeeps / pulse.falseKeeps).toFixed(0)}× fewer false keeps than naive; ${runs()}`,
    target:
      `false keeps ≤ ${target.false} %, recall ≥ ${target.recall} %, ≤ ${target.measurements} measurements, ` +
      'claimed − true ≤ 0.5 points',
    isMet:
      pulse.falseKeeps <= target.false &&
      pulse.recall >= target.recall &&
      pulse.measurements <= target.measurements &&
      Math.max(pulse.excess, pulse.sessionExcess) <= 0.5,
  };
}

function driftRow(what: string, scenario: Scenario): Row {
  const { pulse, testAlone, naive } = sideBySide(scenario);
  const words = (seen: Figures): string =>
    `false keeps ${seen.falseKeeps.toFixed(2)} %, ${seen.measurements.toFixed(1)} measurements`;
  return {
    what,
    measured: words(pulse),
    beside: `naive: ${words(naive)}; test alone: ${words(testAlone)}`,
    result: `nothing helps, every measurement reads better than the one before; ${runs()}`,
    target: 'false keeps ≤ 3 %',
    isMet: pulse.falseKeeps <= 3,
  };
}

/** Proposals that remove lines: those that cost nothing should be kept, those that cost 3 % should not. */
function simplerRow(scenario: Scenario): Row {
  const seen = simulate(scenario, withRule(RULE));
  const share = (kind: Proposal): string => percent(seen.kept[kind], seen.proposals[kind]).toFixed(1);
  const strays = scenario.strays === 0 ? '' : `, ${100 * scenario.strays} % of the readings stray`;
  return {
    what: `(h) research, proposals that remove lines, δ 5 %${strays}`,
    measured: `kept: ${share('nothing')} % of the harmless, ${share('worse')} % of those worse by 3 %, ${share('better')} % of the better`,
    beside: '',
    result: `${(seen.measurements / PROPOSALS / SEEDS.length).toFixed(1)} measurements an experiment`,
    target: '',
    isMet: null,
  };
}

/** No machine is always alone: what a few readings that are far off cost. */
function strayRow(): Row {
  const { pulse, naive } = sideBySide({ ...five, strays: STRAYS });
  return {
    what: `(h) research, proposals better by 5 %, ${100 * STRAYS} % of the readings stray`,
    measured: inWords(pulse),
    beside: `naive: ${inWords(naive)}`,
    result: `a stray reads half as much again; ${runs()}`,
    target: '',
    isMet: null,
  };
}

interface Figures {
  falseKeeps: number;
  recall: number;
  measurements: number;
  excess: number;
  sessionExcess: number;
}

function figures(scenario: Scenario, strategy: StrategyMaker): Figures {
  const seen = simulate(scenario, strategy);
  return {
    falseKeeps: percent(seen.kept.nothing + seen.kept.worse, seen.proposals.nothing + seen.proposals.worse),
    recall: percent(seen.kept.better, seen.proposals.better),
    measurements: seen.measurements / PROPOSALS / SEEDS.length,
    excess: average(seen.excess),
    sessionExcess: seen.sessionExcess / SEEDS.length,
  };
}

function sideBySide(scenario: Scenario): Record<'pulse' | 'testAlone' | 'naive', Figures> {
  return {
    pulse: figures(scenario, withRule(RULE)),
    testAlone: figures(scenario, withRule(TEST_ALONE)),
    naive: figures(scenario, keepWhatReadsBetter),
  };
}

function inWords({ falseKeeps, recall, measurements, excess, sessionExcess }: Figures): string {
  return (
    `false keeps ${falseKeeps.toFixed(2)} %, recall ${recall.toFixed(1)} %, ${measurements.toFixed(2)} measurements, ` +
    `claimed − true ${excess.toFixed(2)} points a keep, ${sessionExcess.toFixed(2)} in the final metric`
  );
}

/** Candidate readings alone, against a reference known exactly, averaged over the same mix of proposals. */
function wald({ delta }: Scenario): string {
  const { alpha, beta } = RULE;
  const [up, down] = [Math.log((1 - beta) / alpha), Math.log(beta / (1 - alpha))];
  const drift = (gain: number): number => (delta * (gain - delta / 2)) / SIGMA ** 2;
  const better = ((1 - beta) * up + beta * down) / drift(delta);
  const nothing = (alpha * up + (1 - alpha) * down) / drift(0);
  const worse = Math.max(1, down / drift(-WORSE));
  const all = 0.1 * better + 0.45 * nothing + 0.45 * worse;
  return (
    `Wald, α ${alpha}, β ${beta}, the best known exactly and nothing confirmed: ${all.toFixed(2)} ` +
    `(better ${better.toFixed(2)}, nothing ${nothing.toFixed(2)}, worse ${worse.toFixed(2)})`
  );
}

function runs(): string {
  return `${PROPOSALS} proposals, seeds ${SEEDS[0]} to ${SEEDS.at(-1)}`;
}

function simulate(scenario: Scenario, makeStrategy: StrategyMaker): Outcome {
  const total: Outcome = {
    proposals: { better: 0, nothing: 0, worse: 0 },
    kept: { better: 0, nothing: 0, worse: 0 },
    measurements: 0,
    excess: [],
    sessionExcess: 0,
  };
  for (const seed of SEEDS) simulateSession(scenario, makeStrategy, { seed, total });
  return total;
}

/** Lower is better, and all is relative: a level of 50 has half the noise of 100. */
function simulateSession(
  scenario: Scenario,
  makeStrategy: StrategyMaker,
  { seed, total }: { seed: number; total: Outcome },
): void {
  const random = createRandom(seed);
  let [level, measurements] = [100, 0];
  const read = (truth: number): number => {
    const stray = scenario.strays > 0 && random.uniform() < scenario.strays ? STRAY : 1;
    const drift = Math.exp(-scenario.drift * SIGMA * measurements++);
    return truth * (1 + SIGMA * random.normal()) * stray * drift;
  };
  const strategy = makeStrategy(() => read(level), scenario);
  let final = strategy.baseline;
  for (let index = 0; index < PROPOSALS; index++) {
    const proposal = scenario.pick(random.uniform());
    const truth = level * { better: 1 - scenario.delta, nothing: 1, worse: 1 + WORSE }[proposal];
    const kept = strategy.propose({ candidate: () => read(truth), best: () => read(level) });
    total.proposals[proposal]++;
    if (kept === null) continue;
    total.kept[proposal]++;
    total.excess.push(100 * (1 - kept.claimed / kept.best - (1 - truth / level)));
    [level, final] = [truth, kept.claimed];
  }
  total.measurements += measurements;
  total.sessionExcess += 100 * (1 - final / level);
}

function withRule(rule: Rule): StrategyMaker {
  return (readBest, scenario) => {
    const baseline: number[] = [];
    let step = nextBaselineStep(baseline);
    for (; step.do === 'read'; step = nextBaselineStep(baseline)) baseline.push(readBest());
    if (step.do !== 'begin') throw new Error('the baseline could not be read');
    let reference = step.reference;
    return {
      baseline: average(baseline),
      propose(reader) {
        const settled = experiment({ rule, scenario, reader, reference });
        reference = settled.reference;
        const { verdict, metric, best } = settled.decision;
        return verdict === 'keep' ? { claimed: metric!, best } : null;
      },
    };
  };
}

function experiment(given: { rule: Rule; scenario: Scenario; reader: Reader; reference: Reference }): {
  decision: Decision;
  reference: Reference;
} {
  const { rule, scenario, reader, reference } = given;
  const minDelta = { unit: 'relative', value: scenario.delta } as const;
  const question: Question = { direction: 'lower', minDelta, reference, netLines: scenario.netLines, rule };
  for (let standing = open(question); ; ) {
    const step = stepAt(question, standing);
    if (step.do === 'settle') return step;
    standing = take(question, standing, { of: step.what, value: reader[step.what]() });
  }
}

function keepWhatReadsBetter(readBest: () => number): Strategy {
  const baseline = readBest();
  let best = baseline;
  return {
    baseline,
    propose(reader) {
      const value = reader.candidate();
      if (value >= best) return null;
      const before = best;
      best = value;
      return { claimed: value, best: before };
    },
  };
}

/** mulberry32, and Box and Muller's normal values from it. */
function createRandom(seed: number): { uniform: () => number; normal: () => number } {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole;
}

function average(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
