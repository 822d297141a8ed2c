/** Why a gemini run failed: from its exit code, from what it says of a refusal, from the kind of error that it logs. */
import type { FailureClass } from '../../domain/failures.ts';
import { failureOfStatus, serverErrorIn } from '../shared/http-failure.ts';
import { isShort, readLimit, type UsageLimit } from '../shared/limit-words.ts';

/** gemini exits with the HTTP status of the refusal. An exit code is that number modulo 256. */
const LOWEST_STATUS_CODE = 400 - 256;
const NO_LOGIN_CODE = 41;

const OVERFLOW = /^The input token count \(\d+\) exceeds the maximum number of tokens/;
const NETWORK = /^\[API Error: (?:exception )?(?:TypeError: )?(?:fetch failed|terminated)/;

export interface GeminiRefusal {
  /** `error.message` of the result; null if there is none. */
  message: string | null;
  /** Whether the log says that a quota is used up, and not only for a minute. */
  isQuota: boolean;
  /** The exit code; null if it is not known yet, or there is none. */
  code: number | null;
  nowMs: number;
}

/** A quota for a day or for hours. A quota per minute is an ordinary rate limit. */
export function geminiLimit(message: string | null, nowMs: number): UsageLimit | null {
  const said = message ?? '';
  const told = readLimit(said, nowMs) ?? readLimit(serverRefusal(said)?.message ?? '', nowMs);
  return told && !isShort(told, nowMs) ? told : null;
}

export function geminiFailure({ message, isQuota, code, nowMs }: GeminiRefusal): FailureClass {
  if (code === NO_LOGIN_CODE) return 'auth';
  const said = message ?? '';
  if (isQuota || geminiLimit(message, nowMs)) return 'usage_limit';
  const refusal = serverRefusal(said);
  if (OVERFLOW.test(refusal?.message ?? '')) return 'context_overflow';
  const status = refusal?.code ?? (code !== null && code >= LOWEST_STATUS_CODE ? code + 256 : null);
  return failureOfStatus(status) ?? (NETWORK.test(said) ? 'network' : 'crashed');
}

/** The server's own error, if gemini passes it on. */
function serverRefusal(said: string): { code: number | null; message: string } | null {
  // Some versions pass on a list of one.
  const body = /^\[API Error: \[?(\{[\s\S]*\})\s*\]?\]/.exec(said)?.[1];
  if (body === undefined) return null;
  const { code, message } = serverErrorIn(body);
  return {
    code: typeof code === 'number' ? code : null,
    message: typeof message === 'string' ? message : '',
  };
}
