import type { FailureClass } from '../../domain/failures.ts';
import { failureOfStatus } from '../shared/http-failure.ts';
import { isShort, readLimit, type ToldLimit } from '../shared/limit-words.ts';
import type { CopilotFailure } from './lines.ts';

/** Why a copilot run failed: from its last call that did, if none succeeded after it. */
export function copilotFailure(failure: CopilotFailure | null, told: ToldLimit | null): FailureClass {
  if (told) return 'usage_limit';
  if (failure === null) return 'crashed';
  const { errorCode, errorType, failureKind, statusCode } = failure;
  if (errorCode === 'insufficient_quota' || errorType === 'usage_limit_reached') return 'usage_limit';
  if (errorCode === 'context_length_exceeded') return 'context_overflow';
  return failureOfStatus(statusCode) ?? (failureKind === 'transport' ? 'network' : 'crashed');
}

/** What its own error says of a limit for hours or days. */
export function copilotLimit(error: string, nowMs: number): ToldLimit | null {
  const told = readLimit(error, nowMs);
  return told && !isShort(told, nowMs) ? told : null;
}
