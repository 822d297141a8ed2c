/** Why a claude run failed: from fields and the words of its own error result, never from a model's or a tool's. */
import type { FailureClass } from '../../domain/failures.ts';
import { failureOfStatus } from '../shared/http-failure.ts';
import { readLimit, type UsageLimit } from '../shared/limit-words.ts';
import type { ClaudeMessage, ClaudeResult } from './lines.ts';

/** A refusal that claude puts into the stream as an assistant's message. */
export interface Refusal {
  failure: FailureClass | null;
  /** Whether, as far as the message says, no server answered. */
  isUnanswered: boolean;
}

const BY_API_ERROR: Record<string, FailureClass> = {
  usage_limit_reached: 'usage_limit',
  connection_failed: 'network',
};

const BY_ERROR: Record<string, FailureClass> = {
  rate_limit: 'rate_limit',
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  // An account that cannot pay: a person must act.
  billing_error: 'auth',
  overloaded: 'overloaded',
};

export function claudeRefusal({ error, api_error }: ClaudeMessage): Refusal | null {
  if (!error) return null;
  const failure = BY_API_ERROR[api_error ?? ''] ?? BY_ERROR[error] ?? null;
  return { failure, isUnanswered: error === 'server_error' };
}

/** The usage limit in the words of an error result. The words of any other result are a model's. */
export function limitOfResult({ is_error, result }: ClaudeResult, nowMs: number): UsageLimit | null {
  return is_error && result ? readLimit(result, nowMs) : null;
}

export function failureOfResult(
  { terminal_reason, api_error_status }: ClaudeResult,
  { refusal, resetAt, isAtLimit }: { refusal: Refusal | null; resetAt: string | null; isAtLimit: boolean },
): FailureClass {
  if (terminal_reason === 'prompt_too_long') return 'context_overflow';
  if (isAtLimit || (refusal?.failure === 'rate_limit' && resetAt !== null)) return 'usage_limit';
  const known = refusal?.failure ?? failureOfStatus(api_error_status);
  if (known) return known;
  return refusal?.isUnanswered && (api_error_status ?? null) === null ? 'network' : 'crashed';
}
