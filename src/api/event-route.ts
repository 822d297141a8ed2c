/** Following a session over HTTP: the one reading that does not end at once. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { RESUMABLE_STATUSES, TERMINAL_STATUSES } from '../domain/status.ts';
import { fieldSchema, orEmpty, wholeNumber } from '../operations/field-schema.ts';
import { sessionId } from '../operations/session/fields.ts';
import { EventMessage } from '../operations/session/view-schema.ts';
import type { Pulse } from '../pulse.ts';
import { revocation } from './caller.ts';
import { createEventStream, formatEvent } from './event-stream.ts';
import type { ApiEnv } from './guard.ts';
import { refusals } from './route.ts';

export interface EventRoute {
  pulse: Pulse;
  heartbeatMs: number;
  signal?: AbortSignal;
}

export function addEventRoute(app: OpenAPIHono<ApiEnv>, { pulse, heartbeatMs, signal }: EventRoute): void {
  app.openapi(eventsRoute, async (c) => {
    const session = await pulse.session(c.req.valid('param').id as string);
    const returned = c.req.valid('header')['last-event-id'];
    // A browser that returns repeats the address it began with: the header knows better.
    const after = returned ?? c.req.valid('query').after ?? 0;
    const hasStopped = [...TERMINAL_STATUSES, ...RESUMABLE_STATUSES].includes(session.status);
    if (returned !== undefined && hasStopped && !(await hasEvents(pulse, session.id, after))) {
      return c.body(null, 204);
    }
    const stream = createEventStream({
      follow: (ends) => pulse.follow(session.id, { after, signal: ends }),
      // Without an `event:` line: a browser's `onmessage` gets every type.
      message: (event) => formatEvent({ id: event.seq, data: event }),
      heartbeatMs,
      signal,
      endsWith: (gone) => revocation(c.get('caller'), { pulse, gone }),
    });
    c.header('Content-Type', 'text/event-stream');
    c.header('X-Accel-Buffering', 'no');
    return c.body(stream, 200);
  });
}

/** Of a session that has stopped: following it ends by itself. */
async function hasEvents(pulse: Pulse, id: string, after: number): Promise<boolean> {
  for await (const _ of pulse.follow(id, { after })) return true;
  return false;
}

const eventNumber = orEmpty(wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }));

const eventsRoute = createRoute({
  method: 'get',
  path: '/api/pulse/{id}/events',
  summary: 'Follow a session; ends once it has stopped and all was sent.',
  request: {
    params: z.object({ id: fieldSchema(sessionId, 'word') }),
    query: z.object({ after: eventNumber }),
    headers: z.object({ 'last-event-id': eventNumber }),
  },
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
