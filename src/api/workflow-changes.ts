/** Start a workflow, decide what it waits for, stop it. What is started or goes on runs in this process. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import type { TransactionHook } from '../operations/context.ts';
import type { WorkflowInput } from '../operations/workflow/workflow.ts';
import type { Session } from '../store/sessions.ts';
import { SessionAnswer } from './answers.ts';
import type { ApiEnv } from './guard.ts';
import { change, together } from './idempotent-route.ts';
import { body, json, refusals, WITH_TOKEN } from './route.ts';
import { KeyHeaders, NoBody, SessionParams } from './schemas.ts';
import { ACTOR, type SessionChanges } from './session-changes.ts';
import { startWords } from './starting.ts';
import { ReviewAnswer, WorkflowStartAnswer } from './workflow-answers.ts';
import { ApproveBody, ExtensionBody, ReviewBody, WorkflowStartBody } from './workflow-schemas.ts';

export function addWorkflowChanges(app: OpenAPIHono<ApiEnv>, options: SessionChanges): void {
  const { pulse, runSession, take } = options;
  const { workflows } = pulse;

  /** A person's decision, with its actor; the session it lets go on runs here. */
  async function decide(
    claim: TransactionHook | undefined,
    decision: (how: {
      actor: string;
      within: TransactionHook;
    }) => Promise<{ session: Session; next: 'attach' | 'run' }>,
  ): Promise<Session> {
    const { session, next } = await decision({ actor: ACTOR, within: together(claim, take) });
    if (next === 'run') runSession(session.id);
    return session;
  }

  app.openapi(startRoute, async (c) => {
    const asked = c.req.valid('json');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['workflow start', asked],
      status: 201,
      async perform(claim) {
        const { session } = await workflows.start(startInput(asked), together(claim, take));
        runSession(session.id);
        return session;
      },
      async answer({ id }) {
        const { session, workflow, pulses } = await workflows.show(id);
        return { sessionId: id, session, workflow, pulses };
      },
    });
    return c.json(answer, 201);
  });

  app.openapi(approveRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { plan } = c.req.valid('json') ?? {};
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['workflow approve', id, plan],
      status: 202,
      perform: (claim) => decide(claim, (how) => workflows.approve(id, { ...how, plan })),
      answer: (session) => ({ session }),
    });
    return c.json(answer, 202);
  });

  app.openapi(extensionRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { approve } = c.req.valid('json');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['workflow extension', id, approve],
      status: 202,
      perform: (claim) => decide(claim, (how) => workflows.extension(id, { ...how, approve })),
      answer: (session) => ({ session }),
    });
    return c.json(answer, 202);
  });

  app.openapi(stopRoute, async (c) => {
    const { id } = c.req.valid('param');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['workflow stop', id],
      status: 202,
      perform: (within) => workflows.stop(id, { actor: ACTOR, within }),
      answer: (session) => ({ session }),
    });
    return c.json(answer, 202);
  });

  app.openapi(reviewRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { merge: mode = 'ff', reject: comments } = c.req.valid('json');
    let said: string | null = null;
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['workflow review', id, comments ?? null, mode],
      status: 202,
      perform: (claim) =>
        decide(claim, async (how) => {
          if (comments !== undefined) return workflows.rejectReview(id, { ...how, comments });
          const reviewed = await workflows.approveReview(id, { ...how, mode });
          said = reviewed.merged?.said ?? null;
          return reviewed;
        }),
      async answer(session) {
        const { mergedSha: sha } = (await workflows.show(session.id)).workflow;
        return { session, merged: sha === null ? null : { base: session.base_branch!, sha }, said };
      },
    });
    return c.json(answer, 202);
  });

  app.openapi(refreshRoute, async (c) => {
    const { id } = c.req.valid('param');
    const answer = await change(pulse, {
      key: c.req.valid('header')['idempotency-key'],
      asked: ['workflow refresh', id],
      status: 202,
      perform: (claim) => decide(claim, (how) => workflows.refreshBaseline(id, how)),
      answer: (session) => ({ session }),
    });
    return c.json(answer, 202);
  });
}

function startInput({ approve, ...given }: WorkflowStartBody): WorkflowInput {
  return { ...startWords(given), actor: ACTOR, isApproved: approve };
}

const startRoute = createRoute({
  method: 'post',
  path: '/api/workflows',
  summary:
    'Start a workflow from a plan, or from a goal for which an agent drafts one; it waits for approval unless `approve` is given, and runs in this server.',
  security: WITH_TOKEN,
  request: { headers: KeyHeaders, body: body(WorkflowStartBody, { isRequired: true }) },
  responses: {
    201: json('The workflow is admitted.', WorkflowStartAnswer),
    ...refusals(400, 409, 413, 422),
  },
});

const approveRoute = createRoute({
  method: 'post',
  path: '/api/workflows/{id}/approve',
  summary: 'Approve the plan, or an edited one for what has not been started.',
  security: WITH_TOKEN,
  request: { params: SessionParams, headers: KeyHeaders, body: body(ApproveBody, { isRequired: false }) },
  responses: { 202: json('It goes on.', SessionAnswer), ...refusals(400, 404, 409, 413, 422) },
});

const extensionRoute = createRoute({
  method: 'post',
  path: '/api/workflows/{id}/extension',
  summary: 'Give a pulse another run, or let it fail.',
  security: WITH_TOKEN,
  request: { params: SessionParams, headers: KeyHeaders, body: body(ExtensionBody, { isRequired: true }) },
  responses: { 202: json('It goes on.', SessionAnswer), ...refusals(400, 404, 409, 413, 422) },
});

const stopRoute = createRoute({
  method: 'post',
  path: '/api/workflows/{id}/stop',
  summary: 'End the agent now and keep its work on the branch of the pulse.',
  security: WITH_TOKEN,
  request: { params: SessionParams, headers: KeyHeaders, body: body(NoBody, { isRequired: false }) },
  responses: { 202: json('The stop is asked for.', SessionAnswer), ...refusals(400, 404, 409, 413, 422) },
});

const reviewRoute = createRoute({
  method: 'post',
  path: '/api/workflows/{id}/review',
  summary: 'Merge the finished workflow into its base, or say what is missing.',
  security: WITH_TOKEN,
  request: { params: SessionParams, headers: KeyHeaders, body: body(ReviewBody, { isRequired: true }) },
  responses: { 202: json('It is merged, or goes on.', ReviewAnswer), ...refusals(400, 404, 409, 413, 422) },
});

const refreshRoute = createRoute({
  method: 'post',
  path: '/api/workflows/{id}/baseline/refresh',
  summary: 'Record the baseline again.',
  security: WITH_TOKEN,
  request: { params: SessionParams, headers: KeyHeaders, body: body(NoBody, { isRequired: false }) },
  responses: { 202: json('It is recorded again.', SessionAnswer), ...refusals(400, 404, 409, 413, 422) },
});
