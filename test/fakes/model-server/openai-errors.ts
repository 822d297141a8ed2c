import { type Refusal, secondsUntil } from './protocol.ts';
import type { Fault } from './script.ts';

const TYPES: Record<number, { type: string; code: string }> = {
  400: { type: 'invalid_request_error', code: 'invalid_request' },
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  404: { type: 'invalid_request_error', code: 'model_not_found' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  500: { type: 'server_error', code: 'server_error' },
};

export function refuseAsOpenAi(
  fault: Extract<Fault, { kind: 'status' | 'usage_limit' | 'overflow' }>,
): Refusal {
  if (fault.kind === 'overflow') {
    const message =
      'Your input exceeds the context window of this model. Please adjust your input and try again.';
    return refusal(400, { type: 'invalid_request_error', code: 'context_length_exceeded', message });
  }
  if (fault.kind === 'usage_limit') {
    const seconds = secondsUntil(fault.resetAt);
    return {
      status: 429,
      headers: { 'retry-after': String(seconds) },
      body: {
        error: {
          type: 'usage_limit_reached',
          code: 'insufficient_quota',
          message: 'The usage limit has been reached',
          plan_type: 'plus',
          resets_at: Math.floor(fault.resetAt.getTime() / 1000),
          resets_in_seconds: seconds,
        },
      },
    };
  }
  const { status, message = `a scripted ${status}`, retryAfterS } = fault;
  const known = TYPES[status] ?? { type: 'server_error', code: 'server_error' };
  const headers = retryAfterS === undefined ? undefined : { 'retry-after': String(retryAfterS) };
  return { ...refusal(status, { ...known, message }), headers };
}

function refusal(status: number, error: { type: string; code: string; message: string }): Refusal {
  return { status, body: { error: { ...error, param: null } } };
}
