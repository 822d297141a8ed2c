/** The scripted model server itself, asked as clients ask it. */
import { expect, test } from 'vitest';
import { type ModelServer, type Step, startModelServer } from './model-server/index.ts';

const STEPS: Step[] = [
  { text: 'First.', calls: [{ tool: 'shell', input: { command: 'ls' } }], usage: { input: 7, output: 3 } },
  { text: 'Done.' },
];

interface Client {
  path: string;
  /** A conversation in which the tool was called `turns` times. */
  body(turns: number, options: { stream: boolean; tools: boolean }): unknown;
}

const repeat = <T>(count: number, make: (index: number) => T[]): T[] =>
  Array.from({ length: count }, (_, index) => make(index)).flat();

const CLIENTS: Record<string, Client> = {
  anthropic: {
    path: '/v1/messages?beta=true',
    body: (turns, { stream, tools }) => ({
      model: 'm',
      stream,
      tools: tools ? [{ name: 'mcp__x__shell', input_schema: {} }] : [],
      messages: [
        { role: 'user', content: 'go' },
        ...repeat<unknown>(turns, (id) => [
          { role: 'assistant', content: [{ type: 'tool_use', id, name: 'shell', input: {} }] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: id },
              { type: 'text', text: '<system-reminder>' },
            ],
          },
          { role: 'user', content: [{ type: 'text', text: '<system-reminder>mind</system-reminder>' }] },
        ]),
      ],
    }),
  },
  responses: {
    path: '/v1/responses',
    body: (turns, { stream, tools }) => ({
      model: 'm',
      stream,
      tools: tools
        ? [
            {
              type: 'namespace',
              name: 'mcp__x',
              tools: [{ type: 'function', name: 'shell', parameters: {} }],
            },
          ]
        : [],
      input: [
        { role: 'user', content: [{ type: 'input_text', text: '<environment_context>x' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
        ...repeat<unknown>(turns, (id) => [
          { type: 'function_call', call_id: `a${id}`, name: 'shell', arguments: '{}' },
          { type: 'function_call', call_id: `b${id}`, name: 'shell', arguments: '{}' },
          { type: 'function_call_output', call_id: `a${id}`, output: '' },
          { type: 'function_call_output', call_id: `b${id}`, output: '' },
        ]),
      ],
    }),
  },
  chat: {
    path: '/v1/chat/completions',
    body: (turns, { stream, tools }) => ({
      model: 'm',
      stream,
      tools: tools ? [{ type: 'function', function: { name: 'x_shell', parameters: {} } }] : undefined,
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'go' },
        ...repeat<unknown>(turns, (id) => [
          { role: 'assistant', tool_calls: [{ id, function: { name: 'shell', arguments: '{}' } }] },
          { role: 'tool', tool_call_id: id, content: '' },
        ]),
      ],
    }),
  },
  gemini: {
    path: '/v1beta/models/m:',
    body: (turns, { tools }) => ({
      tools: tools ? [{ functionDeclarations: [{ name: 'mcp_x_shell' }] }] : [],
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        ...repeat<unknown>(turns, () => [
          { role: 'model', parts: [{ functionCall: { name: 'shell', args: {} } }] },
          { role: 'user', parts: [{ functionResponse: { name: 'shell', response: {} } }] },
        ]),
      ],
    }),
  },
};

interface Ask {
  client: string;
  turns?: number;
  stream?: boolean;
  tools?: boolean;
}

async function ask(url: string, { client, turns = 0, stream = false, tools = true }: Ask): Promise<Response> {
  const { path, body } = CLIENTS[client]!;
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return fetch(`${url}${client === 'gemini' ? path + method : path}`, {
    method: 'POST',
    body: JSON.stringify(body(turns, { stream, tools })),
  });
}

async function using(test: (server: ModelServer) => Promise<void>): Promise<void> {
  await using server = await startModelServer();
  await test(server);
}

for (const client of Object.keys(CLIENTS)) {
  test(`${client}: says step after step, whole or in pieces, by what the request holds`, () =>
    using(async (server) => {
      const url = server.script('story', STEPS);
      for (const stream of [false, true]) {
        const first = await (await ask(url, { client, stream })).text();
        expect(first).toContain(stream ? 'Fir' : 'First.');
        expect(first).toContain('shell');
        expect(first).toContain('7');
        const last = await (await ask(url, { client, stream, turns: 1 })).text();
        expect(last).toContain(stream ? 'Don' : 'Done.');
        expect(last).not.toContain('shell');
      }
      expect(server.requests('story').map(({ step }) => step)).toEqual([0, 1, 0, 1]);
    }));

  test(`${client}: meets the faults of a step in order, then goes on; requests without tools meet none`, () =>
    using(async (server) => {
      const url = server.script('faults', [
        {
          text: 'at last',
          faults: [
            { kind: 'status', status: 429, retryAfterS: 3 },
            { kind: 'status', status: 500, times: 2 },
            { kind: 'usage_limit', resetAt: new Date(Date.now() + 3_600_000) },
            { kind: 'overflow' },
            { kind: 'reset' },
            { kind: 'cut' },
            { kind: 'stream_error' },
          ],
        },
      ]);
      const limited = await ask(url, { client, stream: true });
      expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3']);
      expect((await ask(url, { client, tools: false })).status).toBe(200);
      expect((await ask(url, { client })).status).toBe(500);
      expect((await ask(url, { client })).status).toBe(500);
      expect((await ask(url, { client })).status).toBe(429);
      expect((await ask(url, { client })).status).toBe(400);
      await expect(ask(url, { client })).rejects.toThrow();
      await expect(ask(url, { client, stream: true }).then((each) => each.text())).rejects.toThrow();
      const broken = await (await ask(url, { client, stream: true })).text();
      expect(broken).toMatch(/event: error\ndata: .*a scripted 529.*\n\n$/);
      expect(await (await ask(url, { client })).text()).toContain('at last');
    }));
}

test('a hang answers nothing, and closing the server ends it', async () => {
  const server = await startModelServer();
  const url = server.script('hang', [{ faults: [{ kind: 'hang', times: 'always' }] }]);
  const asked = ask(url, { client: 'chat' }).then(
    () => 'answered',
    () => 'closed',
  );
  while (server.requests('hang').length === 0) await new Promise(setImmediate);
  await server[Symbol.asyncDispose]();
  expect(await asked).toBe('closed');
});
