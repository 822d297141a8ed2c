/** Reading sessions: nothing here changes or adopts anything. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import { RESUMABLE_STATUSES, TERMINAL_STATUSES } from '../domain/status.ts';
import type { Pulse } from '../pulse.ts';
import {
  EventMessage,
  IterationAnswer,
  SessionsAnswer,
  SessionViewAnswer,
  VerificationsAnswer,
} from './answers.ts';
import { createEventStream } from './event-stream.ts';
import type { ApiEnv } from './guard.ts';
import { json, refusals } from './route.ts';
import { EventsHeaders, EventsQuery, IterationParams, ListQuery, SessionParams } from './schemas.ts';

export interface SessionViews {
  pulse: Pulse;
  heartbeatMs: number;
  signal?: AbortSignal;
}

const PAGE = 50;

export function addSessionViews(
  app: OpenAPIHono<ApiEnv>,
  { pulse, heartbeatMs, signal }: SessionViews,
): void {
  app.openapi(listRoute, async (c) => {
    const { status, limit = PAGE, cursor } = c.req.valid('query');
    const found = await pulse.list({ status, limit: limit + 1, before: cursor });
    const sessions = found.slice(0, limit);
    const nextCursor = found.length > limit ? (sessions.at(-1)?.id ?? null) : null;
    return c.json({ sessions, nextCursor }, 200);
  });

  app.openapi(viewRoute, async (c) => c.json(await pulse.get(c.req.valid('param').id), 200));

  app.openapi(iterationRoute, async (c) => {
    const { id, n } = c.req.valid('param');
    return c.json(await pulse.iteration(id, n), 200);
  });

  app.openapi(verificationsRoute, async (c) => {
    return c.json({ verifications: await pulse.verifications(c.req.valid('param').id) }, 200);
  });

  app.openapi(eventsRoute, async (c) => {
    const session = await pulse.session(c.req.valid('param').id);
    const returned = c.req.valid('header')['last-event-id'];
    // A browser that returns repeats the address it began with: the header knows better.
    const after = returned ?? c.req.valid('query').after ?? 0;
    const hasStopped = [...TERMINAL_STATUSES, ...RESUMABLE_STATUSES].includes(session.status);
    if (returned !== undefined && hasStopped && !(await hasEvents(pulse, session.id, after))) {
      return c.body(null, 204);
    }
    const stream = createEventStream({ pulse, sessionId: session.id, after, heartbeatMs, signal });
    c.header('Content-Type', 'text/event-stream');
    c.header('X-Accel-Buffering', 'no');
    return c.body(stream, 200);
  });
}

/** Of a session that has stopped: following it ends by itself. */
async function hasEvents(pulse: Pulse, sessionId: string, after: number): Promise<boolean> {
  for await (const _ of pulse.follow(sessionId, { after })) return true;
  return false;
}

const listRoute = createRoute({
  method: 'get',
  path: '/api/pulse',
  summary: 'List sessions, newest first.',
  request: { query: ListQuery },
  responses: { 200: json('A page; `nextCursor` is null on the last one.', SessionsAnswer), ...refusals(422) },
});

const viewRoute = createRoute({
  method: 'get',
  path: '/api/pulse/{id}',
  summary: 'Show a session and its iterations.',
  request: { params: SessionParams },
  responses: { 200: json('The session.', SessionViewAnswer), ...refusals(404, 409, 422) },
});

const iterationRoute = createRoute({
  method: 'get',
  path: '/api/pulse/{id}/iterations/{n}',
  summary: 'Show one iteration with its evidence.',
  request: { params: IterationParams },
  responses: { 200: json('The iteration.', IterationAnswer), ...refusals(404, 409, 422) },
});

const verificationsRoute = createRoute({
  method: 'get',
  path: '/api/pulse/{id}/verifications',
  summary: 'Show the evidence: what Pulse itself ran, oldest first.',
  request: { params: SessionParams },
  responses: { 200: json('The evidence.', VerificationsAnswer), ...refusals(404, 409, 422) },
});

const eventsRoute = createRoute({
  method: 'get',
  path: '/api/pulse/{id}/events',
  summary: 'Follow a session; ends once it has stopped and all was sent.',
  request: { params: SessionParams, query: EventsQuery, headers: EventsHeaders },
  responses: {
    200: {
      description:
        'Server-sent events: `id` is the number, `data` the event as JSON; comments are heartbeats.',
      content: { 'text/event-stream': { schema: EventMessage } },
    },
    204: { description: 'The session has stopped and the client has everything: it need not come back.' },
    ...refusals(404, 409, 422),
  },
});
