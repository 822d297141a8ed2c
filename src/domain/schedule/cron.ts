/** Five-field cron expressions: `minute hour day month weekday`, with names, ranges, steps and lists. */
import { PulseError } from '../errors.ts';
import { momentsOf, steadyOffset, type WallTime, wallTime } from './zone.ts';

export interface Cron {
  minutes: readonly number[];
  hours: readonly number[];
  days: ReadonlySet<number>;
  months: ReadonlySet<number>;
  /** 0 is Sunday. */
  weekdays: ReadonlySet<number>;
  /** Both are restricted: a day that is of either belongs to it. */
  isEitherDay: boolean;
  /** Any hour: it follows the time that passes, also where clocks are set back. */
  isEveryHour: boolean;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const NICKNAMES: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@hourly': '0 * * * *',
};

interface FieldRule {
  what: string;
  min: number;
  max: number;
  names?: readonly string[];
}

/** Throws `invalid_input`, naming the field. */
export function parseCron(text: string): Cron {
  const fields = (NICKNAMES[text.trim().toLowerCase()] ?? text).trim().split(/\s+/);
  if (fields.length !== 5) {
    throw new PulseError('invalid_input', `"${text}" is no cron expression: it needs five fields.`, {
      hint: 'minute hour day month weekday, such as "0 22 * * mon-fri".',
    });
  }
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string];
  const weekdays = readField(weekday, { what: 'weekday', min: 0, max: 7, names: WEEKDAYS }).map((n) => n % 7);
  return {
    minutes: readField(minute, { what: 'minute', min: 0, max: 59 }),
    hours: readField(hour, { what: 'hour', min: 0, max: 23 }),
    days: new Set(readField(day, { what: 'day', min: 1, max: 31 })),
    months: new Set(readField(month, { what: 'month', min: 1, max: 12, names: MONTHS })),
    weekdays: new Set(weekdays),
    isEitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
    isEveryHour: hour.startsWith('*'),
  };
}

/** Sorted, each once. */
function readField(text: string, rule: FieldRule): number[] {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(\*|[a-z\d]+)(?:-([a-z\d]+))?(?:\/(\d{1,3}))?$/i.exec(part);
    if (!match) throw wrong(part, rule);
    const [, first = '', last, step] = match;
    if (first === '*' && last !== undefined) throw wrong(part, rule);
    const from = first === '*' ? rule.min : readValue(first, rule);
    // "5/10" is from 5 on, as "*/10" is from the beginning.
    const to = last === undefined ? (first === '*' || step ? rule.max : from) : readValue(last, rule);
    const by = step === undefined ? 1 : Number(step);
    if (to < from || by === 0) throw wrong(part, rule);
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return [...values].toSorted((a, b) => a - b);
}

function readValue(text: string, rule: FieldRule): number {
  const named = rule.names?.indexOf(text.toLowerCase()) ?? -1;
  const value = named >= 0 ? named + (rule.min === 1 ? 1 : 0) : /^\d{1,2}$/.test(text) ? Number(text) : -1;
  if (value < rule.min || value > rule.max) throw wrong(text, rule);
  return value;
}

function wrong(part: string, { what, min, max }: FieldRule): PulseError {
  return new PulseError('invalid_input', `"${part}" is no ${what} of a cron expression.`, {
    hint: `A ${what} is ${min} to ${max}: a number, a range, a list, or */step.`,
  });
}

/** A 29th of February may be eight years away. */
const DAYS_AHEAD = 8 * 366 + 2;

/** The first moment after that one; `null`: there is none, such as on a 30th of February. */
export function nextTime(cron: Cron, afterMs: number, zone: string): number | null {
  const today = wallTime(afterMs, zone);
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    const date = new Date(Date.UTC(today.year, today.month - 1, today.day + ahead));
    const day = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
    if (!isDue(cron, { ...day, weekday: date.getUTCDay() })) continue;
    const found = firstOfDay(cron, { day, afterMs, zone });
    if (found !== null) return found;
  }
  return null;
}

function isDue(
  { days, months, weekdays, isEitherDay }: Cron,
  { month, day, weekday }: { month: number; day: number; weekday: number },
): boolean {
  if (!months.has(month)) return false;
  const [isDay, isWeekday] = [days.has(day), weekdays.has(weekday)];
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday;
}

interface DayAsked {
  day: Pick<WallTime, 'year' | 'month' | 'day'>;
  afterMs: number;
  zone: string;
}

/** A time that clocks leave out is made up for after the jump; one that they show twice counts once. */
function firstOfDay(cron: Cron, { day, afterMs, zone }: DayAsked): number | null {
  const offset = steadyOffset(day, zone);
  let found: number | null = null;
  for (const hour of cron.hours) {
    for (const minute of cron.minutes) {
      if (offset !== null) {
        const atMs = Date.UTC(day.year, day.month - 1, day.day, hour, minute) - offset;
        if (atMs > afterMs) return atMs;
        continue;
      }
      const { shown, instead } = momentsOf({ ...day, hour, minute }, zone);
      const moments = cron.isEveryHour ? shown : [shown[0] ?? instead];
      for (const atMs of moments) if (atMs > afterMs && (found === null || atMs < found)) found = atMs;
    }
  }
  return found;
}
