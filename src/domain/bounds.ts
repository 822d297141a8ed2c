/** How large a figure may be that comes from outside: sums of such figures stay numbers that can be told exactly. */
import { PulseError } from './errors.ts';

/** One report of one run. No model reads or writes as much at once. */
export const MOST_REPORTED_TOKENS = 1_000_000_000;
export const MOST_REPORTED_USD = 1_000_000;

/** Of a run as a whole: its agent may print any number. */
const MOST_TOKENS_OF_RUN = 1_000_000_000_000;
const MOST_USD_OF_RUN = 1_000_000_000;

export const MOST_ITERATIONS = 1_000_000;
export const MOST_DURATION_MS = 10 * 365 * 86_400_000;
export const MOST_BUDGET_TOKENS = 999_999_999_999_999;

/** The largest sum that is stored: beyond it a number is not exact. */
export const MOST_TOKENS = Number.MAX_SAFE_INTEGER;

/** The command line takes any number of digits. Throws `invalid_input`. Research counts its baseline as one more. */
export function checkLimits(limits: { maxIterations?: number; budgetTokens?: number }): void {
  const { maxIterations = 1, budgetTokens = 1 } = limits;
  if (maxIterations > MOST_ITERATIONS + 1) throw tooMuch('iterations', MOST_ITERATIONS);
  if (budgetTokens > MOST_BUDGET_TOKENS) throw tooMuch('tokens', MOST_BUDGET_TOKENS);
}

function tooMuch(what: string, most: number): PulseError {
  return new PulseError('invalid_input', `A session has at most ${most} ${what}.`, {
    hint: 'Choose a lower limit.',
  });
}

/** A whole number of tokens; one that is none counts nothing, one that is too large as much as a run can have. */
export function boundedTokens(told: number): number {
  if (Number.isNaN(told)) return 0;
  return Math.min(Math.max(0, Math.round(told)), MOST_TOKENS_OF_RUN);
}

/** `null`: not known. What is too large stays large, so that a budget binds. */
export function boundedUsd(told: number | null): number | null {
  if (told === null || Number.isNaN(told)) return null;
  return Math.min(Math.max(0, told), MOST_USD_OF_RUN);
}

export function addTokens(one: number, other: number): number {
  return Math.min(one + other, MOST_TOKENS);
}
