import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/domain/durations.ts';

describe('parseDuration', () => {
  it.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['250ms', 250],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    [' 5s ', 5_000],
    ['0.4ms1s', 1_000],
  ])('reads %j', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    ' ',
    '5',
    's',
    '5 s',
    '-5s',
    '5S',
    '5sec',
    '1e3s',
    '.5s',
    '5.s',
    '5s!',
    '0s',
    '0.1ms',
    `${'9'.repeat(20)}d`,
  ])('refuses %j as a usage error', (text) => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('reads whatever number of whole units', () => {
    const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])),
        (value, unit) => {
          expect(parseDuration(`${value}${unit}`)).toBe(value * units[unit]);
        },
      ),
    );
  });
});

describe('formatDuration', () => {
  it.each([
    [-5, '0.0s'],
    [0, '0.0s'],
    [449, '0.4s'],
    [9_949, '9.9s'],
    [12_000, '12s'],
    [60_000, '1m 00s'],
    [185_000, '3m 05s'],
    [7_800_000, '2h 10m'],
    [90_000_000, '25h 00m'],
  ])('says %i ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('never says sixty seconds or sixty minutes', () => {
    fc.assert(
      fc.property(fc.nat(400_000_000), (ms) => {
        expect(formatDuration(ms)).not.toMatch(/\b60(s|m)/);
      }),
    );
  });
});
