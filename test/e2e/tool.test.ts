/** `pulse tool`, for agents with a shell and no MCP: it prints all of what the tool answered. */
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool, type ToolReply } from '../../src/tools/contract.ts';
import { createToolEndpoint } from '../../src/tools/endpoint.ts';
import { useScene } from './scene.ts';

const scene = useScene();

it.each<[string, ToolReply, number]>([
  ['an answer', { ok: true, output: 'Fine.' }, 0],
  ['all reasons at once', { ok: false, output: 'No.', reasons: ['this', 'that'] }, 1],
  ['what to ask for later', { ok: false, output: 'Still checking.', pending: 'check-1' }, 1],
  ['that time is running out', { ok: true, output: 'Fine.', notice: 'Wrap up.' }, 0],
])('pulse tool tells %s', async (_, reply, code) => {
  await using endpoint = createToolEndpoint();
  const input = z.object({});
  const tool = defineTool({ name: 'ask', description: 'answers', input, call: () => reply });
  const { url, token } = await endpoint.admit([tool], () => undefined);
  const env = { PULSE_TOOLS_URL: url, PULSE_TOOLS_TOKEN: token };
  const ended = await scene.pulse(['tool', 'ask', '{}'], { env });
  expect([ended.code, ended.json]).toEqual([code, [{ reasons: [], ...reply }]]);
});
