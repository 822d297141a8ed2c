/** What a follower, the plot and the report make of experiments. */
import { describe, expect, it } from 'vitest';
import { eventLines } from '../../src/cli/follow/lines.ts';
import { advance, firstProgress } from '../../src/cli/follow/progress.ts';
import type { EventType, PulseEvent } from '../../src/domain/events.ts';
import { experimentLines } from '../../src/loops/research/cli/experiment-lines.ts';
import { crashLine } from '../../src/loops/research/measure/crash.ts';
import type { PlotRow } from '../../src/loops/research/report/plot.ts';
import { plotSvg } from '../../src/loops/research/report/plot-svg.ts';
import { plotTerminal } from '../../src/loops/research/report/plot-terminal.ts';
import { wordsFor } from '../../src/loops/words.ts';
import type { Session } from '../../src/store/sessions.ts';
import { createStyle } from '../../src/terminal/style.ts';
import { displayWidth } from '../../src/terminal/text.ts';

const style = createStyle(false);
const AT = '2026-01-01T00:00:00.000Z';
const event = (type: EventType, data: Record<string, unknown>): PulseEvent => ({
  seq: 1,
  type,
  at: AT,
  sessionId: 'ses_1',
  iteration: 4,
  data,
});
const line = (type: EventType, data: Record<string, unknown>, columns = 120): string[] =>
  experimentLines(event(type, data), 'exp-3', { style, columns });

const DISCARDED = {
  number: 3,
  description: 'use a cache',
  metric: 95,
  delta: 5,
  reason: 'No improvement: -5 = -5.56 % (1 reading).',
};

describe('an experiment in a followed session', () => {
  it('leaves one line with its end, metric, delta, description and reason', () => {
    expect(line('experiment.discarded', DISCARDED)).toEqual([
      '·  3 discard  95 (+5)                  use a cache  No improvement: -5 = -5.56 % (1 reading).',
    ]);
    expect(
      line('experiment.kept', { ...DISCARDED, number: 12, metric: 80.5, delta: -9.5, reason: 'Better' }),
    ).toEqual(['✓ 12 keep     80.5 (-9.5)              use a cache  Better']);
  });

  it('has no figures when nothing was measured, and tells a crash by the line that names the error', () => {
    const crash = { number: 3, description: 'all at once', metric: null, delta: null };
    const reason = 'runtime: at work\nRangeError: Invalid array length\n    at main\n\nNode.js v24';
    expect(line('experiment.crashed', { ...crash, reason })).toEqual([
      '✗  3 crash                             all at once  runtime: RangeError: Invalid array length',
    ]);
  });

  it('tells what surprises, and a run that must be mended', () => {
    const reason = 'Better by +50 = +50.0 %, 95 % bounds +48 to +52, noise 1 (14 readings, 6 of the best).';
    expect(line('experiment.surprised', { number: 3, reason })).toEqual([
      '! 3 surprising: Better by +50 = +50.0 %',
    ]);
    expect(line('experiment.surprised', { number: 3, text: 'It is all made up.' })).toEqual([
      '! 3 surprising: It is all made up.',
    ]);
    expect(line('iteration.settled', { outcome: 'continued', reason: 'syntax: SyntaxError: oh' })).toEqual([
      '↻ 3 broke, to be fixed: syntax: SyntaxError: oh',
    ]);
    expect(line('iteration.settled', { outcome: 'kept' })).toEqual([]);
  });

  it('is never wider than the terminal, nor steers it', () => {
    const evil = {
      ...DISCARDED,
      description: `\x1b[2J${'日本 text '.repeat(30)}`,
      reason: '\x1b]0;x\x07'.repeat(9),
    };
    const wide = { ...DISCARDED, description: '日本'.repeat(8), reason: '理由'.repeat(40) };
    for (const columns of [50, 79, 120]) {
      for (const told of [evil, wide].flatMap((data) => line('experiment.discarded', data, columns))) {
        expect(displayWidth(told)).toBeLessThanOrEqual(columns);
        expect(told).not.toMatch(/\p{Cc}/u);
      }
    }
  });

  it('is called by its own number, and only in research', () => {
    const session = { kind: 'research', created_at: AT, current_iteration: 0, max_iterations: 9 } as Session;
    const planned = event('iteration.planned', { unit: 'exp-3' });
    const progress = advance(firstProgress(session), planned);
    expect(wordsFor(progress.kind).place(progress)).toBe('experiment 3');
    expect(wordsFor('goal').place({ ...progress, kind: 'goal' })).toBe('iteration 4/9');
    const settled = event('iteration.settled', { outcome: 'discarded', signal: 'CONTINUE' });
    expect(eventLines(settled, progress, { style, columns: 80 })).toEqual([]);
    expect(eventLines(settled, { ...progress, kind: 'goal' }, { style, columns: 80 })).toHaveLength(1);
  });
});

describe('a crash in one line', () => {
  it.each([
    [
      'syntax: file.js:3\n  if (x {\nSyntaxError: Unexpected token\n    at wrap',
      'syntax: SyntaxError: Unexpected token',
    ],
    ['runtime: Traceback\nValueError: no such\n', 'runtime: ValueError: no such'],
    ['runtime: make: *** [all] Error 2', 'runtime: make: *** [all] Error 2'],
    ['hang: still at it', 'hang: still at it'],
    ['oom: ', 'oom'],
    ['', ''],
  ])('%j is %j', (reason, told) => {
    expect(crashLine(reason)).toBe(told);
  });
});

describe('the plot', () => {
  const row = (iteration: number, status: PlotRow['status'], metric: number | null): PlotRow => ({
    iteration,
    status,
    metric,
    description: `idea ${iteration}`,
    sigma: 1,
  });
  const rows = [
    row(0, 'baseline', 100),
    row(1, 'keep', 90),
    row(2, 'discard', null),
    row(3, 'discard', 1e6),
    row(4, 'discard', -1e6),
    row(5, 'crash', null),
  ];
  const data = { metric: 'cost', direction: 'lower', rows } as const;

  it('tells what was void before it was measured from a crash, and what lies out of the picture', () => {
    const text = plotTerminal(data, { width: 60, height: 14 });
    for (const sign of ['◇', '↑', '↓', '×']) expect(text.match(new RegExp(sign, 'g'))).toHaveLength(1);
    expect(text.match(/●/g)).toHaveLength(2);
    expect(text).not.toContain('·');
  });

  it('does the same as a picture', () => {
    const svg = plotSvg(data);
    expect(svg.match(/<path class="crash"/g)).toHaveLength(1);
    expect(svg.match(/<path class="discard"/g)).toHaveLength(3);
    expect(svg).not.toContain('<circle class="discard"');
    expect(svg).toContain('#2 discard: unmeasured — idea 2');
  });
});
