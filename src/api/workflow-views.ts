/** Reading workflows: how they stand, what they began with, what they changed. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { WorkflowDiff } from '../operations/workflow/view.ts';
import type { Pulse } from '../pulse.ts';
import type { ApiEnv } from './guard.ts';
import { json, refusals } from './route.ts';
import { SessionParams } from './schemas.ts';
import { BaselineAnswer, WorkflowAnswer } from './workflow-answers.ts';
import { PulseParams } from './workflow-schemas.ts';

export function addWorkflowViews(app: OpenAPIHono<ApiEnv>, { pulse: { workflows } }: { pulse: Pulse }): void {
  app.openapi(viewRoute, async (c) => c.json(await workflows.show(c.req.valid('param').id), 200));

  app.openapi(baselineRoute, async (c) =>
    c.json({ baseline: await workflows.baseline(c.req.valid('param').id) }, 200),
  );

  app.openapi(diffRoute, async (c) => {
    const diff = await workflows.diff(c.req.valid('param').id);
    return c.body(diff.text, 200, diffHeaders(diff));
  });

  app.openapi(pulseDiffRoute, async (c) => {
    const { id, pulseId } = c.req.valid('param');
    const diff = await workflows.diff(id, pulseId);
    return c.body(diff.text, 200, diffHeaders(diff));
  });
}

function diffHeaders({ from, to, isTruncated }: WorkflowDiff): Record<string, string> {
  return {
    'Content-Type': 'text/x-diff; charset=utf-8',
    'Pulse-Diff-From': from,
    'Pulse-Diff-To': to,
    'Pulse-Diff-Truncated': String(isTruncated),
  };
}

const viewRoute = createRoute({
  method: 'get',
  path: '/api/workflows/{id}',
  summary: 'Show a workflow: its plan, its pulses and what it waits for.',
  request: { params: SessionParams },
  responses: { 200: json('The workflow.', WorkflowAnswer), ...refusals(404, 409, 422) },
});

const baselineRoute = createRoute({
  method: 'get',
  path: '/api/workflows/{id}/baseline',
  summary: 'Show what was wrong before the first pulse and is held against none.',
  request: { params: SessionParams },
  responses: { 200: json('The baseline.', BaselineAnswer), ...refusals(404, 409, 422) },
});

const patch = {
  description:
    'A patch of at most 2 MB; `Pulse-Diff-Truncated` says whether there is more, `Pulse-Diff-From` and `-To` name the commits.',
  content: { 'text/x-diff': { schema: z.string() } },
};

const diffRoute = createRoute({
  method: 'get',
  path: '/api/workflows/{id}/diff',
  summary: 'Show what the whole workflow has changed.',
  request: { params: SessionParams },
  responses: { 200: patch, ...refusals(404, 409, 422) },
});

const pulseDiffRoute = createRoute({
  method: 'get',
  path: '/api/workflows/{id}/pulses/{pulseId}/diff',
  summary: 'Show what one pulse has changed.',
  request: { params: PulseParams },
  responses: { 200: patch, ...refusals(404, 409, 422) },
});
