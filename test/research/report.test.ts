import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { triedStrategies } from '../../src/loops/research/ideas/strategy.ts';
import { explainDecision } from '../../src/loops/research/measure/decision-words.ts';
import { escapeMarkup } from '../../src/loops/research/report/escape.ts';
import { layoutPlot, type PlotData, type PlotRow } from '../../src/loops/research/report/plot.ts';
import { plotSvg } from '../../src/loops/research/report/plot-svg.ts';
import { plotTerminal } from '../../src/loops/research/report/plot-terminal.ts';
import { progressOf } from '../../src/loops/research/report/progress.ts';
import { type ReportData, type ReportRow, reportHtml } from '../../src/loops/research/report/report-page.ts';
import { cycle, NOISY_BASELINE, referenceOf, settle } from './scenario.ts';

const row = (iteration: number, status: PlotRow['status'], metric: number | null): PlotRow => ({
  iteration,
  status,
  metric,
  description: `idea ${iteration}`,
  sigma: 2,
});
const ROWS = [
  row(0, 'baseline', 100),
  row(1, 'discard', 103),
  row(2, 'keep', 90),
  row(3, 'crash', null),
  row(4, 'discard', 91),
  row(5, 'keep', 80),
];
const PLOT: PlotData = { metric: 'time', direction: 'lower', rows: ROWS };

/** Throws unless every tag is closed in order. */
function assertBalanced(markup: string): void {
  const open: string[] = [];
  for (const [, close, name, self] of markup.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[^<>]*?)?(\/?)>/gi)) {
    if (close) expect(open.pop()).toBe(name);
    else if (!self && name !== 'meta') open.push(name!);
  }
  expect(open).toEqual([]);
}

describe('the layout of a plot', () => {
  it('has a step of the best for each keep, with the noise around it', () => {
    expect(layoutPlot(PLOT).best.map(({ iteration, value }) => [iteration, value])).toEqual([
      [0, 100],
      [2, 90],
      [5, 80],
    ]);
    expect(layoutPlot(PLOT).best[0]).toMatchObject({ low: 100 - 1.96 * 2, high: 100 + 1.96 * 2 });
  });

  it('is not flattened by one absurd reading', () => {
    const { values } = layoutPlot({ ...PLOT, rows: [...ROWS, row(6, 'discard', 1e9)] });
    expect(values.high).toBeLessThan(150);
  });

  it('has round ticks within its range', () => {
    expect(layoutPlot(PLOT).ticks).toEqual([75, 80, 85, 90, 95, 100, 105]);
  });
});

describe('the plot as SVG', () => {
  it('marks keeps, discards and crashes, the band and the best so far', () => {
    const svg = plotSvg(PLOT);
    assertBalanced(svg);
    expect(svg.match(/<circle class="keep"/g)).toHaveLength(2);
    expect(svg.match(/<circle class="discard"/g)).toHaveLength(2);
    expect(svg.match(/<path class="crash"/g)).toHaveLength(1);
    expect(svg.match(/<polygon /g)).toHaveLength(1);
    expect(svg.match(/<polyline /g)).toHaveLength(1);
  });

  it('escapes what others wrote', () => {
    const evil = { ...row(1, 'keep', 1), description: '</title><script>alert(1)</script>' };
    const svg = plotSvg({ metric: '"><script>', direction: 'lower', rows: [evil] });
    expect(svg).not.toContain('<script');
    assertBalanced(svg);
  });

  it.each([0, 5e-324, 7, -1e-200])('has a range when all that was read is %d', (value) => {
    const data = { ...PLOT, rows: [{ ...row(0, 'baseline', value), sigma: 0 }] };
    const { values } = layoutPlot(data);
    expect(values.high).toBeGreaterThan(values.low);
    expect(plotSvg(data)).not.toMatch(/NaN|Infinity/);
  });

  it('has only numbers as coordinates, whatever the rows are', () => {
    const status = fc.constantFrom<PlotRow['status']>('baseline', 'keep', 'discard', 'crash');
    const metric = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e100, max: 1e100 }));
    const rows = fc
      .array(fc.tuple(status, metric), { maxLength: 30 })
      .map((all) => all.map(([kind, value], index) => row(index, kind, kind === 'crash' ? null : value)));
    fc.assert(
      fc.property(rows, (given) => {
        const data = { ...PLOT, rows: given };
        expect(plotSvg(data)).not.toMatch(/NaN|Infinity/);
        expect(plotTerminal(data, { width: 60, height: 14 })).not.toMatch(/NaN|Infinity/);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the plot in a terminal', () => {
  it('shows the same marks within the width', () => {
    const text = plotTerminal(PLOT, { width: 48, height: 14 });
    const lines = text.split('\n');
    expect(lines[0]).toBe('time (lower is better)');
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(48);
    expect(lines).toHaveLength(14);
    expect(text.match(/●/g)).toHaveLength(3);
    expect(text.match(/·/g)).toHaveLength(2);
    expect(text.match(/×/g)).toHaveLength(1);
    expect(text).toContain('░');
    expect(lines.at(-1)!.trim()).toMatch(/^0 +5$/);
    const rowOf = (label: string): number => lines.findIndex((line) => line.includes(`${label}┤`));
    expect(rowOf('100')).toBeLessThan(rowOf('80'));
  });

  it('lets no name steer the terminal', () => {
    const text = plotTerminal({ ...PLOT, metric: '\u001b[31mred\u202e' }, { width: 40, height: 8 });
    expect(text).not.toMatch(/[^\P{C}\n]/u);
  });

  it('has something to show before the first experiment', () => {
    expect(plotTerminal({ ...PLOT, rows: [] }, { width: 10, height: 2 })).toContain('└');
  });
});

describe('the report', () => {
  const rows: ReportRow[] = ROWS.map((one) => ({
    ...one,
    commit: one.status === 'keep' ? 'abcdef0123' : null,
    delta: one.metric === null ? null : one.metric - 100,
    commanderTaskId: null,
    reason: `because ${one.iteration}`,
    isSurprising: one.iteration === 5,
  }));
  const data: ReportData = {
    goal: 'Make <it> fast & small',
    sessionId: 'ses_1',
    metric: { name: 'time', direction: 'lower', verifyCommand: 'node "bench.js" && true', target: 50 },
    baselineCommit: '0123456',
    progress: progressOf(rows, { iterations: 5, isGoalReached: false }),
    rows,
    strategy: [
      { text: 'Cache results', iterations: [2, 4] },
      { text: 'Unroll', iterations: [] },
    ],
    diffs: [{ iteration: 2, diff: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<old>\n+<new>' }],
    totalDiff: '+all',
  };

  it('has its title and its sections, in order', () => {
    const html = reportHtml(data);
    assertBalanced(html);
    expect(html).toContain('<title>Autoresearch Complete: Make &lt;it&gt; fast &amp; small</title>');
    const headings = [...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, text]) => text);
    expect(headings).toEqual(['Results', 'Plan vs. Reality', 'Kept Changes', 'What Didn&#39;t Work']);
    expect(html).toContain('Baseline: 100 → Final: 80 (delta: -20)');
    expect(html).toContain('5 total (2 keeps, 2 discards, 1 crashes)');
    expect(html).toContain('#5 — idea 5');
    expect(html).toContain('Cache results: <strong>tried</strong> (#2 keep, #4 discard)');
    expect(html).toContain('Unroll: <strong>untried</strong>');
    expect(html).toContain('<span class="removed">-&lt;old&gt;</span>');
    expect(html).toContain('<span class="place">--- a/x</span>');
    expect(html).toContain('#3 — idea 3');
  });

  it('loads nothing and runs nothing', () => {
    const evil = rows.map((one) => ({
      ...one,
      description: '<img src=x onerror=alert(1)>',
      reason: '<script>',
    }));
    const html = reportHtml({ ...data, rows: evil, goal: '</title><script>', totalDiff: '</pre><script>' });
    assertBalanced(html);
    expect(html).not.toMatch(/<(?:script|img|link|iframe)\b/i);
    expect(html).not.toMatch(/\b(?:src|href)="|url\(|@import/);
    expect(html).toContain(`default-src 'none'`);
  });

  it('has words for a session that kept nothing', () => {
    const none = rows.slice(0, 1);
    const html = reportHtml({
      ...data,
      rows: none,
      strategy: [],
      progress: progressOf(none, { iterations: null, isGoalReached: false }),
    });
    expect(html).toContain('Nothing was kept.');
    expect(html).toContain('The plan named no strategy.');
  });
});

describe('what the report is made of', () => {
  it('finds the strategies that were taken up by their words', () => {
    const tried = triedStrategies(
      ['Caching of parsed results', 'Unroll the inner loop', ''],
      [
        { iteration: 1, description: 'cache the parsed results in a map' },
        { iteration: 2, description: 'use typed arrays' },
        { iteration: 3, description: 'unrolled inner loop by 4' },
      ],
    );
    expect(tried.map(({ iterations }) => iterations)).toEqual([[1], [3], []]);
  });

  it('escapes markup and drops what XML forbids', () => {
    expect(escapeMarkup(`<a href="x">'&\u0000\u001b\ud800\n`)).toBe(
      '&lt;a href=&quot;x&quot;&gt;&#39;&amp;\ufffd\ufffd\ufffd\n',
    );
  });

  it('tells a decision in a sentence', () => {
    const exact = referenceOf([100, 100, 100, 100, 100]);
    const decide = (value: number, netLines: number): string =>
      explainDecision(
        settle({ direction: 'lower', minDelta: null, reference: exact, netLines }, cycle([value])).decision,
      );
    expect(decide(90, 1)).toBe('Better by +10 = +10.0 % (1 reading).');
    expect(decide(100, -1)).toBe('No worse, and 1 line fewer: 0 = 0.00 % (1 reading).');
    expect(decide(101, 1)).toBe('No improvement: worse by 1 = 1.00 % (1 reading).');
    expect(decide(99.95, 30)).toContain('is not worth 30 lines more');
    const noisy = settle(
      {
        direction: 'lower',
        minDelta: { unit: 'relative', value: 0.05 },
        reference: referenceOf(NOISY_BASELINE),
        netLines: 1,
      },
      (what) => (what === 'best' ? 100 : 90),
    ).decision;
    expect(explainDecision(noisy)).toMatch(
      /^Better by \+10 = \+10\.0 %, 95 % bounds \+[\d.]+ to \+[\d.]+, noise [\d.]+ \(14 readings, 6 of the best\)\.$/,
    );
  });
});
