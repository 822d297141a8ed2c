/** The parts that route descriptions share. */
import type { z } from '@hono/zod-openapi';
import { ErrorAnswer } from './answers.ts';

const MEANING = {
  400: 'The request cannot be read.',
  401: 'The token is missing or wrong.',
  403: 'Host or Origin is not allowed.',
  404: 'There is no such thing.',
  409: 'It does not fit the state, or the Idempotency-Key came with another request.',
  413: 'The body is too large.',
  422: 'The request is understood and not valid; `details.violations` lists why.',
  429: 'Too many wrong tokens.',
  503: 'The store cannot answer now.',
} as const;
type ErrorStatus = keyof typeof MEANING;

/** Every request can meet these. */
const ALWAYS = [401, 403, 429, 503] as const;

/** The error answers of a route, beside those that every route has. */
export function refusals<const S extends ErrorStatus>(...statuses: S[]) {
  const content = { 'application/json': { schema: ErrorAnswer } };
  type Refusal = { description: string; content: typeof content };
  const described = [...ALWAYS, ...statuses].map((status): [number, Refusal] => [
    status,
    { description: MEANING[status], content },
  ]);
  return Object.fromEntries(described) as Record<S | (typeof ALWAYS)[number], Refusal>;
}

export function json<T extends z.ZodType>(description: string, schema: T) {
  return { description, content: { 'application/json': { schema } } };
}

/** Of every route that changes something: the guard asks for the token on loopback too. */
export const WITH_TOKEN = [{ token: [] }];
