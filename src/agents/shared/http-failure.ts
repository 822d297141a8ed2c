import type { FailureClass } from '../../domain/failures.ts';
import { asObject, readJsonObject } from './json-line.ts';

/** The `error` object in a server's answer that an agent passes on; empty if there is none. */
export function serverErrorIn(body: string): Record<string, unknown> {
  return asObject(readJsonObject(body)?.error) ?? {};
}

/** The failure class of a model server's status; `null`: the status alone says nothing. */
export function failureOfStatus(status: number | null | undefined): FailureClass | null {
  // 402: an account that cannot pay. As with a missing login, a person must act.
  if (status === 401 || status === 402 || status === 403) return 'auth';
  if (status === 429) return 'rate_limit';
  if (status === 408) return 'network';
  if (status === 413) return 'context_overflow';
  if (status !== null && status !== undefined && status >= 500) return 'overloaded';
  return null;
}
