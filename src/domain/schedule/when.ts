/** When something is to happen: a cron expression, "in 2h", "at 22:00". */
import { parseDuration } from '../durations.ts';
import { PulseError } from '../errors.ts';
import { nextTime, parseCron } from './cron.ts';
import { momentsOf, wallTime } from './zone.ts';

export interface When {
  /** It happens again and again. */
  isRepeated: boolean;
  /** For the first time. */
  firstMs: number;
}

const DAY_MS = 86_400_000;

/** Throws `invalid_input` for what is no time, or never comes. */
export function parseWhen(text: string, { nowMs, zone }: { nowMs: number; zone: string }): When {
  const words = text.trim();
  const after = /^in\s+(.+)$/i.exec(words)?.[1];
  if (after !== undefined) return { isRepeated: false, firstMs: nowMs + durationOf(after) };
  const at = /^at\s+(?:(\d{4})-(\d\d)-(\d\d)[ T])?(\d{1,2}):(\d\d)$/i.exec(words);
  if (at) return { isRepeated: false, firstMs: momentAt(at, { nowMs, zone, text: words }) };
  if (/^(?:in|at)\b/i.test(words)) throw noTime(words);
  const firstMs = nextTime(parseCron(words), nowMs, zone);
  if (firstMs === null) throw new PulseError('invalid_input', `"${words}" never comes.`);
  return { isRepeated: true, firstMs };
}

/** The next time of a repeated one. */
export function timeAfter(text: string, afterMs: number, zone: string): number | null {
  return nextTime(parseCron(text), afterMs, zone);
}

/** How many times of a repeated one lie between, the later one included; no more than a hundred are counted. */
export function countTimes(
  text: string,
  { fromMs, toMs, zone }: { fromMs: number; toMs: number; zone: string },
) {
  const cron = parseCron(text);
  let count = 0;
  for (let at = nextTime(cron, fromMs, zone); at !== null && at <= toMs && count < 100; count++)
    at = nextTime(cron, at, zone);
  return count;
}

function durationOf(text: string): number {
  try {
    return parseDuration(text);
  } catch (cause) {
    throw new PulseError('invalid_input', `"in ${text}" is no time: ${(cause as Error).message}`, { cause });
  }
}

function momentAt(
  [, year, month, day, hour, minute]: RegExpExecArray,
  { nowMs, zone, text }: { nowMs: number; zone: string; text: string },
): number {
  const time = { hour: Number(hour), minute: Number(minute) };
  if (time.hour > 23 || time.minute > 59) throw noTime(text);
  const first = (date: { year: number; month: number; day: number }): number => {
    const { shown, instead } = momentsOf({ ...date, ...time }, zone);
    return shown[0] ?? instead;
  };
  if (year !== undefined) {
    const date = { year: Number(year), month: Number(month), day: Number(day) };
    const real = new Date(Date.UTC(date.year, date.month - 1, date.day));
    if (real.getUTCMonth() + 1 !== date.month || real.getUTCDate() !== date.day) throw noTime(text);
    const atMs = first(date);
    if (atMs > nowMs) return atMs;
    throw new PulseError('invalid_input', `"${text}" is over.`);
  }
  const today = wallTime(nowMs, zone);
  const atMs = first(today);
  return atMs > nowMs
    ? atMs
    : first(wallTime(Date.UTC(today.year, today.month - 1, today.day) + DAY_MS, 'UTC'));
}

function noTime(text: string): PulseError {
  return new PulseError('invalid_input', `"${text}" is no time.`, {
    hint: 'A cron expression ("0 22 * * mon-fri"), "in 2h", "at 22:00" or "at 2027-01-31 22:00".',
  });
}
