import type { FailureClass } from '../../domain/failures.ts';
import { failureOfStatus } from '../shared/http-failure.ts';

const NETWORK = /^(?:Connection error|terminated|fetch failed|Request timed out)/;
const NO_LOGIN = /^No API key found|^Authentication failed/;
/** pi says this about every rate limit. Only for an account's usage limit it adds a time. */
const CHATGPT_LIMIT =
  /^You have hit your ChatGPT usage limit(?: \([^)]{0,40}\))?\.(?: Try again in ~(\d{1,6}) min\.)?/;

/** Why a call of pi failed. pi says so in words, after the server's status. No model writes this text. */
export function piFailure(errorMessage: string): FailureClass {
  const known = failureOfStatus(piStatus(errorMessage));
  if (known) return known;
  const limit = CHATGPT_LIMIT.exec(errorMessage);
  if (limit) return limit[1] === undefined ? 'rate_limit' : 'usage_limit';
  if (NO_LOGIN.test(errorMessage)) return 'auth';
  return NETWORK.test(errorMessage) ? 'network' : 'crashed';
}

/** When a usage limit ends. pi rounds to minutes, so one is added: a retry must not come too early. */
export function piReset(errorMessage: string, nowMs: number): string | null {
  const minutes = CHATGPT_LIMIT.exec(errorMessage)?.[1];
  return minutes === undefined ? null : new Date(nowMs + (Number(minutes) + 1) * 60_000).toISOString();
}

export function piStatus(errorMessage: string): number | undefined {
  const status = /^(\d{3})\b/.exec(errorMessage)?.[1];
  return status === undefined ? undefined : Number(status);
}
