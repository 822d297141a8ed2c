/** Why a codex turn failed. codex says so only in prose. Only its own words are read, never a model's or a tool's. */
import type { FailureClass } from '../../domain/failures.ts';
import { failureOfStatus, serverErrorIn } from '../shared/http-failure.ts';
import { readLimit } from '../shared/limit-words.ts';

const USAGE_LIMIT = /^You.ve (?:hit|reached) your usage limit/;
const OVERFLOW = /^Codex ran out of room in the model's context window/;
const OVERLOADED = /^We.re currently experiencing high demand|^Selected model is at capacity/;
const NO_ACCESS = /^Missing environment variable|^Quota exceeded|^Your access token could not be refreshed/;
const NETWORK =
  /^(?:stream disconnected before completion|Connection failed|error sending request|request timed out)|waiting for network/;

export function failureOfMessage(message: string): FailureClass {
  if (USAGE_LIMIT.test(message)) return 'usage_limit';
  if (OVERFLOW.test(message) || serverErrorIn(message).code === 'context_length_exceeded')
    return 'context_overflow';
  if (NO_ACCESS.test(message)) return 'auth';
  if (OVERLOADED.test(message)) return 'overloaded';
  return failureOfStatus(statusOf(message)) ?? (NETWORK.test(message) ? 'network' : 'crashed');
}

/** The HTTP status in a notice of codex. */
export function statusOf(message: string): number | undefined {
  const status = /(?:^|\()(?:unexpected status|exceeded retry limit, last status:) (\d{3})\b/.exec(
    message,
  )?.[1];
  return status === undefined ? undefined : Number(status);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const RESET =
  /\b[Tt]ry again at (?:([A-Z][a-z]{2})[a-z]* (\d{1,2})(?:st|nd|rd|th)?, (\d{4}),? (?:at )?)?(\d{1,2}):(\d{2}) ([AP]M)/;

/**
 * When the limit ends. codex names the minute in local time, and the day if it is not today; older versions say how long
 * to wait. The minute after is taken, so that a retry does not come too early.
 */
export function resetTimeOf(message: string, nowMs: number): string | null {
  const [, month, day, year, hour, minute, half] = RESET.exec(message) ?? [];
  if (hour === undefined || minute === undefined) return readLimit(message, nowMs)?.resetAt ?? null;
  const hours = (Number(hour) % 12) + (half === 'PM' ? 12 : 0);
  const date = new Date(nowMs);
  if (month !== undefined) date.setFullYear(Number(year), MONTHS.indexOf(month.toLowerCase()), Number(day));
  date.setHours(hours, Number(minute) + 1, 0, 0);
  if (month === undefined && date.getTime() < nowMs) date.setDate(date.getDate() + 1);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
