/** A metric with noise, measured by real processes. Its noise is written down beforehand, so that luck is no chance. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/loops/research/measure/decision.ts';
import { createPulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { idea, prepareLab, RESEARCH, research } from './lab.ts';

/** Twelve readings, mean 0, standard deviation about 2. */
const BASELINE = [2, -2, 1, -3, 3, -1, 2, -2, 0, 3, -3, 0];
/** Of no sign for long, either. */
const NEXT = [1, -2, 2, -1, 0, 2, -1, -2, 1, 0];

/** The n-th reading of all is off by the n-th line; afterwards `NEXT`, over and over. */
function prepareNoise(scratch: Scratch, offsets: readonly number[]): void {
  const [file, count] = [join(scratch.path, 'offsets'), join(scratch.path, 'count')];
  const all = [...offsets, ...Array.from({ length: 400 }, (_, index) => NEXT[index % NEXT.length]!)];
  writeFileSync(file, `${all.join('\n')}\n`);
  prepareLab(scratch, {
    'measure.sh': `#!/bin/sh
echo x >> '${count}'
offset=$(sed -n "$(wc -l < '${count}')p" '${file}')
echo "cost: $(($(sh src/cost) + offset))"
`,
  });
}

const decisionOf = ({ decision }: { decision: unknown }): Decision => decision as Decision;
const readingsOf = (decision: Decision, of: 'candidate' | 'best'): number =>
  decision.readings.filter((reading) => reading.of === of).length;

describe('a noisy metric', () => {
  it('is fooled neither by a lucky reading nor by an unlucky one, and keeps what truly helps', async () => {
    using scratch = createScratch();
    // Two lucky readings of a change that does nothing, with one of the best after them.
    prepareNoise(scratch, [...BASELINE, -9, -9, 1]);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments, progress } = await research(pulse, scratch, {
      iterations: 4,
      content: { metric: { ...RESEARCH.metric, min_delta: 5 } },
      scripts: {
        'exp-1': idea('nothing, with luck', 'echo 100 # the same'),
        'exp-2': idea('worse', 110),
        'exp-3': idea('much better', 60),
        'exp-4': idea('nothing again', 'echo 60 # the same'),
      },
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(experiments.map(({ status }) => status)).toEqual(['discard', 'discard', 'keep', 'discard']);
    const decisions = experiments.map(decisionOf);
    expect(decisions.map(({ mode }) => mode)).toEqual(Array(4).fill('noisy'));
    // The naive rule would have kept it: it read 91 against a best of 100.
    expect(decisions[0]!.readings[0]).toEqual({ of: 'candidate', value: 91 });
    expect(decisions[0]).toMatchObject({ stage: 'confirm', reason: 'not_confirmed' });
    expect(decisions[1]).toMatchObject({ stage: 'test', reason: 'no_improvement' });
    expect(readingsOf(decisions[1]!, 'candidate')).toBeLessThanOrEqual(2);
    expect(decisions[2]).toMatchObject({ stage: 'confirm', reason: 'improved' });
    expect(experiments[2]!.metric).toBeGreaterThan(57);
    expect(experiments[2]!.metric).toBeLessThan(63);
    expect(progress.metric).toBe(experiments[2]!.metric);
    for (const decision of decisions) {
      expect(readingsOf(decision, 'candidate')).toBeLessThanOrEqual(12 + 12);
      expect(readingsOf(decision, 'best')).toBeLessThanOrEqual(6 + 12);
    }
  }, 120_000);

  it('takes a bounded number of readings where the gain lies on the border', async () => {
    using scratch = createScratch();
    prepareNoise(scratch, BASELINE);
    await using pulse = await createPulse({ environment: scratch.environment });
    // Half of what is tested for: the evidence stays where it is.
    const { experiments } = await research(pulse, scratch, {
      iterations: 1,
      content: { metric: { ...RESEARCH.metric, min_delta: 2 } },
      scripts: { 'exp-1': idea('half of what is wanted', 99) },
    });
    const decision = decisionOf(experiments[0]!);
    const { sigma, delta } = decision.figures;
    const bound = Math.max(12, Math.ceil(40 * (sigma / delta) ** 2));
    expect(experiments[0]!.status).toBe('discard');
    expect(readingsOf(decision, 'candidate')).toBeLessThanOrEqual(
      bound + 12 * Math.ceil((sigma / delta) ** 2),
    );
    expect(readingsOf(decision, 'candidate')).toBeGreaterThan(2);
  }, 120_000);

  it('is found out when a metric that looked exact is not', async () => {
    using scratch = createScratch();
    // The baseline is five times the same; after ten candidate readings the best is read again and differs.
    prepareNoise(scratch, Array(5 + 10).fill(0));
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments } = await research(pulse, scratch, {
      iterations: 12,
      scripts: Object.fromEntries(
        Array.from({ length: 12 }, (_, index) => [`exp-${index + 1}`, idea(`try ${index + 1}`, 120 + index)]),
      ),
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    const modes = experiments.map((experiment) => decisionOf(experiment).mode);
    expect(modes.slice(0, 9)).toEqual(Array(9).fill('deterministic'));
    expect(modes.slice(-2)).toEqual(['noisy', 'noisy']);
  }, 120_000);
});
