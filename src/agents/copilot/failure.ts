import type { FailureClass } from '../../domain/failures.ts';
import { failureOfStatus } from '../shared/http-failure.ts';
import { isShort, readLimit, type UsageLimit } from '../shared/limit-words.ts';
import type { CopilotFailure } from './lines.ts';

/** Why a copilot run failed: its last failed call, unless a later call succeeded. */
export function copilotFailure(failure: CopilotFailure | null, told: UsageLimit | null): FailureClass {
  if (told) return 'usage_limit';
  if (failure === null) return 'crashed';
  const { errorCode, errorType, failureKind, statusCode } = failure;
  if (errorCode === 'insufficient_quota' || errorType === 'usage_limit_reached') return 'usage_limit';
  if (errorCode === 'context_length_exceeded') return 'context_overflow';
  return failureOfStatus(statusCode) ?? (failureKind === 'transport' ? 'network' : 'crashed');
}

/** A usage limit in copilot's own error. A short one is an ordinary rate limit. */
export function copilotLimit(error: string, nowMs: number): UsageLimit | null {
  const told = readLimit(error, nowMs);
  return told && !isShort(told, nowMs) ? told : null;
}
