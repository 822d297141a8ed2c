import { request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HttpScene, serveHttp, TOKEN } from './http-server.ts';
import { call, failedCall, statusAtStop } from './tool-calls.ts';

const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };
const ASKS =
  '[ -f a ] && echo "<signal>COMPLETE</signal>" || { touch a; echo "<signal>BLOCKED: Which?</signal>"; }';
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

describe('MCP over HTTP', () => {
  let scene: HttpScene;
  const clients: Client[] = [];
  beforeEach(async () => {
    scene = await serveHttp();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await scene[Symbol.asyncDispose]();
  });

  async function connect(headers: Record<string, string> = {}, { url } = scene): Promise<Client> {
    const client = new Client({ name: 'assistant', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    clients.push(client);
    return client;
  }

  it('runs a session in the serving process, from start over an answer to complete', async () => {
    const client = await connect(AUTHORIZED);
    const { sessionId } = await call<{ sessionId: string }>(client, 'pulse_start', {
      projectName: 'scratch',
      projectPath: scene.scratch.repository,
      goal: 'Ask first',
      maxIterations: 4,
      command: ASKS,
    });
    const blocked = await statusAtStop(client, sessionId);
    expect(blocked.session).toMatchObject({ status: 'blocked', created_by: 'mcp' });
    await call(client, 'pulse_resume', { sessionId, answer: 'The second.' });
    expect((await statusAtStop(client, sessionId)).session.status).toBe('complete');
    const context = await call<{ iteration: object }>(client, 'pulse_context', { sessionId });
    expect(context.iteration).toMatchObject({
      iteration_number: 2,
      brief: expect.stringContaining('The second.'),
    });
  });

  it('changes something only for whoever shows the token; looking needs none', async () => {
    const client = await connect();
    const trusted = await connect(AUTHORIZED);
    const { repository: projectPath } = scene.scratch;
    const { sessionId } = await call<{ sessionId: string }>(trusted, 'pulse_start', {
      projectPath,
      goal: 'x',
      command: 'sleep 30',
    });
    const before = await scene.pulse.session(sessionId);
    const task = { operation: 'create', description: 'x' };
    const mail = { operation: 'send', from_agent: 'a', to_agent: 'b', body: 'x', message_type: 'x' };
    for (const [name, input] of Object.entries({
      pulse_start: { projectPath, goal: 'x', agent: 'demo' },
      pulse_pause: { sessionId },
      pulse_resume: { sessionId },
      pulse_abort: { sessionId },
      pulse_workflow_start: { projectPath, goal: 'x', agent: 'demo' },
      pulse_workflow_stop: { sessionId },
      show_report: { sessionId },
      commander_task: task,
      commander_mailbox: mail,
    })) {
      expect([name, await failedCall(client, name, input)]).toMatchObject([
        name,
        { code: 'unauthorized', hint: expect.stringContaining('Authorization') },
      ]);
    }
    expect((await call<{ sessions: unknown[] }>(client, 'pulse_list')).sessions).toHaveLength(1);
    expect(await scene.pulse.session(sessionId)).toMatchObject({ id: before.id, stop_reason: null });
    expect(await call(client, 'commander_task', { operation: 'list' })).toEqual({ tasks: [] });
    expect(await call(client, 'commander_mailbox', { operation: 'list' })).toEqual({ messages: [] });
    expect(
      (await call<{ session: { status: string } }>(trusted, 'pulse_abort', { sessionId })).session.status,
    ).toBe('aborted');
  });

  it('answers 401 to a wrong token, and beyond loopback to none', async () => {
    await expect(connect({ authorization: 'Bearer wrong' })).rejects.toMatchObject({ status: 401 });
    await using strict = await serveHttp({ isTokenRequired: true });
    await expect(connect({}, strict)).rejects.toMatchObject({ status: 401 });
    expect((await (await connect(AUTHORIZED, strict)).listTools()).tools).toHaveLength(59);
  });

  it.each([
    ['the Host of a web site', { host: 'evil.example' }, 403],
    ['a web page', { origin: 'http://evil.example' }, 403],
    ['a page of another server of this machine', { origin: 'http://127.0.0.1:1' }, 403],
    ['a page without an address', { origin: 'null' }, 403],
    ['localhost', { host: 'localhost' }, 200],
    ['its own page', { host: 'localhost:5', origin: 'http://localhost:5' }, 200],
  ])('answers %s with the right status', async (_, headers, status) => {
    expect(await post(scene.url, LIST, { ...AUTHORIZED, ...headers } as Record<string, string>)).toBe(status);
  });

  it('accepts the names it is told', async () => {
    await using known = await serveHttp({ hosts: ['pulse.lan'] });
    expect(await post(known.url, LIST, { host: 'pulse.lan:3002' })).toBe(200);
    expect(await post(known.url, LIST, { host: 'pulse.lan.evil.example' })).toBe(403);
  });

  it.each([
    ['no JSON', '{', 400],
    ['no JSON-RPC', '[1]', 400],
    ['2 MB', JSON.stringify({ x: 'x'.repeat(2 * 1024 * 1024) }), 413],
  ])('answers %s with a status', async (_, body, status) => {
    expect(await post(scene.url, body)).toBe(status);
  });

  it('answers many at a time', async () => {
    const client = await connect();
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(client, 'pulse_list')));
    expect(answers).toHaveLength(20);
    expect(await post(scene.url, '', {}, 'GET')).toBe(405);
  });
});

function post(
  url: string,
  body: string,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const accept = 'application/json, text/event-stream';
    const sent = request(
      url,
      { method, headers: { accept, 'content-type': 'application/json', ...headers } },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
