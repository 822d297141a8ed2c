/** Why a gemini run failed: from its exit code, from what it says of a refusal, from the kind of error that it logs. */
import type { FailureClass } from '../../domain/failures.ts';
import { failureOfStatus, serverErrorIn } from '../shared/http-failure.ts';
import { isShort, readLimit, type ToldLimit } from '../shared/limit-words.ts';

/** gemini exits with the status of the refusal, of which a process can only tell the rest by 256. */
const LOWEST_STATUS_CODE = 400 - 256;
const NO_LOGIN_CODE = 41;

const OVERFLOW = /^The input token count \(\d+\) exceeds the maximum number of tokens/;
const NETWORK = /^\[API Error: (?:exception )?(?:TypeError: )?(?:fetch failed|terminated)/;

export interface GeminiRefusal {
  /** `error.message` of the result; null: there was none. */
  message: string | null;
  /** Whether the log calls the refusal one of a quota that does not come back soon. */
  isQuota: boolean;
  /** The exit code; null before it is known, or where there is none. */
  code: number | null;
  nowMs: number;
}

/** A quota for a day or for hours; one for a minute is a refusal like others. */
export function geminiLimit(message: string | null, nowMs: number): ToldLimit | null {
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

/** What the server wrote, where gemini hands it on as it came. */
function serverRefusal(said: string): { code: number | null; message: string } | null {
  // Some versions hand on a list of one.
  const body = /^\[API Error: \[?(\{[\s\S]*\})\s*\]?\]/.exec(said)?.[1];
  if (body === undefined) return null;
  const { code, message } = serverErrorIn(body);
  return {
    code: typeof code === 'number' ? code : null,
    message: typeof message === 'string' ? message : '',
  };
}
