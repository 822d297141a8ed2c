/**
 * Reads usage limits, and when they end, from the words of a CLI. Only for the text of its own error result: the same
 * words from a model, a file or a tool mean nothing.
 */
import { nextClockTime, zonedTime } from './clock-words.ts';

export interface UsageLimit {
  /** `null`: the text does not say when the limit ends. */
  resetAt: string | null;
}

/** Some CLIs put a refusal in brackets, some put the status before it. */
const WRAPPED = /^\s*(?:✗ |✕ )?(?:\[?API Error: )?(?:Error: )?(?:\d{3} )?/;

/** How these texts begin. Narrow enough that ordinary talk about limits does not match. */
const KNOWN: readonly RegExp[] = [
  // claude
  /^Claude AI usage limit reached/i,
  /^(?:[\w-]{1,20} ){0,4}limit reached(?=\s*(?:[|∙·•.]|$))/i,
  /^You.ve (?:hit|reached) your (?:[\w'’-]{1,20} ){0,4}limit\b/i,
  /^You.re out of (?:extra )?usage\b/i,
  // copilot
  /^Sorry, you.ve (?:hit a rate limit that restricts|exceeded your (?:\w+ ){1,3}(?:limit|usage|quota))/i,
  /^(?:Sorry, )?You have exceeded your (?:[\w-]+ ){1,3}(?:allowance|usage|quota|limit)/i,
  // gemini
  /^You have exhausted your (?:daily quota|capacity on this model)/i,
  // qwen
  /^(?:Qwen OAuth quota exceeded\b|(?:Free|Hour|Week|Month) allocated quota exceeded)/i,
];

/** `null` if the text is not about a usage limit. */
export function readLimit(text: string, nowMs: number): UsageLimit | null {
  const said = text.slice(0, 2_000).replace(WRAPPED, '');
  if (!KNOWN.some((known) => known.test(said))) return null;
  const atMs = resetMs(said, nowMs);
  return { resetAt: atMs === null ? null : dateText(atMs) };
}

/** A pause of seconds or a few minutes is a rate limit, even if the CLI calls it a usage limit. */
export function isShort({ resetAt }: UsageLimit, nowMs: number): boolean {
  return resetAt !== null && Date.parse(resetAt) - nowMs < 5 * 60_000;
}

function resetMs(said: string, nowMs: number): number | null {
  return epochMs(said) ?? durationMs(said, nowMs) ?? clockMs(said, nowMs);
}

/** `…|1762952400`, in seconds; newer versions use milliseconds. */
function epochMs(said: string): number | null {
  const digits = /^[^|\n]{0,80}\|(\d{9,13})\b/.exec(said)?.[1];
  if (digits === undefined) return null;
  return digits.length > 10 ? Number(digits) : Number(digits) * 1000;
}

const UNITS_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const AMOUNT = String.raw`\d{1,6} ?(?:d(?:ays?)?|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\b`;
const AFTER = new RegExp(
  String.raw`\b(?:try again in|resets? (?:in|after)|wait) ~?((?:${AMOUNT}[, ]*(?:and )?){1,4}|(?:\d{1,6}[dhms]){1,4}\b)`,
  'i',
);

/** `try again in 2 days 3 hours`, `reset after 8h44m7s`. One unit is added, because the CLI rounds. */
function durationMs(said: string, nowMs: number): number | null {
  const amounts = AFTER.exec(said)?.[1];
  if (amounts === undefined) return null;
  const parts = [...amounts.matchAll(/(\d+) ?([dhms])/gi)];
  const units = parts.map(([, count, unit]) => ({
    count: Number(count),
    ms: UNITS_MS[unit!.toLowerCase()]!,
  }));
  const finest = Math.min(...units.map(({ ms }) => ms));
  return nowMs + units.reduce((sum, { count, ms }) => sum + count * ms, 0) + (finest > 1_000 ? finest : 0);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const CLOCK =
  /\b(?:resets?|try again)(?: (?:on|at))? (?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?,? (?:at )?)?(\d{1,2})(?::(\d{2}))? ?([ap]m)?(?: \(([\w+/-]{1,40})\))?/i;

/** `resets 3am (UTC)`, `resets Jan 30, 11:30am (Asia/Calcutta)`. Without a zone, this machine's zone. */
function clockMs(said: string, nowMs: number): number | null {
  const [, month, day, year, hour, minute, half, zone] = CLOCK.exec(said) ?? [];
  if (hour === undefined || (half === undefined && minute === undefined)) return null;
  const time = { hour: hourOf(Number(hour), half), minute: Number(minute ?? 0) };
  if (time.hour > 23 || time.minute > 59) return null;
  if (month === undefined || day === undefined) return nextClockTime({ ...time, zone }, nowMs);
  const index = MONTHS.indexOf(month.toLowerCase());
  if (index === -1) return null;
  const on = (inYear: number) => zonedTime({ ...time, zone, year: inYear, month: index, day: Number(day) });
  if (year !== undefined) return on(Number(year));
  const thisYear = new Date(nowMs).getUTCFullYear();
  // A date half a year ago means next year: a limit lasts a month at most.
  const near = [thisYear - 1, thisYear, thisYear + 1].map(on).filter((ms) => ms !== null);
  return near.find((ms) => ms > nowMs - 180 * UNITS_MS.d!) ?? null;
}

function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour;
  return (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
}

function dateText(ms: number): string | null {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
