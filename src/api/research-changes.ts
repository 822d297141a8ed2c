/** Start research, and say what becomes of it. What is started runs in this process. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import type { ResearchInput } from '../operations/research/research.ts';
import type { ApiEnv } from './guard.ts';
import { change, together } from './idempotent-route.ts';
import { FinishAnswer, ResearchStartAnswer } from './research-answers.ts';
import { FinishBody, ResearchStartBody } from './research-schemas.ts';
import { body, json, refusals, WITH_TOKEN } from './route.ts';
import { KeyHeaders, SessionParams } from './schemas.ts';
import { ACTOR, type SessionChanges } from './session-changes.ts';
import { startWords } from './starting.ts';

export function addResearchChanges(app: OpenAPIHono<ApiEnv>, options: SessionChanges): void {
  const { pulse, runSession, take } = options;
  const { research: operations } = pulse;

  app.openapi(startRoute, async (c) => {
    const asked = c.req.valid('json');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['research start', asked],
      status: 201,
      async perform(claim) {
        const { session } = await operations.start(startInput(asked), together(claim, take));
        runSession(session.id);
        return session;
      },
      async answer({ id }) {
        const { session, research } = await operations.show(id);
        return { sessionId: id, session, research };
      },
    });
    return c.json(answer, 201);
  });

  app.openapi(finishRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { how } = c.req.valid('json');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['research finish', id, how],
      status: 202,
      perform: async (within) => (await operations.finish(id, { how, actor: ACTOR, within })).session,
      async answer(finished) {
        const { session, research } = await operations.show(finished.id);
        return { session, research };
      },
    });
    return c.json(answer, 202);
  });
}

function startInput({ research: content, ...given }: ResearchStartBody): ResearchInput {
  return { ...startWords(given), content };
}

const startRoute = createRoute({
  method: 'post',
  path: '/api/research',
  summary: 'Start research from what a research.yaml holds; it runs in this server.',
  security: WITH_TOKEN,
  request: { headers: KeyHeaders, body: body(ResearchStartBody, { isRequired: true }) },
  responses: {
    201: json('The research is admitted.', ResearchStartAnswer),
    ...refusals(400, 409, 413, 422),
  },
});

const finishRoute = createRoute({
  method: 'post',
  path: '/api/research/{id}/finish',
  summary: 'Say what becomes of the findings; the session itself does not change.',
  security: WITH_TOKEN,
  request: { params: SessionParams, headers: KeyHeaders, body: body(FinishBody, { isRequired: true }) },
  responses: { 202: json('It is written down.', FinishAnswer), ...refusals(400, 404, 409, 413, 422) },
});
