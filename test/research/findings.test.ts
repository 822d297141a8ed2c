/** What a session has found and what comes next, read off its rows. */
import { describe, expect, it } from 'vitest';
import { parseDraft } from '../../src/loops/beads/plan/draft.ts';
import {
  type FindingsInput,
  type FoundRow,
  findingsOf,
  nextStepsOf,
} from '../../src/loops/research/report/findings.ts';
import { implementationDraft } from '../../src/loops/research/report/implementation.ts';

const row = (
  iteration: number,
  status: FoundRow['status'],
  description: string,
  rest: Partial<FoundRow> = {},
): FoundRow => ({
  iteration,
  status,
  description,
  commit: status === 'keep' ? 'c0ffee1c0ffee1' : null,
  metric: null,
  delta: null,
  reason: '',
  commanderTaskId: null,
  ...rest,
});

const INPUT: FindingsInput = {
  metric: { name: 'ms', direction: 'lower' },
  strategy: ['use a cache', 'read in larger pieces'],
  rows: [
    row(0, 'baseline', 'baseline', { metric: 100 }),
    row(1, 'keep', 'use a cache', { metric: 90, delta: -10 }),
    row(2, 'discard', 'dearer', { metric: 95, delta: 5, reason: 'No improvement: +5.' }),
    row(3, 'crash', 'all at once', { reason: 'oom: at work\nRangeError: too much\n' }),
    row(4, 'discard', 'nearly', { metric: 89, delta: -1, reason: 'Not sure enough.' }),
    row(5, 'keep', 'a sieve', { metric: 40, delta: -50 }),
  ],
};

describe('the findings', () => {
  it('tell what came of it, what was kept, what did not work and what nobody tried', () => {
    expect(findingsOf(INPUT)).toBe(
      [
        'ms: 100 → 40 (-60) in 5 experiments.',
        'Kept:\n- #1 use a cache (-10)\n- #5 a sieve (-50)',
        "Didn't work:\n- #2 dearer: No improvement: +5.\n- #3 all at once: oom: RangeError: too much\n- #4 nearly: Not sure enough.",
        'Not tried:\n- read in larger pieces',
      ].join('\n\n'),
    );
  });

  it('stay readable however long the session was', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => row(index + 1, 'discard', 'x'.repeat(300)));
    const text = findingsOf({ ...INPUT, rows: [INPUT.rows[0]!, ...many] });
    expect(text).toContain('- 9950 more, earlier');
    expect(text.length).toBeLessThan(40_000);
  });
});

describe('the next steps', () => {
  it('stand in order: the largest gain first, then the untried, the broken, the near misses', () => {
    expect(nextStepsOf(INPUT).map(({ title }) => title)).toEqual([
      'Make ready to merge: a sieve',
      'Make ready to merge: use a cache',
      'Try what the plan named: read in larger pieces',
      'Find out why it broke: all at once',
      'Take up again: nearly',
    ]);
  });

  it('count a rise as a gain where higher is better', () => {
    const steps = nextStepsOf({ ...INPUT, metric: { name: 'score', direction: 'higher' }, strategy: [] });
    expect(steps.map(({ title }) => title)).toContain('Take up again: dearer');
    expect(steps.map(({ title }) => title)).not.toContain('Take up again: nearly');
  });

  it('make beads that lack nothing, however an agent called its ideas', () => {
    const evil = `${'\ud83d\ude00'.repeat(300)}\n\tnew line: "quotes" # and ---`;
    const steps = nextStepsOf({ ...INPUT, rows: [...INPUT.rows, row(6, 'keep', evil, { delta: -1 })] });
    const input = {
      ...{ sessionId: 'ses_0-1abc2d', goal: `${evil} D1`, inScope: ['src/**'], guard: 'npm test' },
      ...{ measure: './measure.sh', findings: findingsOf(INPUT), steps },
    };
    const draft = implementationDraft(input);
    expect(parseDraft(draft)).toEqual(draft);
    expect(draft.epic).toMatchObject({ id: 'research-1abc2d', title: expect.not.stringContaining('D1') });
    expect(draft.beads).toHaveLength(6);
    for (const { title, verify, files } of draft.beads) {
      expect(title.length <= 200 && !/[\n\t]/.test(title)).toBe(true);
      expect({ verify, files }).toEqual({
        verify: [{ command: 'npm test' }, { command: './measure.sh' }],
        files: ['src/**'],
      });
    }
    // A step that comes first next time is the same bead.
    const later = implementationDraft({ ...input, steps: steps.toReversed() });
    expect(later.beads.map(({ id }) => id)).toEqual(draft.beads.map(({ id }) => id).toReversed());
  });
});
