import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextTime, parseCron } from '../../src/domain/schedule/cron.ts';
import { countTimes, parseWhen } from '../../src/domain/schedule/when.ts';
import { assertZone, wallTime } from '../../src/domain/schedule/zone.ts';

const at = (text: string) => Date.parse(text);
const next = (cron: string, after: string, zone = 'UTC') => {
  const found = nextTime(parseCron(cron), at(after), zone);
  return found === null ? null : new Date(found).toISOString().replace(':00.000Z', 'Z');
};

describe('a cron expression', () => {
  it.each([
    ['* * * * *', '2027-01-01T10:00:30Z', '2027-01-01T10:01Z'],
    ['*/15 * * * *', '2027-01-01T10:45Z', '2027-01-01T11:00Z'],
    ['5/20 9 * * *', '2027-01-01T09:05Z', '2027-01-01T09:25Z'],
    ['0 22 * * mon-fri', '2027-01-01T22:00Z', '2027-01-04T22:00Z'],
    ['0 0 * * 7', '2027-01-01T00:00Z', '2027-01-03T00:00Z'],
    ['30 6 1,15 * *', '2027-01-01T06:30Z', '2027-01-15T06:30Z'],
    ['0 0 29 feb *', '2027-01-01T00:00Z', '2028-02-29T00:00Z'],
    ['0 0 13 * fri', '2027-01-01T00:00Z', '2027-01-08T00:00Z'],
    ['0 0 30 2 *', '2027-01-01T00:00Z', null],
    ['@weekly', '2027-01-01T00:00Z', '2027-01-03T00:00Z'],
  ])('%s after %s', (cron, after, expected) => expect(next(cron, after)).toBe(expected));

  it.each(['', '* * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8', '5-1 * * * *'])(
    'refuses "%s"',
    (text) => expect(() => parseCron(text)).toThrow(/cron expression/),
  );
  it.each(['*/0 * * * *', 'a * * * *', '*-5 * * * *', '1,,2 * * * *', '* * * * mon,', '-1 * * * *'])(
    'refuses "%s"',
    (text) => expect(() => parseCron(text)).toThrow(/cron expression/),
  );

  it('means the clocks of its zone', () => {
    expect(next('0 22 * * *', '2027-01-01T00:00Z', 'Europe/Berlin')).toBe('2027-01-01T21:00Z');
    expect(next('0 22 * * *', '2027-07-01T00:00Z', 'Europe/Berlin')).toBe('2027-07-01T20:00Z');
    expect(next('0 8 * * *', '2027-01-01T00:00Z', 'Asia/Kolkata')).toBe('2027-01-01T02:30Z');
  });

  it('makes up for a time that clocks leave out, and counts one once that they show twice', () => {
    // In Berlin 02:30 is left out on 2027-03-28, and shown twice on 2027-10-31.
    expect(next('30 2 * * *', '2027-03-27T12:00Z', 'Europe/Berlin')).toBe('2027-03-28T01:30Z');
    expect(next('30 2 * * *', '2027-03-28T01:30Z', 'Europe/Berlin')).toBe('2027-03-29T00:30Z');
    expect(next('30 2 * * *', '2027-10-30T12:00Z', 'Europe/Berlin')).toBe('2027-10-31T00:30Z');
    expect(next('30 2 * * *', '2027-10-31T00:30Z', 'Europe/Berlin')).toBe('2027-11-01T01:30Z');
  });

  it('follows the time that passes, where it is of every hour', () => {
    expect(next('30 * * * *', '2027-10-31T00:30Z', 'Europe/Berlin')).toBe('2027-10-31T01:30Z');
    expect(next('30 * * * *', '2027-03-28T00:30Z', 'Europe/Berlin')).toBe('2027-03-28T01:30Z');
  });

  it('is what a look at every minute would find', () => {
    const field = (min: number, max: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min, max }).map(String),
        fc
          .tuple(fc.integer({ min, max }), fc.integer({ min: 1, max: 9 }))
          .map(([from, by]) => `${from}/${by}`),
        fc
          .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
          .map((p) => p.toSorted((a, b) => a - b).join('-')),
      );
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kolkata',
      'Pacific/Chatham',
    );
    const cases = fc.record({
      minute: field(0, 59),
      hour: field(0, 23),
      day: fc.oneof(fc.constant('*'), field(1, 31)),
      weekday: fc.oneof(fc.constant('*'), field(0, 6)),
      zone: zones,
      // Far from where clocks are set: that has its own tests.
      after: fc.integer({ min: at('2027-06-01T00:00Z'), max: at('2027-07-20T00:00Z') }),
    });
    fc.assert(
      fc.property(cases, ({ minute, hour, day, weekday, zone, after }) => {
        const cron = parseCron(`${minute} ${hour} ${day} * ${weekday}`);
        const found = nextTime(cron, after, zone);
        const [isDayAny, isWeekdayAny] = [day.startsWith('*'), weekday.startsWith('*')];
        const matches = (ms: number): boolean => {
          const wall = wallTime(ms, zone);
          const of = new Date(Date.UTC(wall.year, wall.month - 1, wall.day)).getUTCDay();
          const [isDay, isOf] = [cron.days.has(wall.day), cron.weekdays.has(of)];
          const isDue = !isDayAny && !isWeekdayAny ? isDay || isOf : isDay && isOf;
          return isDue && cron.hours.includes(wall.hour) && cron.minutes.includes(wall.minute);
        };
        let minuteMs = Math.floor(after / 60_000) * 60_000 + 60_000;
        const end = minuteMs + 3 * 86_400_000;
        while (minuteMs < end && !matches(minuteMs)) minuteMs += 60_000;
        if (minuteMs < end) expect(found).toBe(minuteMs);
        else expect(found === null || found >= end).toBe(true);
      }),
      { numRuns: 40 },
    );
  }, 30_000);
});

describe('when', () => {
  const nowMs = at('2027-01-01T12:00:00Z');
  const when = (text: string, zone = 'UTC') => {
    const { isRepeated, firstMs } = parseWhen(text, { nowMs, zone });
    return [isRepeated, new Date(firstMs).toISOString()];
  };

  it('is a length of time, a time of the day, a day, or a cron expression', () => {
    expect(when('in 2h')).toEqual([false, '2027-01-01T14:00:00.000Z']);
    expect(when('in 1h30m')).toEqual([false, '2027-01-01T13:30:00.000Z']);
    expect(when('at 22:00')).toEqual([false, '2027-01-01T22:00:00.000Z']);
    expect(when('at 9:05')).toEqual([false, '2027-01-02T09:05:00.000Z']);
    expect(when('at 22:00', 'Asia/Tokyo')).toEqual([false, '2027-01-01T13:00:00.000Z']);
    expect(when('at 2027-01-31 22:00')).toEqual([false, '2027-01-31T22:00:00.000Z']);
    expect(when('0 22 * * *')).toEqual([true, '2027-01-01T22:00:00.000Z']);
  });

  it.each(['in', 'in 2 fortnights', 'at 25:00', 'at 2027-02-30 10:00', 'at 2026-01-01 10:00', 'soon'])(
    'refuses "%s"',
    (text) => expect(() => when(text)).toThrow(expect.objectContaining({ code: 'invalid_input' })),
  );

  it('counts what was missed, and no more than a hundred', () => {
    const zone = 'UTC';
    expect(countTimes('0 * * * *', { fromMs: nowMs, toMs: nowMs + 3 * 3_600_000, zone })).toBe(3);
    expect(countTimes('* * * * *', { fromMs: nowMs, toMs: nowMs + 30 * 86_400_000, zone })).toBe(100);
  });

  it('refuses a zone that nobody knows', () => {
    expect(() => assertZone('Mars/Olympus')).toThrow(/no time zone/);
    assertZone('Europe/Berlin');
  });
});
