/** How far the plot of research reaches, and what stands at its edge. */
import { describe, expect, it } from 'vitest';
import { foldText } from '../../web/research/folded.tsx';
import { experimentsDone } from '../../web/research/research-part.tsx';
import { plotOf } from '../../web/research/scale.ts';

type Experiments = Parameters<typeof plotOf>[0]['experiments'];

const experiments = (metrics: (number | null)[], kept: readonly number[] = []): Experiments =>
  metrics.map((metric, index) => ({
    number: index + 1,
    status: kept.includes(index + 1) ? ('keep' as const) : ('discard' as const),
    metric,
    decision: { figures: { sigma: 0.5 } },
  }));

describe('the plot of research', () => {
  it('shows all readings where none lies far out', () => {
    const plot = plotOf({
      baseline: 120,
      target: 90,
      experiments: experiments([118, 121, null, 110, 98], [1, 4, 5]),
    });
    expect(plot.strays).toEqual([]);
    expect([plot.low < 90, plot.high > 121]).toEqual([true, true]);
    expect(plot.kept).toEqual([120, 118, null, null, 110, 98]);
    expect(plot.rest).toEqual([null, null, 121, null, null, null]);
    expect(plot.best).toEqual([120, 118, 118, 118, 110, 98]);
  });

  it('puts a reading far out at its edge, and keeps the others apart', () => {
    const plot = plotOf({
      baseline: 3900,
      target: null,
      experiments: experiments([512, 511, 514, 509, 510, 508, 9], [1, 4, 6]),
    });
    expect(plot.strays).toEqual([
      { number: 0, value: 3900, side: 'above' },
      { number: 7, value: 9, side: 'below' },
    ]);
    expect(plot.high - plot.low).toBeLessThan(20);
    expect(plot.best[0]).toBe(plot.high);
    expect(plot.kept[0]).toBeNull();
  });

  it('leaves out one reading of a metric that hardly moves', () => {
    const metrics = [100, 100, 100, 100, 101, 100, 100, 1e9];
    const { strays, high } = plotOf({ baseline: 100, target: null, experiments: experiments(metrics) });
    expect(strays.map(({ value }) => value)).toEqual([1e9]);
    expect(high).toBeLessThan(110);
  });

  it('always shows the best, and the noise around it', () => {
    const { low, best, noiseLow, noiseHigh } = plotOf({
      baseline: 100,
      target: null,
      experiments: experiments([101, 100, 102, 99, 100, 1], [6]),
    });
    expect(low).toBeLessThan(1);
    expect(best.at(-1)).toBe(1);
    expect(noiseLow[0]).toBeNull();
    expect(noiseLow[1]).toBeCloseTo(100 - 0.98);
    expect(noiseHigh[1]).toBeCloseTo(100 + 0.98);
  });

  it('has room where every reading is the same, and one experiment is all there is', () => {
    for (const values of [[5, 5, 5, 5, 5, 5], [0], []]) {
      const { low, high } = plotOf({
        baseline: values[0] ?? 0,
        target: null,
        experiments: experiments(values),
      });
      expect(high).toBeGreaterThan(low);
    }
  });
});

describe('what a failure printed', () => {
  it('is one line, with the rest behind it', () => {
    expect(foldText('exit 1')).toEqual({ line: 'exit 1', isMore: false });
    expect(foldText('\nError: no\n  at x\n')).toEqual({ line: 'Error: no at x', isMore: true });
    expect(foldText('x'.repeat(500)).line.length).toBe(90);
  });
});

describe('the number of experiments', () => {
  it('is of those that were decided, never more of fewer', () => {
    const counts = { keeps: 2, discards: 9, crashes: 1 };
    expect(experimentsDone({ ...counts, iterations: 12 })).toBe('12 of 12 experiments');
    expect(experimentsDone({ ...counts, iterations: null })).toBe('12 experiments');
    expect(experimentsDone({ ...counts, iterations: 11 })).toBe('12 experiments, 11 asked for');
  });
});
