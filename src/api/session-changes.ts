/** Start, pause, resume, abort: each one call on `Pulse`; what they started runs on in this process. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import type { TransactionHook } from '../operations/context.ts';
import type { Pulse } from '../pulse.ts';
import { SessionAnswer, StartAnswer } from './answers.ts';
import type { ApiEnv } from './guard.ts';
import { change, together } from './idempotent-route.ts';
import { body, json, refusals, WITH_TOKEN } from './route.ts';
import { KeyHeaders, NoBody, NoteBody, ResumeBody, SessionParams, StartBody } from './schemas.ts';
import { startWords } from './starting.ts';

export interface SessionChanges {
  pulse: Pulse;
  /** Drives the session from here on; called again for one that is being driven it does nothing. */
  runSession(sessionId: string): void;
  /** Written with each start and resume. */
  take?: TransactionHook;
}

/** As events record whoever asks over HTTP. */
export const ACTOR = 'api';

export function addSessionChanges(
  app: OpenAPIHono<ApiEnv>,
  { pulse, runSession, take }: SessionChanges,
): void {
  app.openapi(startRoute, async (c) => {
    const asked = c.req.valid('json');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['start', asked],
      status: 201,
      async perform(claim) {
        const { session } = await pulse.start(startWords(asked), together(claim, take));
        runSession(session.id);
        return session;
      },
      answer: (session) => ({ sessionId: session.id, session }),
    });
    return c.json(answer, 201);
  });

  app.openapi(pauseRoute, async (c) => {
    const { id } = c.req.valid('param');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['pause', id],
      status: 202,
      perform: (within) => pulse.pause(id, { actor: ACTOR, within }),
      answer: (session) => ({ session }),
    });
    return c.json(answer, 202);
  });

  app.openapi(resumeRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { timeLimit, iterationTimeout, idleTimeout, ...asked } = c.req.valid('json');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['resume', id, asked, timeLimit, iterationTimeout, idleTimeout],
      status: 202,
      async perform(claim) {
        const within = together(claim, take);
        const { session, next } = await pulse.resume(id, {
          ...asked,
          timeLimitMs: timeLimit,
          iterationTimeoutMs: iterationTimeout,
          idleTimeoutMs: idleTimeout,
          actor: ACTOR,
          within,
        });
        if (next === 'run') runSession(session.id);
        return session;
      },
      answer: (session) => ({ session }),
    });
    return c.json(answer, 202);
  });

  app.openapi(noteRoute, async (c) => {
    const { id } = c.req.valid('param');
    const asked = c.req.valid('json');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['note', id, asked],
      status: 202,
      async perform(claim) {
        const within = asked.isAnswer ? together(claim, take) : claim;
        const { session, next } = await pulse.note(id, { ...asked, actor: ACTOR, within });
        if (next === 'run') runSession(session.id);
        return session;
      },
      answer: (session) => ({ session }),
    });
    return c.json(answer, 202);
  });

  app.openapi(abortRoute, async (c) => {
    const { id } = c.req.valid('param');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['abort', id],
      status: 202,
      perform: (within) => pulse.abort(id, { actor: ACTOR, within }),
      answer: (session) => ({ session }),
    });
    return c.json(answer, 202);
  });
}

const startRoute = createRoute({
  method: 'post',
  path: '/api/pulse/start',
  summary: 'Start a session; it runs in this server.',
  security: WITH_TOKEN,
  request: { headers: KeyHeaders, body: body(StartBody, { isRequired: true }) },
  responses: { 201: json('The session is admitted.', StartAnswer), ...refusals(400, 409, 413, 422) },
});

const pauseRoute = createRoute({
  method: 'post',
  path: '/api/pulse/{id}/pause',
  summary: 'Pause after the iteration in hand.',
  security: WITH_TOKEN,
  request: { params: SessionParams, headers: KeyHeaders, body: body(NoBody, { isRequired: false }) },
  responses: { 202: json('The pause is asked for.', SessionAnswer), ...refusals(400, 404, 409, 413, 422) },
});

const resumeRoute = createRoute({
  method: 'post',
  path: '/api/pulse/{id}/resume',
  summary: 'Go on with a blocked, paused or failed session, or adopt one that nobody runs.',
  security: WITH_TOKEN,
  request: { params: SessionParams, headers: KeyHeaders, body: body(ResumeBody, { isRequired: false }) },
  responses: { 202: json('The session runs again.', SessionAnswer), ...refusals(400, 404, 409, 413, 422) },
});

const noteRoute = createRoute({
  method: 'post',
  path: '/api/pulse/{id}/notes',
  summary: 'Tell a session something without stopping it; the next brief quotes it.',
  security: WITH_TOKEN,
  request: { params: SessionParams, headers: KeyHeaders, body: body(NoteBody, { isRequired: true }) },
  responses: { 202: json('The note is kept.', SessionAnswer), ...refusals(400, 404, 409, 413, 422) },
});

const abortRoute = createRoute({
  method: 'post',
  path: '/api/pulse/{id}/abort',
  summary: 'End a session for good; answers once nothing of its run is left.',
  security: WITH_TOKEN,
  request: { params: SessionParams, headers: KeyHeaders, body: body(NoBody, { isRequired: false }) },
  responses: { 202: json('The session is aborted.', SessionAnswer), ...refusals(400, 404, 409, 413, 422) },
});
