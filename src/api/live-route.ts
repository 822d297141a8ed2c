/** One stream for everything a page shows (docs/protocol/dashboard.md, Live). */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { type LiveMessage, MOST_WATCHED } from '../operations/dashboard/live.ts';
import { parseVector, type Vector } from '../operations/dashboard/vector.ts';
import { Card } from '../operations/dashboard/view-schema.ts';
import { orEmpty } from '../operations/field-schema.ts';
import { EventMessage, time } from '../operations/session/view-schema.ts';
import { revocation } from './caller.ts';
import type { EventRoute } from './event-route.ts';
import { createEventStream, formatEvent } from './event-stream.ts';
import type { ApiEnv } from './guard.ts';
import { refusals } from './route.ts';

export function addLiveRoute(app: OpenAPIHono<ApiEnv>, { pulse, heartbeatMs, signal }: EventRoute): void {
  app.openapi(liveRoute, (c) => {
    const watch = c.req.valid('query').watch as Vector | undefined;
    const returned = c.req.valid('header')['last-event-id'] as Vector | undefined;
    const from = joined(watch, returned);
    const caller = c.get('caller');
    const stream = createEventStream<LiveMessage>({
      follow: (ends) => pulse.live({ from, signal: ends }),
      message,
      heartbeatMs,
      signal,
      endsWith: (gone) => revocation(caller, { pulse, gone }),
    });
    c.header('Content-Type', 'text/event-stream');
    c.header('X-Accel-Buffering', 'no');
    return c.body(stream, 200);
  });
}

/** `watch` says which sessions; of both numbers for one the greater is what the client has. */
function joined(watch: Vector | undefined, returned: Vector | undefined): Vector {
  const seqs = watch?.seqs ?? returned?.seqs ?? new Map<string, number>();
  const further = [...seqs].map(([id, seq]) => [id, Math.max(seq, returned?.seqs.get(id) ?? 0)] as const);
  return { seqs: new Map(further), cardsMs: returned?.cardsMs ?? watch?.cardsMs ?? null };
}

function message({ after: id, ...live }: LiveMessage): string {
  if (live.type === 'event') return formatEvent({ id, data: live.event });
  return formatEvent({ id, event: live.type, data: live });
}

const position = orEmpty(
  z
    .string()
    .max(2_000)
    .transform((text, context) => {
      const vector = parseVector(text);
      if (vector && vector.seqs.size <= MOST_WATCHED) return vector;
      context.addIssue({
        code: 'custom',
        message: `must be ID:number by commas, of at most ${MOST_WATCHED} sessions`,
      });
      return z.NEVER;
    })
    .meta({ type: 'string', maxLength: 2_000, example: 'ses_01a1…:42' }),
);

const LiveEvent = z
  .union([
    z.object({ type: z.literal('card'), session: Card }),
    z.object({ type: z.literal('ready'), at: time }),
    z.object({ type: z.literal('gap'), sessionId: z.string(), from: z.int(), to: z.int() }),
    z.object({ type: z.literal('removed'), sessionId: z.string() }),
    EventMessage,
  ])
  .meta({ id: 'LiveEvent' });

const liveRoute = createRoute({
  method: 'get',
  path: '/api/live',
  summary: 'Follow everything a page shows: cards that change, and events of the sessions it watches.',
  request: { query: z.object({ watch: position }), headers: z.object({ 'last-event-id': position }) },
  responses: {
    200: {
      description:
        'Server-sent events: `id` is what the client has, as `ID:number` by commas; comments are heartbeats.',
      content: { 'text/event-stream': { schema: LiveEvent } },
    },
    ...refusals(422),
  },
});
