/** Times as a person reads them: by the clock on their wall, which is this machine's. */
import { formatDuration } from '../domain/durations.ts';

/** `14:05:09`, with the date where it is not today's. */
export function localTime(at: string, nowMs: number = Date.now()): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  const isToday = localDay(time) === localDay(new Date(nowMs));
  return isToday ? localClock(at) : `${localDay(time)} ${localClock(at)}`;
}

/** `14:05:09`, without the day. */
export function localClock(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
}

/** How long ago, in one or two words. */
export function ago(ms: number): string {
  if (ms < 60_000) return 'now';
  if (ms < 86_400_000) return formatDuration(ms).replace(/ \d+s$/, '');
  return `${Math.floor(ms / 86_400_000)}d`;
}

function localDay(time: Date): string {
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
