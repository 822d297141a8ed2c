/** The one place where a failure becomes an HTTP answer; the status comes from the table in `domain`. */
import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { asPulseError, ERROR_CODES, PulseError } from '../domain/errors.ts';
import { redactJson } from '../domain/redact.ts';

export const MAX_BODY_BYTES = 1024 * 1024;

export function answerError(thrown: unknown, c: Context): Response {
  const error = thrown instanceof HTTPException ? fromFramework(thrown) : asPulseError(thrown);
  const status = ERROR_CODES[error.code].http as ContentfulStatusCode;
  if (status === 401) c.header('WWW-Authenticate', 'Bearer');
  if (status === 429) c.header('Retry-After', String(error.data.retryAfterSeconds ?? 60));
  if (status === 503) c.header('Retry-After', '5');
  return c.json({ error: redactJson(error.toJSON()) }, status);
}

/** Every violation, so that a caller need not try its way through them. */
export function violationsError(target: string, { issues }: z.core.$ZodError): PulseError {
  const violations = issues.map(({ path, code, message }) => ({ path: path.join('.'), code, message }));
  const [first] = violations;
  const where = first?.path ? `${first.path}: ` : '';
  const rest = violations.length > 1 ? ` (and ${violations.length - 1} more)` : '';
  return new PulseError('invalid_input', `The ${target} is not valid: ${where}${first?.message}${rest}`, {
    hint: 'GET /openapi.json describes every request.',
    data: { in: target, violations },
  });
}

export function unknownRoute({ req }: Context): PulseError {
  return new PulseError('not_found', `There is no ${req.method} ${req.path}.`, {
    hint: 'GET /openapi.json lists what there is.',
  });
}

export function tooLarge(): PulseError {
  return new PulseError('too_large', `A request's body may have ${MAX_BODY_BYTES} bytes.`, {
    hint: 'Put long texts into a file of the repository and name it in the goal.',
  });
}

function fromFramework({ status, message }: HTTPException): PulseError {
  if (status === 413) return tooLarge();
  if (status === 415) {
    return new PulseError('usage', 'The body must be JSON.', {
      hint: 'Send Content-Type: application/json.',
    });
  }
  if (status < 500) return new PulseError('usage', message || 'The request cannot be understood.');
  return new PulseError('internal_error', message);
}
