import { describe, expect, it } from 'vitest';
import {
  CRASH_KINDS,
  CRASH_POLICIES,
  type CrashKind,
  type CrashSigns,
  crashKind,
  mayFix,
} from '../../src/loops/research/measure/crash.ts';
import { readMetric } from '../../src/loops/research/measure/metric.ts';
import { timeLimitMs } from '../../src/loops/research/measure/time-limit.ts';

describe('the metric', () => {
  it.each<[string, number]>([
    ['warming up\n12.5\n', 12.5],
    ['12.5', 12.5],
    ['  -3e-2  \r\n\n', -0.03],
    ['1\n.5', 0.5],
    ['+7', 7],
  ])('is the last line of %j', (output, value) => {
    expect(readMetric(output, null)).toEqual({ kind: 'number', value });
  });

  it.each(['', 'done', '12.5 ms', '1,000', '0x10', 'NaN', 'Infinity', '1e999', '--1', '1 2', '5\nbye'])(
    'is not a number in %j',
    (output) => {
      expect(readMetric(output, null).kind).toBe('no_number');
    },
  );

  it('is the first group of a pattern, or all that it matches', () => {
    expect(readMetric('x\nval_bpb: 0.98 (best)\n', '^val_bpb: (\\S+)')).toEqual({
      kind: 'number',
      value: 0.98,
    });
    expect(readMetric('took 42 ms', '\\d+')).toEqual({ kind: 'number', value: 42 });
    expect(readMetric('took 4x2 ms', 'took (\\S+)')).toEqual({ kind: 'no_number', text: '4x2' });
  });

  it('counts only when the pattern matches exactly once', () => {
    expect(readMetric('score: 1\nscore: 99\n', 'score: (\\d+)')).toEqual({ kind: 'not_once', matches: 2 });
    expect(readMetric('nothing', 'score: (\\d+)')).toEqual({ kind: 'not_once', matches: 0 });
  });
});

describe('the time limit', () => {
  it('is the first one until a good run is known', () => {
    expect(timeLimitMs([], 600_000)).toBe(600_000);
  });

  it('is twice the median, with five seconds of slack at least', () => {
    expect(timeLimitMs([1000, 1200, 90_000], 600_000)).toBe(6200);
    expect(timeLimitMs([20_000, 22_000], 600_000)).toBe(42_000);
  });
});

describe('a crash', () => {
  const signs = (given: Partial<CrashSigns>): CrashSigns => ({
    exit: 1,
    signal: null,
    isOverTime: false,
    outputTail: '',
    ...given,
  });

  it.each<[CrashKind | null, Partial<CrashSigns>]>([
    [null, { exit: 0 }],
    [null, { exit: 0, outputTail: 'SyntaxError was handled' }],
    ['hang', { isOverTime: true, exit: null, signal: 'SIGKILL' }],
    ['oom', { exit: null, signal: 'SIGKILL' }],
    ['oom', { exit: 137 }],
    ['oom', { isOutOfMemory: true }],
    ['oom', { exit: 134, outputTail: 'FATAL ERROR: Reached heap limit - JavaScript heap out of memory\n' }],
    ['oom', { outputTail: 'Traceback\nMemoryError\n' }],
    ['syntax', { outputTail: 'a.js:3\n  let x = ;\nSyntaxError: Unexpected token\n    at wrap (node:vm)\n' }],
    ['syntax', { outputTail: 'a.py\nIndentationError: unexpected indent' }],
    ['syntax', { outputTail: 'src/a.ts(3,1): error TS1005: expected' }],
    ['syntax', { outputTail: 'error[E0308]: mismatched types' }],
    ['external', { outputTail: 'Error: connect ECONNREFUSED 127.0.0.1:5432' }],
    ['external', { outputTail: 'write: No space left on device' }],
    ['external', { exit: 127, outputTail: 'sh: 1: hyperfine: not found' }],
    ['runtime', { outputTail: 'TypeError: x is not a function' }],
    ['runtime', { exit: null, signal: 'SIGSEGV' }],
    ['runtime', {}],
  ])('is %s by %j', (kind, given) => {
    expect(crashKind(signs(given))).toBe(kind);
  });

  it('is told by the last telling line', () => {
    const outputTail = 'warn: ECONNREFUSED, going on without\nSyntaxError: Unexpected end of input\n';
    expect(crashKind(signs({ outputTail }))).toBe('syntax');
  });

  it('gets three fixes for runtime, ten more for syntax, none for the others', () => {
    const repeat = (kind: CrashKind, count: number): CrashKind[] => Array(count).fill(kind);
    expect(mayFix([])).toBe(false);
    expect(mayFix(repeat('runtime', 3))).toBe(true);
    expect(mayFix(repeat('runtime', 4))).toBe(false);
    expect(mayFix([...repeat('syntax', 10), ...repeat('runtime', 3)])).toBe(true);
    expect(mayFix([...repeat('runtime', 3), ...repeat('syntax', 10)])).toBe(true);
    expect(mayFix(repeat('syntax', 11))).toBe(false);
    for (const kind of ['oom', 'hang', 'external'] as const) expect(mayFix([kind])).toBe(false);
  });

  it('bans the idea only when it hangs', () => {
    expect(CRASH_KINDS.filter((kind) => CRASH_POLICIES[kind].isBanned)).toEqual(['hang']);
    expect(CRASH_POLICIES.oom.advice).toContain('smaller');
  });
});
