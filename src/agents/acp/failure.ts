/** Why a request was refused. The protocol has a code only for a missing login; each agent adds details in its own way. */
import { RequestError } from '@agentclientprotocol/sdk';
import type { FailureClass } from '../../domain/failures.ts';
import { failureOfStatus } from '../shared/http-failure.ts';
import { readLimit } from '../shared/limit-words.ts';

const AUTH_REQUIRED = -32_000;
/** As the vendors' servers write it, and agents pass it on. */
const OVERFLOW =
  /context_length_exceeded|input token count \(\d+\) exceeds|prompt is too long|context window/i;
const STATUS_FIELDS = ['status', 'statusCode', 'http_status_code', 'httpStatusCode', 'code'];

export interface AcpFailure {
  class: FailureClass;
  message: string;
  resetAt?: string | null;
}

export function classifyFailure(error: unknown, nowMs = Date.now()): AcpFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof RequestError)) return { class: 'crashed', message };
  if (error.code === AUTH_REQUIRED) return { class: 'auth', message };
  if (OVERFLOW.test(message)) return { class: 'context_overflow', message };
  const limit = readLimit(message.replace(/^Internal error: /, ''), nowMs);
  if (limit) return { class: 'usage_limit', message, resetAt: limit.resetAt };
  const status = statusOf(error.code) ?? statusIn(error.data);
  return { class: failureOfStatus(status) ?? 'crashed', message };
}

/** An HTTP status, at the top of the data or one level below. */
function statusIn(data: unknown): number | null {
  if (typeof data !== 'object' || data === null) return null;
  const levels = [data, ...Object.values(data)].filter((each) => typeof each === 'object' && each !== null);
  const found = levels.flatMap((level) =>
    STATUS_FIELDS.map((name) => statusOf((level as Record<string, unknown>)[name])),
  );
  return found.find((status) => status !== null) ?? null;
}

function statusOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 400 && value < 600 ? value : null;
}
