/** Results that version 0.1 wrote are read as those of today: attempts may be in hand when Pulse is updated. */
import { describe, expect, it } from 'vitest';
import { NOTHING_MEASURED } from '../../src/loops/research/measure/measure.ts';
import { readMeasured } from '../../src/loops/research/work-data.ts';
import { readPreflightReport, readRun } from '../../src/loops/workflow/work-data.ts';
import { readResult, shortenResult } from '../../src/store/attempt-result.ts';
import { attemptResult, runReport } from './rows.ts';

const COMPLETION = {
  summary: 'feat: x',
  filesChanged: ['x'],
  unresolvedIssues: [],
  tree: 'tree',
  leftOut: ['y'],
};
const EXTENSION = { reason: 'long', completed: [], remaining: ['more'] };

describe('a result of version 0.1', () => {
  it('of a pulse has its completion where the workflow looks, and its tree where the engine looks', () => {
    const old = attemptResult({ run: { ...runReport({}), completion: COMPLETION, calls: [] } as never });
    const result = readResult(JSON.stringify(old));
    expect(result.run?.accepted).toEqual({ tree: 'tree', leftOut: ['y'] });
    expect(readRun(result)).toEqual({ completion: COMPLETION, calls: [] });
  });

  it('of a pulse that asked for more has its extension', () => {
    const old = attemptResult({ run: { ...runReport({}), extension: EXTENSION } as never });
    expect(readRun(readResult(JSON.stringify(old))).extension).toEqual(EXTENSION);
  });

  it('of an experiment has what was measured, and how long that took', () => {
    const measured = { ...NOTHING_MEASURED, durationMs: 7 };
    const result = readResult(JSON.stringify({ ...attemptResult(), measured }));
    expect([readMeasured(result), result.ownMs]).toEqual([measured, 7]);
  });

  it('of a preflight has its report', () => {
    const preflight = {
      error: null,
      summary: '',
      setupCommands: [],
      buildSuccess: true,
      baseline: [],
      artifacts: ['a'],
    };
    const result = readResult(JSON.stringify({ ...attemptResult(), preflight }));
    expect(readPreflightReport(result)).toEqual(preflight);
  });
});

describe('a settled result', () => {
  it('keeps only what its loop asks to keep of the report', () => {
    const run = { ...runReport({ finalMessage: 'long' }), own: { extension: EXTENSION, calls: [1] } };
    const short = shortenResult(attemptResult({ run, own: { big: true } }), { extension: EXTENSION });
    expect([short.run?.own, short.own, short.run?.finalMessage]).toEqual([
      { extension: EXTENSION },
      undefined,
      '',
    ]);
  });
});
