import { describe, expect, it } from 'vitest';
import {
  type BaselineRecord,
  type CommandBaseline,
  createBaseline,
  findFlaky,
} from '../../../src/referee/output/baseline.ts';
import { compareWithBaseline, type FindingCategory, isInDoubt } from '../../../src/referee/output/compare.ts';
import type { ParsedIssue } from '../../../src/referee/output/issue.ts';
import type { ParsedOutput } from '../../../src/referee/output/parse.ts';
import { renderAsides, renderNewIssues } from '../../../src/referee/output/report.ts';
import { parseKept } from './outputs.ts';

const broken: ParsedIssue = {
  issueType: 'Error',
  source: 'Build',
  file: 'src/a.ts',
  code: 'TS2304',
  message: "Cannot find name 'x'",
  line: 3,
};
const odd: ParsedIssue = {
  ...broken,
  issueType: 'Warning',
  source: 'Lint',
  code: 'no-console',
  message: 'Unexpected console',
};
const failing: ParsedIssue = {
  ...broken,
  source: 'Test',
  file: 'a.test.ts',
  code: null,
  message: 'adds',
  detail: 'expected 3',
};

function run(issues: ParsedIssue[], more: Partial<ParsedOutput> = {}): ParsedOutput {
  const exit = issues.some(({ issueType }) => issueType === 'Error') ? 1 : 0;
  return {
    command: 'npm test',
    source: 'Test',
    exit,
    issues,
    tests: null,
    names: null,
    ranNoTest: false,
    parsers: [],
    ...more,
  };
}

function told(
  baseline: CommandBaseline | null,
  ...runs: [ParsedOutput, ...ParsedOutput[]]
): [FindingCategory, string, number][] {
  const { findings } = compareWithBaseline({ baseline, runs });
  return findings.map(({ category, issue, count }) => [category, issue.message, count]);
}

describe('a comparison', () => {
  it('passes a run with the issues of the baseline, wherever they have moved to', () => {
    const baseline = createBaseline([run([broken, broken, odd])]);
    const moved = [
      { ...broken, line: 90 },
      { ...odd, line: 91 },
      { ...broken, line: 92 },
    ];
    expect(compareWithBaseline({ baseline, runs: [run(moved)] })).toEqual({
      command: 'npm test',
      findings: [],
      ranNoTest: false,
      passes: true,
    });
  });

  it('tells the count above the baseline as new, and rejects', () => {
    const baseline = createBaseline([run([broken])]);
    const comparison = compareWithBaseline({
      baseline,
      runs: [run([broken, { ...broken, line: 8 }, { ...broken, line: 9 }])],
    });
    expect(comparison.findings).toEqual([
      { category: 'error', issue: broken, count: 2, baselineCount: 1, lines: [3, 8, 9] },
    ]);
    expect(comparison.passes).toBe(false);
  });

  it('rejects a new warning as well, though the command exits with 0', () => {
    const comparison = compareWithBaseline({ baseline: createBaseline([run([])]), runs: [run([odd])] });
    expect(comparison.findings.map(({ category }) => category)).toEqual(['warning']);
    expect(comparison.passes).toBe(false);
  });

  it('takes everything as new where there is no baseline', () => {
    expect(told(null, run([broken, odd]))).toEqual([
      ['error', broken.message, 1],
      ['warning', odd.message, 1],
    ]);
  });

  it('tells what is missing, and passes', () => {
    const baseline = createBaseline([run([broken, broken, failing])]);
    const comparison = compareWithBaseline({ baseline, runs: [run([broken])] });
    expect(comparison.findings.map(({ category, issue, count }) => [category, issue.message, count])).toEqual(
      [
        ['missing', broken.message, 1],
        ['missing', failing.message, 1],
      ],
    );
    expect(comparison.passes).toBe(true);
  });

  it('keeps apart the same message in another file or under another code', () => {
    const baseline = createBaseline([run([broken])]);
    expect(told(baseline, run([{ ...broken, file: 'src/b.ts' }])).map(([category]) => category)).toEqual([
      'error',
      'missing',
    ]);
    expect(told(baseline, run([{ ...broken, code: 'TS1' }])).map(([category]) => category)).toEqual([
      'error',
      'missing',
    ]);
  });

  it('never passes a suite that ran no test, even where the baseline ran none', () => {
    const empty = run([], { ranNoTest: true, tests: { ran: 0, passed: 0, failed: 0, skipped: 2 } });
    const comparison = compareWithBaseline({ baseline: createBaseline([empty]), runs: [empty] });
    expect(comparison).toMatchObject({ findings: [], ranNoTest: true, passes: false });
    expect(renderNewIssues(comparison, { maxLines: 10 })).toBe(
      '`npm test`: no test ran, which is never a pass',
    );
  });

  it('finds the new errors among the old ones of a real run', () => {
    const baseline = createBaseline([parseKept('tsc/errors')]);
    const now = parseKept('tsc/errors-moved');
    const [first] = now.issues;
    const later = { ...now, issues: [...now.issues, { ...first!, file: 'src/new.ts' }] };
    expect(told(baseline, now)).toEqual([]);
    expect(told(baseline, later)).toEqual([['error', first!.message, 1]]);
  });

  it('survives JSON, as the store keeps it', () => {
    const baseline = createBaseline([parseKept('pytest/failing')]);
    const kept = JSON.parse(JSON.stringify(baseline)) as CommandBaseline;
    expect(told(kept, parseKept('pytest/failing-moved'))).toEqual([]);
  });
});

describe('running again', () => {
  it('makes flaky what only one of the runs shows, and passes', () => {
    const baseline = createBaseline([run([broken])]);
    const comparison = compareWithBaseline({ baseline, runs: [run([broken, failing]), run([broken])] });
    expect(comparison.findings.map(({ category, issue }) => [category, issue.message])).toEqual([
      ['flaky', 'adds'],
    ]);
    expect(comparison.passes).toBe(true);
    expect(renderNewIssues(comparison, { maxLines: 10 })).toBe('');
    expect(renderAsides(comparison)).toEqual([
      '1 flaky issue: two runs of the same tree disagree, not held against it',
    ]);
  });

  it('keeps as new what both runs show, to the smaller count', () => {
    expect(told(createBaseline([run([])]), run([failing, failing]), run([failing]))).toEqual([
      ['error', 'adds', 1],
      ['flaky', 'adds', 1],
    ]);
  });

  it('is worth it for tests and for failures that nobody could read, not for compilers', () => {
    const doubt = (issue: ParsedIssue): boolean =>
      isInDoubt(compareWithBaseline({ baseline: null, runs: [run([issue])] }));
    const exit = { ...broken, file: null, code: null, message: 'exit 2' };
    expect([failing, exit, broken, odd].map(doubt)).toEqual([true, true, false, false]);
  });

  it('passes when one of two runs ran its tests, and does not when none did', () => {
    const none = run([], { ranNoTest: true });
    expect(compareWithBaseline({ baseline: null, runs: [none, run([])] }).passes).toBe(true);
    expect(compareWithBaseline({ baseline: null, runs: [none, none] }).passes).toBe(false);
  });

  it('finds the flaky test of two real runs', () => {
    const flaky = findFlaky(parseKept('vitest/failing'), parseKept('vitest/failing-lucky'));
    expect(flaky.map(({ issue, counts }) => [issue.message, counts])).toEqual([['is flaky', [1, 0]]]);
  });

  it('gives a baseline that knows the flaky test, whichever way it ends later', () => {
    const baseline = createBaseline([parseKept('vitest/failing'), parseKept('vitest/failing-lucky')]);
    expect(told(baseline, parseKept('vitest/failing'))).toEqual([]);
    expect(told(baseline, parseKept('vitest/failing-lucky'))).toEqual([]);
  });
});

describe('a record of record_baseline', () => {
  const record: BaselineRecord = { issueType: 'Error', source: 'Build', pattern: 'TS2304' };
  const isCovered = (issue: ParsedIssue, more: Partial<BaselineRecord>): boolean =>
    compareWithBaseline({ baseline: null, records: [{ ...record, ...more }], runs: [run([issue])] }).passes;

  it.each<[string, Partial<BaselineRecord>, boolean]>([
    ['its code', {}, true],
    ['a part of its message', { pattern: 'Cannot find name' }, true],
    ['its file too', { filePath: './src/a.ts' }, true],
    ['another file', { filePath: 'src/b.ts' }, false],
    ['another code', { pattern: 'TS23' }, false],
    ['another type', { issueType: 'Warning' }, false],
    ['another source', { source: 'Lint' }, false],
    ['nothing', { pattern: ' ' }, false],
  ])('that names %s: covered is %o', (_, more, covered) => {
    expect(isCovered(broken, more)).toBe(covered);
  });

  it('covers a message as the tool printed it, though it was normalised', () => {
    const slow = { ...broken, code: null, message: 'took <duration> to answer' };
    expect(isCovered(slow, { pattern: 'took 35 ms to answer' })).toBe(true);
  });

  it('covers what a failing test says', () => {
    expect(isCovered(failing, { source: 'Test', pattern: 'expected 3' })).toBe(true);
  });

  it('of `exit 1` does not cover `exit 101`', () => {
    const exit = (code: number): ParsedIssue => ({
      ...broken,
      file: null,
      code: null,
      message: `exit ${code}`,
    });
    expect([isCovered(exit(1), { pattern: 'exit 1' }), isCovered(exit(101), { pattern: 'exit 1' })]).toEqual([
      true,
      false,
    ]);
  });
});

describe('the words of a comparison', () => {
  const many = Array.from({ length: 30 }, (_, index) => ({
    ...broken,
    file: `src/${index % 3}.ts`,
    message: `problem ${index}`,
  }));

  it('show new issues below their files, with codes, lines and counts', () => {
    const baseline = createBaseline([run([broken])]);
    const runs = [
      run([
        broken,
        { ...broken, line: 8 },
        odd,
        failing,
        { ...broken, file: null, code: null, message: 'exit 2', line: undefined },
      ]),
    ] as const;
    expect(renderNewIssues(compareWithBaseline({ baseline, runs }), { maxLines: 20 }).split('\n')).toEqual([
      '`npm test`: 3 new errors, 1 new warning',
      '(no file)',
      '  error: exit 2',
      'a.test.ts',
      '  error (line 3): adds: expected 3',
      'src/a.ts',
      "  error TS2304 (line 3, 8): Cannot find name 'x' [1 more, 1 before]",
      '  warning no-console (line 3): Unexpected console',
    ]);
  });

  it.each([2, 3, 4, 5, 12, 13, 14, 15, 33])(
    'take at most %i lines and say how many issues are left out',
    (maxLines) => {
      const lines = renderNewIssues(compareWithBaseline({ baseline: null, runs: [run(many)] }), {
        maxLines,
      }).split('\n');
      expect(lines.length).toBeLessThanOrEqual(maxLines);
      const shown = lines.filter((line) => line.startsWith('  ')).length;
      expect(lines.at(-2)).toMatch(shown === 0 ? /^`npm test`/ : /^ {2}error/);
      expect(lines.at(-1)).toBe(`and ${30 - shown} more`);
    },
  );

  it('show all where there is room', () => {
    const text = renderNewIssues(compareWithBaseline({ baseline: null, runs: [run(many)] }), {
      maxLines: 34,
    });
    expect(text.split('\n')).toHaveLength(34);
    expect(text).not.toMatch(/and \d+ more/);
  });

  it('are none for what is missing, which is told aside', () => {
    const comparison = compareWithBaseline({ baseline: createBaseline([run([broken])]), runs: [run([])] });
    expect(renderNewIssues(comparison, { maxLines: 5 })).toBe('');
    expect(renderAsides(comparison)).toEqual(['1 issue of the baseline not seen now']);
  });
});
