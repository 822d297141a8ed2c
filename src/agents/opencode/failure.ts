import type { FailureClass } from '../../domain/failures.ts';
import { failureOfStatus, serverErrorIn } from '../shared/http-failure.ts';
import { readLimit, type UsageLimit } from '../shared/limit-words.ts';
import type { OpencodeError } from './lines.ts';

const BY_NAME: Record<string, FailureClass> = {
  ProviderAuthError: 'auth',
  ContextOverflowError: 'context_overflow',
};

/** Why an opencode run failed, from its own error. */
export function opencodeFailure(error: OpencodeError | null): FailureClass {
  const known = BY_NAME[error?.name ?? ''];
  if (known) return known;
  const { statusCode, responseBody } = error?.data ?? {};
  if (serverErrorIn(responseBody ?? '').code === 'context_length_exceeded') return 'context_overflow';
  if (opencodeLimit(error, 0)) return 'usage_limit';
  return failureOfStatus(statusCode) ?? 'crashed';
}

/** The usage limit in an error: the server's own field, or its words. */
export function opencodeLimit(error: OpencodeError | null, nowMs: number): UsageLimit | null {
  const { message, responseBody } = error?.data ?? {};
  const refused = serverErrorIn(responseBody ?? '');
  if (refused.type !== 'usage_limit_reached') return readLimit(message ?? '', nowMs);
  const seconds = refused.resets_in_seconds;
  const resetAt =
    typeof seconds === 'number' && seconds >= 0 && seconds < 1e8 ? nowMs + seconds * 1000 : null;
  return { resetAt: resetAt === null ? null : new Date(resetAt).toISOString() };
}
