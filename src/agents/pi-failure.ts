import type { FailureClass } from '../domain/failures.ts';
import { failureOfStatus } from './http-failure.ts';

const NETWORK = /^(?:Connection error|terminated|fetch failed|Request timed out)/;
const NO_LOGIN = /^No API key found|^Authentication failed/;

/** Why a call of pi's failed: it says so in words, the server's status first. No model writes there. */
export function piFailure(errorMessage: string): FailureClass {
  const known = failureOfStatus(piStatus(errorMessage));
  if (known) return known;
  if (NO_LOGIN.test(errorMessage)) return 'auth';
  return NETWORK.test(errorMessage) ? 'network' : 'crashed';
}

export function piStatus(errorMessage: string): number | undefined {
  const status = /^(\d{3})\b/.exec(errorMessage)?.[1];
  return status === undefined ? undefined : Number(status);
}
