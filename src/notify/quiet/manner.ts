/** When somebody is told: at once, in the morning, or together with others. Pure. */
import type { NotifySettings } from '../../domain/notify.ts';
import type { Message } from '../texts.ts';
import { minuteOfDay, nextTimeOfDay, parseTimeOfDay } from './local-time.ts';

/** How a route wants to be told; kept with it, so that every process does the same. */
export interface Manner {
  /** `22:00-07:00` */
  quiet?: string;
  /** `07:30` */
  digest?: string;
  rollup?: boolean;
  /** Not when, but what: a finished workflow may be merged from there. */
  merge?: boolean;
  /** A thread of its own for the session. */
  threads?: boolean;
  zone: string;
}

export function mannerOf(
  { quiet, digest, rollup, merge, timezone }: NotifySettings,
  { threads = false } = {},
): Manner | null {
  if (quiet === undefined && !rollup && !merge && !threads) return null;
  const zone = timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return {
    ...(quiet ? { quiet, ...(digest ? { digest } : {}) } : {}),
    ...(rollup ? { rollup } : {}),
    ...(merge ? { merge } : {}),
    ...(threads ? { threads } : {}),
    zone,
  };
}

export type Gathering = 'digest' | 'rollup';

/** `at`: when it is told with the others. */
export type Place = { kind: 'now' } | { kind: Gathering; atMs: number };

export interface Occasion {
  nowMs: number;
  manner: Manner | null;
  weight: Message['weight'];
  /** Whether it is one of the steps (📍) that can be many. */
  isStep: boolean;
  /** When such were told to the same destination lately. */
  stepsToldMs: readonly number[];
}

/** So many steps in this time are told one by one. */
export const STEPS_APART = 5;
export const ROLLUP_MS = 10 * 60 * 1000;

export function placeOf({ nowMs, manner, weight, isStep, stepsToldMs }: Occasion): Place {
  if (manner === null || weight === 'needs') return { kind: 'now' };
  if (isQuiet(nowMs, manner)) return { kind: 'digest', atMs: digestAt(nowMs, manner) };
  if (!manner.rollup || !isStep) return { kind: 'now' };
  const lately = stepsToldMs.filter((ms) => ms > nowMs - ROLLUP_MS && ms <= nowMs).toSorted((a, b) => a - b);
  if (lately.length < STEPS_APART) return { kind: 'now' };
  return { kind: 'rollup', atMs: lately.at(-STEPS_APART)! + ROLLUP_MS };
}

export function isQuiet(nowMs: number, { quiet, zone }: Manner): boolean {
  if (quiet === undefined) return false;
  const [from, to] = boundsOf(quiet);
  const minute = minuteOfDay(nowMs, zone);
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** Never before the quiet hours end: a digest at three in the morning would not be quiet. */
function digestAt(nowMs: number, { quiet = '', digest, zone }: Manner): number {
  const [, to] = boundsOf(quiet);
  const endMs = nextTimeOfDay(nowMs, to, zone);
  const minute = digest === undefined ? to : parseTimeOfDay(digest);
  return minute === to ? endMs : nextTimeOfDay(endMs, minute, zone);
}

function boundsOf(quiet: string): [number, number] {
  const [from = '', to = ''] = quiet.split('-');
  return [parseTimeOfDay(from), parseTimeOfDay(to)];
}
