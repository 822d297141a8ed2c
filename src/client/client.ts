/**
 * The HTTP API as methods, for programs and pages: `fetch` and nothing else. Methods and types are made from the table
 * of operations (generated).
 */
import type { Operations } from './generated/operations.ts';
import { ROUTES, type Route, type Routes } from './generated/routes.ts';
import type { Device, Event, LiveEvent } from './generated/schemas.ts';
import { readEvents, type ServerSentEvent } from './server-sent-events.ts';

export interface ClientOptions {
  /** Where `pulse serve` listens; in a page that it serves, `''`. */
  url: string;
  /** The token, or the key of a device. A function is asked for each request. */
  key?: string | (() => string | null | undefined);
  fetch?: typeof fetch;
}

/** Of one request. */
export interface Call {
  signal?: AbortSignal;
  /** The same key with the same request has its effect once. */
  idempotencyKey?: string;
}

export interface Login {
  token?: string;
  /** From `pulse open`. */
  code?: string;
  name?: string;
  scope?: 'read' | 'operate';
}

export interface LiveOptions {
  /** The sessions to watch, each with the number of the last event that is known. */
  watch?: Readonly<Record<string, number>>;
  /** The `id` of the last message: continues there. */
  lastEventId?: string;
  signal?: AbortSignal;
}

export interface Client extends Operations {
  login(login: Login): Promise<{ key: string; device: Device }>;
  who(): Promise<{ device: Device | null; isTokenNeeded: boolean; mayRead: boolean; mayChange: boolean }>;
  /** An address that can be downloaded within 60 s without a header. */
  ticket(path: string): Promise<{ url: string; expiresAt: string }>;
  /** Ends when the server does, or the signal aborts; call it again with the last `id`. */
  live(options?: LiveOptions): AsyncGenerator<ServerSentEvent<LiveEvent>>;
  /** A session's events; ends once it has stopped and all was sent. */
  events(
    id: string,
    options?: { after?: number; signal?: AbortSignal },
  ): AsyncGenerator<ServerSentEvent<Event>>;
}

/** What the server refused, in its own words. */
export class PulseApiError extends Error {
  override readonly name = 'PulseApiError';
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;
  readonly details: Record<string, unknown>;

  constructor(
    status: number,
    error: { code?: string; message?: string; hint?: string | null; details?: object },
  ) {
    super(error.message ?? `The server answered ${status}.`);
    this.status = status;
    this.code = error.code ?? 'unknown';
    this.hint = error.hint ?? null;
    this.details = { ...error.details };
  }
}

export function createClient(options: ClientOptions): Client {
  const request = createRequest(options);
  const json = async <T>(method: string, path: string, body?: unknown) =>
    (await (await request({ method, path, body })).json()) as T;
  return {
    ...(methodsOf(ROUTES, request) as unknown as Operations),
    login: (login) => json('POST', '/api/login', login),
    who: () => json('GET', '/api/login'),
    ticket: (path) => json('POST', '/api/tickets', { path }),
    async *live({ watch, lastEventId, signal } = {}) {
      const vector = Object.entries(watch ?? {}).map(([id, seq]) => `${id}:${seq}`);
      const path = `/api/live${vector.length > 0 ? `?watch=${encodeURIComponent(vector.join(','))}` : ''}`;
      const headers: Record<string, string> =
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      yield* readEvents<LiveEvent>(await request({ method: 'GET', path, headers, signal }));
    },
    async *events(id, { after = 0, signal } = {}) {
      const path = `/api/pulse/${encodeURIComponent(id)}/events?after=${after}`;
      yield* readEvents<Event>(await request({ method: 'GET', path, signal }));
    },
  };
}

interface Asked {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

type Ask = (asked: Asked) => Promise<Response>;

function createRequest({ url, key, fetch: ask = globalThis.fetch }: ClientOptions): Ask {
  return async ({ method, path, body, headers = {}, signal }) => {
    const shown = typeof key === 'function' ? key() : key;
    const answer = await ask(`${url.replace(/\/$/, '')}${path}`, {
      ...{ method, signal },
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(shown ? { authorization: `Bearer ${shown}` } : {}),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (answer.ok) return answer;
    const said = (await answer.json().catch(() => ({}))) as { error?: object };
    throw new PulseApiError(answer.status, said.error ?? {});
  };
}

type Method = (input?: Record<string, unknown>, call?: Call) => Promise<unknown>;
type Methods = { [name: string]: Method | Methods };

function methodsOf(routes: Routes, request: Ask): Methods {
  const made = Object.entries(routes).map(([name, entry]) => [
    name,
    isRoute(entry) ? methodOf(entry, request) : methodsOf(entry, request),
  ]);
  return Object.fromEntries(made);
}

function isRoute(entry: Route | Routes): entry is Route {
  return Array.isArray(entry);
}

function methodOf([method, pattern, fixed]: Route, request: Ask): Method {
  return async (input = {}, { signal, idempotencyKey } = {}) => {
    const rest = { ...input };
    const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = rest[name];
      delete rest[name];
      return encodeURIComponent(String(value));
    });
    const hasBody = method === 'POST' || method === 'PATCH' || method === 'PUT';
    const query = new URLSearchParams(fixed);
    if (!hasBody)
      for (const [name, value] of Object.entries(rest)) if (value != null) query.set(name, String(value));
    const answer = await request({
      ...{ method, path: query.size > 0 ? `${path}?${query}` : path, signal },
      body: hasBody ? rest : undefined,
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    });
    const isJson = answer.headers.get('content-type')?.includes('application/json');
    return isJson ? answer.json() : answer.text();
  };
}
