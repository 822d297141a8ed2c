/** Wall clock times in a named time zone, or in the zone of this machine. */

export interface ClockTime {
  hour: number;
  minute: number;
  /** As in `Europe/Rome`; absent: this machine's. */
  zone?: string;
}

export interface ZonedTime extends ClockTime {
  year: number;
  /** 0 is January. */
  month: number;
  day: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * When that clock next shows the time. If it shows it now, the end of this minute. `null` for an unknown zone.
 */
export function nextClockTime({ hour, minute, zone }: ClockTime, nowMs: number): number | null {
  const days = [-1, 0, 1, 2].map((days) => nowMs + days * DAY_MS);
  const found = days.map((ms) => {
    const day = wallClock(ms, zone);
    return day && zonedTime({ ...day, hour, minute, zone });
  });
  const next = found.filter((ms) => ms !== null).find((ms) => ms > nowMs - MINUTE_MS);
  if (next === undefined) return null;
  return next > nowMs ? next : next + MINUTE_MS;
}

/** `null` for an unknown zone or an impossible date. */
export function zonedTime({ year, month, day, hour, minute, zone }: ZonedTime): number | null {
  const asUtc = Date.UTC(year, month, day, hour, minute);
  if (new Date(asUtc).getUTCDate() !== day) return null;
  let ms = asUtc;
  // The offset can differ between the guess and the result, when clocks change in between: a second pass corrects it.
  for (const _ of [1, 2]) {
    const wall = wallClock(ms, zone);
    if (wall === null) return null;
    ms += asUtc - Date.UTC(wall.year, wall.month, wall.day, wall.hour, wall.minute);
  }
  return ms;
}

function wallClock(ms: number, zone: string | undefined): Omit<ZonedTime, 'zone'> | null {
  const date = new Date(ms);
  if (zone === undefined) {
    return {
      ...{ year: date.getFullYear(), month: date.getMonth(), day: date.getDate() },
      ...{ hour: date.getHours(), minute: date.getMinutes() },
    };
  }
  const format = formatOf(zone);
  if (format === null) return null;
  const part = Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, Number(value)]));
  return {
    ...{ year: part.year!, month: part.month! - 1, day: part.day! },
    ...{ hour: part.hour!, minute: part.minute! },
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, hourCycle: 'h23', calendar: 'gregory', numberingSystem: 'latn' },
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
    });
  } catch {
    return null; // no zone of that name: RangeError
  }
}
