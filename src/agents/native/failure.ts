/** Classifies a failed call by the server's status, headers and error codes. */
import type { FailureClass } from '../../domain/failures.ts';
import { asObject, readJson } from '../shared/json-line.ts';
import { keepStart } from '../shared/kept-text.ts';

export interface ModelFailure {
  class: FailureClass;
  message: string;
  status?: number;
  /** How long the server asks to wait. */
  retryAfterMs?: number;
  /** When a usage limit ends. */
  resetAt?: string;
  /** Whether the same call may succeed in a moment. */
  isPassing: boolean;
}

interface ServerAnswer {
  status: number | undefined;
  headers: Record<string, string>;
  /** The `error` object of the body. */
  error: Record<string, unknown>;
  message: string;
}

export function classifyFailure(thrown: unknown, now: () => number = Date.now): ModelFailure {
  const answer = readAnswer(thrown);
  const { status, message } = answer;
  const failure = (name: FailureClass, isPassing: boolean): ModelFailure => ({
    class: name,
    message,
    status,
    retryAfterMs: retryAfterOf(answer, now),
    isPassing,
  });
  const limit = usageLimitOf(answer);
  if (limit) return { ...failure('usage_limit', false), ...limit };
  if (isOverflow(answer)) return failure('context_overflow', false);
  if (status === 401 || status === 402 || status === 403) return failure('auth', false);
  if (status === 429 || answer.error.type === 'rate_limit_error') return failure('rate_limit', true);
  if (answer.error.type === 'overloaded_error' || answer.error.type === 'api_error')
    return failure('overloaded', true);
  if (status !== undefined && (status >= 500 || status === 408)) return failure('overloaded', true);
  // No status: no server answered. 200: the answer broke off.
  if (status === undefined || status === 200) return failure('network', true);
  return failure('crashed', false);
}

/** The vendor says that the account's quota is used up. An ordinary rate limit passes in seconds. */
function usageLimitOf({ headers, error }: ServerAnswer): { resetAt?: string } | null {
  const reset = headers['anthropic-ratelimit-unified-reset'];
  if (headers['anthropic-ratelimit-unified-status'] === 'rejected') return { resetAt: fromSeconds(reset) };
  const isQuota = error.code === 'insufficient_quota' || error.type === 'usage_limit_reached';
  if (isQuota) return { resetAt: fromSeconds(error.resets_at) };
  return null;
}

function isOverflow({ status, error }: ServerAnswer): boolean {
  if (status === 413 || error.code === 'context_length_exceeded') return true;
  // Anthropic has no error code for this.
  return status === 400 && typeof error.message === 'string' && /^prompt is too long/i.test(error.message);
}

function retryAfterOf({ headers }: ServerAnswer, now: () => number): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function fromSeconds(value: unknown): string | undefined {
  const seconds = Number(value);
  if (value === undefined || !Number.isFinite(seconds) || seconds <= 0 || seconds > 1e11) return undefined;
  return new Date(seconds * 1000).toISOString();
}

/** The SDK's call errors carry the server's answer. An error inside a stream is the answer itself. */
function readAnswer(thrown: unknown): ServerAnswer {
  const fields = asRecord(thrown);
  const body = asRecord(typeof fields.responseBody === 'string' ? readJson(fields.responseBody) : fields);
  const error = asRecord(body.error ?? (typeof body.type === 'string' ? body : undefined));
  const said = [error.message, fields.message].find((text) => typeof text === 'string' && text !== '');
  const { code, message: reason } = asRecord(fields.cause);
  const cause = code ?? reason;
  return {
    status: typeof fields.statusCode === 'number' ? fields.statusCode : undefined,
    headers: asRecord(fields.responseHeaders) as Record<string, string>,
    error,
    message: keepStart(`${said ?? textOf(thrown)}${typeof cause === 'string' ? ` (${cause})` : ''}`, 1000),
  };
}

/** The text of any thrown value. String() fails for an object without a prototype. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'The call failed, and nothing says why.';
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return asObject(value) ?? {};
}
