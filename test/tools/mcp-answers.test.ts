/** How one request is answered: the same tools in every revision, and a call that takes its time. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { answerMcp, type McpTool } from '../../src/tools/mcp-server.ts';
import { ERAS, type Era, forItself, headersOf, type Message, message } from '../mcp/eras.ts';

const FIELDS = { text: z.string(), count: z.number(), flag: z.boolean(), words: z.array(z.string()) };

const tools: fc.Arbitrary<McpTool[]> = fc.uniqueArray(
  fc
    .record({
      name: fc.stringMatching(/^[a-z][a-z_]{0,20}$/),
      title: fc.option(fc.string(), { nil: undefined }),
      description: fc.string(),
      fields: fc.subarray(Object.keys(FIELDS) as (keyof typeof FIELDS)[]),
      annotations: fc.option(fc.record({ readOnlyHint: fc.boolean() }), { nil: undefined }),
    })
    .map(({ fields, ...tool }) => ({
      ...tool,
      input: z.object(Object.fromEntries(fields.map((name) => [name, FIELDS[name]]))),
      call: async () => ({ content: [] }),
    })),
  { selector: ({ name }) => name, maxLength: 8 },
);

describe('an answer over MCP', () => {
  it('has the same list of tools in every revision', async () => {
    await fc.assert(
      fc.asyncProperty(tools, async (offered) => {
        const [older, newer] = await Promise.all(
          ERAS.map(async (era) =>
            bodyOf(await answerMcp({ tools: offered }, requestOf(era, message('tools/list')))),
          ),
        );
        expect(newer!.result.tools).toEqual(older!.result.tools);
        expect(newer!.result.tools.map(({ name }) => name)).toEqual(offered.map(({ name }) => name));
      }),
      { numRuns: 50 },
    );
  });

  it.each(ERAS)('begins before a call is done, so that its client does not give up (%s)', async (era) => {
    const { tool, isCalled, finish } = slowTool();
    const answer = await answerMcp(
      { tools: [tool] },
      requestOf(era, message('tools/call', { name: 'slow' })),
    );
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    await isCalled;
    finish();
    expect(await bodyOf(answer)).toMatchObject({ result: { content: [{ text: 'done' }] } });
  });

  it.each(ERAS)('ends a call whose client hangs up (%s)', async (era) => {
    const { tool, isCalled, isOver } = slowTool();
    const answer = await answerMcp(
      { tools: [tool] },
      requestOf(era, message('tools/call', { name: 'slow' })),
    );
    await isCalled;
    await answer.body!.cancel();
    await isOver;
  });
});

function slowTool() {
  const called = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const tool: McpTool = {
    name: 'slow',
    description: '',
    input: z.object({}),
    async call(_, signal) {
      signal.addEventListener('abort', () => over.resolve(), { once: true });
      called.resolve();
      await finished.promise;
      return { content: [{ type: 'text', text: 'done' }] };
    },
  };
  return { tool, isCalled: called.promise, isOver: over.promise, finish: () => finished.resolve() };
}

function requestOf(era: Era, asked: Message): Request {
  const isAlone = era === 'no handshake';
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...(isAlone ? headersOf(asked) : {}),
  };
  const body = JSON.stringify(isAlone ? forItself(asked) : asked);
  return new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body });
}

async function bodyOf(answer: Response): Promise<{ result: { tools: { name: string }[] } }> {
  const text = await answer.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}
