/** Wall-clock time in a time zone, by the tables that the runtime has. */
import { PulseError } from '../errors.ts';

export interface WallTime {
  year: number;
  /** From 1. */
  month: number;
  day: number;
  hour: number;
  minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const fields = {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  } as const;
  const made = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    ...{ timeZone: zone, hourCycle: 'h23', ...fields, second: 'numeric' },
  });
  formats.set(zone, made);
  return made;
}

/** The zone of this machine. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Throws `invalid_input` for a name that is no time zone. */
export function assertZone(zone: string): void {
  try {
    formatOf(zone);
  } catch (cause) {
    throw new PulseError('invalid_input', `"${zone}" is no time zone.`, {
      hint: 'Such as Europe/Berlin, America/New_York or UTC.',
      cause,
    });
  }
}

export function wallTime(atMs: number, zone: string): WallTime {
  const { year, month, day, hour, minute } = partsOf(atMs, zone);
  return { year, month, day, hour, minute };
}

function partsOf(atMs: number, zone: string): WallTime & { second: number } {
  const found = Object.fromEntries(
    formatOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  return found as unknown as WallTime & { second: number };
}

/** How far its clocks are ahead of UTC at that moment. */
function offsetMs(atMs: number, zone: string): number {
  const whole = Math.floor(atMs / 1000) * 1000;
  const { year, month, day, hour, minute, second } = partsOf(whole, zone);
  return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
}

const DAY_MS = 86_400_000;

/** Of a day on which no clock is set: what its times have to be moved by; `null` where one is, or is near. */
export function steadyOffset({ year, month, day }: Pick<WallTime, 'year' | 'month' | 'day'>, zone: string) {
  const asUtc = Date.UTC(year, month - 1, day);
  const [before, after] = [offsetMs(asUtc - DAY_MS, zone), offsetMs(asUtc + 2 * DAY_MS, zone)];
  return before === after ? before : null;
}

export interface Moments {
  /** When its clocks show that time: once, or twice where they are set back. Of a time that is left out: none. */
  shown: number[];
  /** Of a time that is left out: as far after the jump as it would have been after its beginning. */
  instead: number;
}

export function momentsOf({ year, month, day, hour, minute }: WallTime, zone: string): Moments {
  const asUtc = Date.UTC(year, month - 1, day, hour, minute);
  const [before, after] = [offsetMs(asUtc - DAY_MS, zone), offsetMs(asUtc + DAY_MS, zone)];
  const candidates = [...new Set([asUtc - before, asUtc - after])];
  const shown = candidates.filter((atMs) => atMs + offsetMs(atMs, zone) === asUtc).toSorted((a, b) => a - b);
  return { shown, instead: asUtc - before };
}
