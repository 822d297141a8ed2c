import type { FailureClass } from '../../domain/failures.ts';
import { asObject, readJsonObject } from './json-line.ts';

/** The `error` object of a server's answer, as an agent hands it on; empty where there is none. */
export function serverErrorIn(body: string): Record<string, unknown> {
  return asObject(readJsonObject(body)?.error) ?? {};
}

/** What a model server's refusal means; `null`: nothing in particular. */
export function failureOfStatus(status: number | null | undefined): FailureClass | null {
  // 402: an account that cannot pay. As with a missing login, a person must act.
  if (status === 401 || status === 402 || status === 403) return 'auth';
  if (status === 429) return 'rate_limit';
  if (status === 408) return 'network';
  if (status === 413) return 'context_overflow';
  if (status !== null && status !== undefined && status >= 500) return 'overloaded';
  return null;
}
