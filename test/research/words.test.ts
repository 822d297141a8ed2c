import { describe, expect, it } from 'vitest';
import { taskComment, taskDescription, taskResult } from '../../src/loops/research/commander/texts.ts';
import { ideaFingerprint } from '../../src/loops/research/ideas/fingerprint.ts';
import { ANTI_PATTERNS, PRIORITIES, triesVariantsOnly } from '../../src/loops/research/ideas/ideation.ts';
import { STUCK_STEPS, stuckAfter } from '../../src/loops/research/ideas/stuck.ts';
import type { Decision } from '../../src/loops/research/measure/decision.ts';
import { isSurprising } from '../../src/loops/research/measure/surprise.ts';
import { formatDelta, formatFigure, formatShare } from '../../src/loops/research/report/figures.ts';
import {
  finalLines,
  isStatusDue,
  mailboxResult,
  mailboxStatus,
  progressOf,
  statusLine,
} from '../../src/loops/research/report/progress.ts';
import {
  type ResultRow,
  resultLine,
  resultsFile,
  resultsHeader,
} from '../../src/loops/research/report/results.ts';
import {
  isSessionFileDue,
  sessionFile,
  sessionFileSchema,
} from '../../src/loops/research/report/session-file.ts';
import { cycle, referenceOf, settle } from './scenario.ts';

const row = (given: Partial<ResultRow>): ResultRow => ({
  iteration: 1,
  commit: null,
  metric: 1,
  delta: 0,
  status: 'discard',
  description: 'nothing',
  commanderTaskId: null,
  ...given,
});
const ROWS: ResultRow[] = [
  row({ iteration: 0, commit: '0123456789', metric: 0.9979, status: 'baseline', description: 'baseline' }),
  row({
    iteration: 1,
    commit: 'a1b2c3d4e5',
    metric: 0.9821,
    delta: 0.9821 - 0.9979,
    status: 'keep',
    description: 'increase attention heads from 8 to 12',
    commanderTaskId: '184',
  }),
  row({ iteration: 2, metric: 0.9845, delta: 0.0024, description: 'switch optimizer\tto SGD\nand\\back' }),
  row({ iteration: 3, metric: null, delta: null, status: 'crash', description: 'double batch size (OOM)' }),
];
const END = progressOf(ROWS, { iterations: 3, isGoalReached: false });

describe('the results file', () => {
  it('has the header, the rows and the escapes', () => {
    expect(resultsFile('lower', ROWS)).toBe(
      [
        '# metric_direction: lower_is_better',
        'iteration\tcommit\tmetric\tdelta\tstatus\tdescription\tcommander_task_id',
        '0\t0123456\t0.9979\t0\tbaseline\tbaseline\t',
        '1\ta1b2c3d\t0.9821\t-0.0158\tkeep\tincrease attention heads from 8 to 12\t184',
        '2\t-\t0.9845\t+0.0024\tdiscard\tswitch optimizer\\tto SGD\\nand\\\\back\t',
        '3\t-\t\t\tcrash\tdouble batch size (OOM)\t',
        '',
      ].join('\n'),
    );
    expect(resultsFile('higher', [])).toMatch(/^# metric_direction: higher_is_better\n/);
  });

  it('can be written line by line', () => {
    expect(resultsHeader('lower') + ROWS.map(resultLine).join('')).toBe(resultsFile('lower', ROWS));
  });

  it('lets no description begin a line or a column', () => {
    const wild = row({ description: 'a\u2028b\u0000c\u000bd\r\ne' });
    const lines = resultsFile('lower', [wild]).split(/[\n\r\u2028\v]/);
    expect(lines).toHaveLength(4);
    expect(lines[2]!.split('\t')).toHaveLength(7);
  });
});

describe('figures', () => {
  it('stay as they were read, and means are rounded', () => {
    expect(formatFigure(123456789)).toBe('123456789');
    expect(formatFigure(0.1 + 0.2)).toBe('0.3');
    expect(formatFigure(1 / 3)).toBe('0.3333333');
    expect(formatFigure(123456789.123456)).toBe('123456789.123');
    expect(formatFigure(0)).toBe('0');
    expect(formatDelta(null)).toBe('');
    expect(formatDelta(2)).toBe('+2');
    expect(formatDelta(-2)).toBe('-2');
    expect(formatShare(0.0512)).toBe('+5.12 %');
    expect(formatShare(-0.25)).toBe('-25.0 %');
  });
});

describe('what a session says', () => {
  it('is the status line every five experiments', () => {
    const progress = { ...END, iteration: 25, metric: 0.95, keeps: 8, discards: 17 };
    expect(statusLine(progress)).toBe('Iteration 25: metric at 0.95, 8 keeps / 17 discards');
    expect([0, 1, 4, 5, 6, 10].filter(isStatusDue)).toEqual([5, 10]);
    expect(mailboxStatus(END)).toBe(
      'Autoresearch progress — Iteration #3: metric at 0.9821 (baseline: 0.9979). Keeps: 1 | Discards: 1 | Crashes: 1',
    );
  });

  it('is the final summary', () => {
    expect(finalLines(END)).toEqual([
      '=== Autoresearch Complete (3/3 iterations) ===',
      'Baseline: 0.9979 -> Final: 0.9821 (-0.0158)',
      'Keeps: 1 | Discards: 1 | Crashes: 1',
      'Best iteration: #1 — increase attention heads from 8 to 12',
    ]);
    expect(mailboxResult(END)).toBe(
      'Autoresearch complete (3 iterations). Baseline: 0.9979 → Final: 0.9821 (delta: -0.0158). ' +
        'Keeps: 1 | Discards: 1 | Crashes: 1. Best: #1 — increase attention heads from 8 to 12',
    );
  });

  it('says first that the goal was achieved', () => {
    const lines = finalLines({ ...END, isGoalReached: true });
    expect(lines[0]).toBe('Goal achieved at iteration 3! Final metric: 0.9821');
    expect(lines).toHaveLength(5);
  });

  it('has a summary when nothing was kept and there was no end', () => {
    const progress = progressOf(ROWS.slice(0, 1), { iterations: null, isGoalReached: false });
    expect(finalLines(progress)).toEqual([
      '=== Autoresearch Complete (0/0 iterations) ===',
      'Baseline: 0.9979 -> Final: 0.9979 (0)',
      'Keeps: 0 | Discards: 0 | Crashes: 0',
      'Best iteration: #0 — baseline',
    ]);
  });

  it('tells the commander what became of an experiment', () => {
    expect(taskDescription(7, 'unroll')).toBe('Iteration #7: unroll');
    expect(taskResult(ROWS[1]!, 0.9979)).toBe(
      'keep: increase attention heads from 8 to 12. Metric: 0.9979 → 0.9821 (delta: -0.0158)',
    );
    expect(taskResult(ROWS[3]!, 0.9821)).toBe(
      'crash: double batch size (OOM). Metric: 0.9821 → - (delta: -)',
    );
    // An agent's sentence may bring its own end.
    expect(taskResult(row({ description: 'Use a cache.' }), 1)).toContain('discard: Use a cache. Metric: ');
    expect(taskResult(row({ description: 'Why not?' }), 1)).toContain('discard: Why not? Metric: ');
    expect(taskComment(ROWS[3]!)).toBe(
      'Status: crash\nMetric: - (delta: -)\nCommit: -\nDescription: double batch size (OOM)',
    );
  });
});

describe('being stuck', () => {
  const discards = (count: number) => Array(count).fill('discard' as const);

  it('begins with the sixth discard in a row', () => {
    expect(stuckAfter([])).toBeNull();
    expect(stuckAfter(['keep', ...discards(5)])).toBeNull();
    expect(stuckAfter(['keep', ...discards(6)])).toEqual({ discards: 6, approach: 3 });
    expect(stuckAfter([...discards(6), 'keep'])).toBeNull();
  });

  it('is neither counted nor reset by crashes', () => {
    expect(stuckAfter([...discards(5), 'crash'])).toBeNull();
    expect(stuckAfter([...discards(3), 'crash', ...discards(3)])).toEqual({ discards: 6, approach: 3 });
  });

  it('takes one approach after the other, and then begins again', () => {
    const approaches = [6, 7, 8, 9, 10].map((count) => STUCK_STEPS[stuckAfter(discards(count))!.approach]);
    expect(approaches).toEqual([
      STUCK_STEPS[3],
      STUCK_STEPS[4],
      STUCK_STEPS[5],
      STUCK_STEPS[6],
      STUCK_STEPS[3],
    ]);
  });
});

describe('choosing an experiment', () => {
  it('knows the six priorities and the three anti-patterns', () => {
    expect(PRIORITIES.map((text) => text.split(' ')[0])).toEqual([
      'Fix',
      'Exploit',
      'Explore',
      'Combine',
      'Simplify',
      'Radical',
    ]);
    expect(ANTI_PATTERNS).toHaveLength(3);
    expect(STUCK_STEPS).toHaveLength(7);
  });

  it('tries variants only when fewer than three are left', () => {
    expect([6, 7, 8, 9, 10].filter((n) => triesVariantsOnly(n, 10))).toEqual([8, 9, 10]);
    expect(triesVariantsOnly(1000, null)).toBe(false);
  });

  it('knows an idea again by its fingerprint', () => {
    const idea = ideaFingerprint('Use a bigger hash-table (size 64).');
    expect(ideaFingerprint('experiment:  use the bigger HASH table, size 64')).toBe(idea);
    expect(ideaFingerprint('Use a bigger hash-table (size 128).')).not.toBe(idea);
    expect(ideaFingerprint('lr 0.5')).not.toBe(ideaFingerprint('lr 05'));
    expect(ideaFingerprint('x + 1')).not.toBe(ideaFingerprint('x - 1'));
    expect(ideaFingerprint('a1 to b1')).not.toBe(ideaFingerprint('b1 to a1'));
    expect(ideaFingerprint('🚀')).not.toBe(ideaFingerprint('🐢'));
    expect(ideaFingerprint("Don't sort")).toBe(ideaFingerprint('dont sort'));
  });
});

describe('a surprise', () => {
  const decide = (value: number): Decision =>
    settle(
      { direction: 'lower', minDelta: null, reference: referenceOf([100, 100, 100, 100, 100]), netLines: 0 },
      cycle([value]),
    ).decision;

  it('is a keep of more than ten per cent', () => {
    expect([95, 90, 89, 110].map((value) => isSurprising(decide(value)))).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it('is a keep of more than five noise floors', () => {
    const quiet = decide(99);
    const noise = (sigma: number): Decision => ({ ...quiet, figures: { ...quiet.figures, sigma } });
    expect(isSurprising(noise(0.1))).toBe(true);
    expect(isSurprising(noise(0.3))).toBe(false);
    expect(isSurprising({ ...noise(0.1), verdict: 'discard' })).toBe(false);
  });
});

describe('the session file', () => {
  const facts = {
    id: 'ses_1',
    status: 'researching' as const,
    goal: 'Make it fast',
    metric: { name: 'time', direction: 'lower' as const, verifyCommand: 'node bench.js', target: null },
    scope: { inScope: ['src/**'], readOnly: [], outOfScope: [] },
    plan: '.context/autoresearch-plan.md',
    findings: '',
    nextSteps: [],
    implementation: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    workingDirectory: 'repository',
    tags: [],
  };

  it('takes baseline and final from the rows', () => {
    const file = sessionFile(facts, ROWS);
    expect(file.metric).toMatchObject({ baseline: 0.9979, final: 0.9821 });
    expect(file.iterations).toHaveLength(4);
    expect(sessionFileSchema.parse(JSON.parse(JSON.stringify(file)))).toEqual(file);
    expect(sessionFile(facts, ROWS.slice(0, 1)).metric.final).toBe(0.9979);
    expect(sessionFile(facts, []).metric.final).toBeNull();
  });

  it('is due on every keep and every fifth experiment', () => {
    expect(ROWS.map(isSessionFileDue)).toEqual([true, true, false, false]);
    expect(isSessionFileDue(row({ iteration: 5 }))).toBe(true);
  });
});
