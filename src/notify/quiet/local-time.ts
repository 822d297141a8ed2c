/** Times of the day where somebody lives. Pure. */

const MINUTE_MS = 60_000;
const DAY = 24 * 60;

/** Minutes since midnight. Throws for a zone that nobody knows. */
export function minuteOfDay(atMs: number, zone: string): number {
  const parts = clockOf(zone).formatToParts(atMs);
  const read = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  return read('hour') * 60 + read('minute');
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Making one costs more than asking it a hundred times. */
function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' as const },
  });
  clocks.set(zone, made);
  return made;
}

/** `07:30` as minutes since midnight. */
export function parseTimeOfDay(text: string): number {
  const [hour, minute] = text.split(':').map(Number);
  return hour! * 60 + minute!;
}

/**
 * When the clock there next shows this time, after `fromMs`. On the day on which the clock is set forward over it: the
 * moment at which it would have been.
 */
export function nextTimeOfDay(fromMs: number, minute: number, zone: string): number {
  const thisMinuteMs = Math.floor(fromMs / MINUTE_MS) * MINUTE_MS;
  const aheadOf = (ms: number): number => (minute - minuteOfDay(ms, zone) + DAY) % DAY;
  const ahead = aheadOf(thisMinuteMs) || DAY;
  const at = thisMinuteMs + ahead * MINUTE_MS;
  // Between now and then the clock there may be set to summer time, or back from it.
  const off = aheadOf(at);
  if (off === 0) return at;
  const mended = at + (off > DAY / 2 ? off - DAY : off) * MINUTE_MS;
  return mended > fromMs && aheadOf(mended) === 0 ? mended : at;
}
