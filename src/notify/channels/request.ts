/** One request to a service, and what its answer means for the message. */
import type { Outcome } from './channel.ts';

/** A service that says nothing for so long is asked again later. */
const ANSWER_MS = 15_000;
const MOST_BYTES = 64 * 1024;

export interface ServiceRequest {
  url: string;
  headers: Record<string, string>;
  /** Default: POST. */
  method?: 'GET' | 'POST' | 'PATCH';
  body?: string;
  signal: AbortSignal;
  /** Where the service may take its time, or has much to say. */
  answerMs?: number;
  mostBytes?: number;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** What it answered, if that was JSON. */
  json: Record<string, unknown>;
}

/** Follows no redirect: a message goes where the config says. Rejects when there is no answer. */
export async function ask(request: ServiceRequest): Promise<Answer> {
  const {
    url,
    headers,
    method = 'POST',
    body,
    signal,
    answerMs = ANSWER_MS,
    mostBytes = MOST_BYTES,
  } = request;
  const response = await fetch(url, {
    method,
    headers: { 'user-agent': 'pulse-loops', ...headers },
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
  });
  return { status: response.status, headers: response.headers, json: await readJson(response, mostBytes) };
}

/** Nothing where it breaks off: the status has said already whether the message was taken. */
async function readJson(response: Response, mostBytes: number): Promise<Record<string, unknown>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of response.body ?? []) {
      size += part.length;
      if (size > mostBytes) return {};
      parts.push(part);
    }
    const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** These say that the same message will not get through another time either. */
const REFUSED = [400, 410, 413, 422];
/** These say it of the way to the service, which a person may mend. */
const CLOSED = [403, 404];

/** For an answer that is no success. */
export function outcomeOf(answer: Answer, said: unknown): Outcome {
  const { status } = answer;
  const error = errorOf(answer, said);
  if (REFUSED.includes(status)) return { kind: 'refused', error };
  if (CLOSED.includes(status) || (status >= 300 && status < 400))
    return { kind: 'refused', error, mayPass: true };
  return laterOf(answer, error);
}

/** As Standard Webhooks has it: all that an address says for good is that it is gone (410). */
export function hookOutcome(answer: Answer, said: unknown): Outcome {
  const error = errorOf(answer, said);
  return answer.status === 410 ? { kind: 'refused', error, isGone: true } : laterOf(answer, error);
}

function errorOf({ status }: Answer, said: unknown): string {
  return `HTTP ${status}${typeof said === 'string' && said !== '' ? `: ${said.slice(0, 300)}` : ''}`;
}

function laterOf({ headers, json }: Answer, error: string): Outcome {
  const afterMs = waitOf(headers.get('retry-after') ?? json.retry_after);
  return afterMs === null ? { kind: 'later', error } : { kind: 'later', error, afterMs };
}

/** Seconds, or a date. */
function waitOf(asked: unknown): number | null {
  const seconds = Number(asked ?? Number.NaN);
  const ms = Number.isNaN(seconds) ? Date.parse(String(asked)) - Date.now() : seconds * 1000;
  return ms >= 0 ? Math.ceil(ms) : null;
}

/** Why there was no answer. It may hold the address, and with it a secret. */
export function failureOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}
