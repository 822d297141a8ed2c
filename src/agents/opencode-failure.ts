import type { FailureClass } from '../domain/failures.ts';
import { failureOfStatus } from './http-failure.ts';
import { readJsonObject } from './json-line.ts';
import type { OpencodeError } from './opencode-lines.ts';

const BY_NAME: Record<string, FailureClass> = {
  ProviderAuthError: 'auth',
  ContextOverflowError: 'context_overflow',
};

/** Why an opencode run failed, from the error that it names itself. */
export function opencodeFailure(error: OpencodeError | null): FailureClass {
  const known = BY_NAME[error?.name ?? ''];
  if (known) return known;
  const { statusCode, responseBody } = error?.data ?? {};
  if (errorCode(responseBody ?? '') === 'context_length_exceeded') return 'context_overflow';
  return failureOfStatus(statusCode) ?? 'crashed';
}

function errorCode(body: string): unknown {
  const { error } = readJsonObject(body) ?? {};
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}
