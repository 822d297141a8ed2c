/** Reading research: how it stands, its report, and what it told the commander. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Pulse } from '../pulse.ts';
import type { ApiEnv } from './guard.ts';
import { MailboxAnswer, ResearchAnswer, TasksAnswer } from './research-answers.ts';
import { json, refusals } from './route.ts';
import { SessionParams } from './schemas.ts';

export function addResearchViews(app: OpenAPIHono<ApiEnv>, { pulse }: { pulse: Pulse }): void {
  const { research, commander } = pulse;
  /** Of the session that the path names: the group of its tasks and messages. */
  const groupOf = async (id: string): Promise<string> => {
    const { session } = await research.view(id);
    return session.parent_session_id ?? session.id;
  };

  app.openapi(viewRoute, async (c) => c.json(await research.show(c.req.valid('param').id), 200));

  app.openapi(reportRoute, async (c) => c.html(await research.report(c.req.valid('param').id), 200));

  app.openapi(tasksRoute, async (c) => {
    const group_id = await groupOf(c.req.valid('param').id);
    return c.json({ tasks: await commander.tasks({ group_id }) }, 200);
  });

  app.openapi(mailboxRoute, async (c) => {
    const group_id = await groupOf(c.req.valid('param').id);
    return c.json({ messages: await commander.messages({ group_id }) }, 200);
  });
}

const viewRoute = createRoute({
  method: 'get',
  path: '/api/research/{id}',
  summary: 'Show research: its baseline, its experiments with their readings, the best so far.',
  request: { params: SessionParams },
  responses: { 200: json('The research.', ResearchAnswer), ...refusals(404, 409, 422) },
});

const reportRoute = createRoute({
  method: 'get',
  path: '/api/research/{id}/report',
  summary: 'Show its report as one HTML page.',
  request: { params: SessionParams },
  responses: {
    200: { description: 'The page.', content: { 'text/html': { schema: z.string() } } },
    ...refusals(404, 409, 422),
  },
});

const tasksRoute = createRoute({
  method: 'get',
  path: '/api/research/{id}/tasks',
  summary: 'Show its tasks at the commander, one for each experiment, with their comments.',
  request: { params: SessionParams },
  responses: { 200: json('The tasks, oldest first.', TasksAnswer), ...refusals(404, 409, 422) },
});

const mailboxRoute = createRoute({
  method: 'get',
  path: '/api/research/{id}/mailbox',
  summary: 'Show what it sent to the commander: every five experiments its status, at the end the result.',
  request: { params: SessionParams },
  responses: { 200: json('The messages, oldest first.', MailboxAnswer), ...refusals(404, 409, 422) },
});
