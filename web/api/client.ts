/** Asks the API. The key lies in this browser's storage for this port; nothing is a cookie. */
import { PulseApiError } from '../../src/client/client.ts';

const KEY = 'pulse.key';

export function storedKey(): string | null {
  return localStorage.getItem(KEY);
}

export function storeKey(key: string | null): void {
  if (key === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, key);
}

/** A key that was revoked, or is of another state directory, must not be shown again: ten wrong ones shut the door. */
export function dropKey(key: string): void {
  // Meanwhile a login may have brought another.
  if (storedKey() === key) storeKey(null);
}

let answeredAt = 0;

/** When the server was last heard, whatever it said. */
export function lastAnswer(): number {
  return answeredAt;
}

/** With the status 0 where nobody answered. */
export { PulseApiError as ApiError };

export interface Asked {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  signal?: AbortSignal;
  /** The same for a second try of the same wish, so that it has its effect once. */
  idempotencyKey?: string;
}

export async function ask<T>(path: string, asked: Asked = {}): Promise<T> {
  const answer = await send(path, asked);
  return (await answer.json()) as T;
}

/** Throws `ApiError`; of an answer that is no JSON too. */
export async function send(path: string, asked: Asked = {}): Promise<Response> {
  const { method = 'GET', body, signal, idempotencyKey } = asked;
  const headers = new Headers();
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (idempotencyKey) headers.set('Idempotency-Key', idempotencyKey);
  const answer = await carefully(path, {
    ...{ method, headers, signal },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.ok) return answer;
  const refusal = await answer.json().then(
    (json) => (json as { error?: object }).error,
    () => undefined,
  );
  throw new PulseApiError(answer.status, refusal ?? {});
}

/** As `fetch`, with the key of this browser. Throws `ApiError` where nobody answers. */
export const carefully: typeof fetch = async (path, init = {}) => {
  const key = storedKey();
  const headers = new Headers(init.headers);
  if (key !== null) headers.set('Authorization', `Bearer ${key}`);
  const answer = await fetch(path, { ...init, headers }).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw new PulseApiError(0, {
      code: 'offline',
      message: 'Pulse does not answer.',
      hint: 'Is `pulse serve` running?',
    });
  });
  answeredAt = Date.now();
  if (answer.status !== 401 || key === null) return answer;
  dropKey(key);
  return (init.method ?? 'GET') === 'GET' ? carefully(path, init) : answer;
};

export function authorization(): Record<string, string> {
  const key = storedKey();
  return key === null ? {} : { Authorization: `Bearer ${key}` };
}

/** `crypto.randomUUID` is missing where the page was opened by a plain address of the network. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function query(parts: Record<string, string | number | boolean | null | undefined>): string {
  const given = Object.entries(parts).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
