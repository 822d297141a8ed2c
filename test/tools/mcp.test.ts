import { execFileSync } from 'node:child_process';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { mcpConfig } from '../../src/agents/claude/mcp-config.ts';
import { defineTool, type Tool, type ToolReply } from '../../src/tools/contract.ts';
import { createToolEndpoint, type ToolAccess, type ToolEndpoint } from '../../src/tools/endpoint.ts';
import { pulseSignalTool, reportUsageTool } from '../../src/tools/run-tools.ts';

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const SIGNAL = message('pulse_signal', { signal: 'COMPLETE' });

describe('the tools of a run over MCP', () => {
  let endpoint: ToolEndpoint;
  let access: ToolAccess;
  let calls: [string, ToolReply][];
  let signals: unknown[];
  const clients: Client[] = [];

  beforeEach(async () => {
    endpoint = createToolEndpoint();
    calls = [];
    signals = [];
    access = await admit([
      pulseSignalTool((signal) => signals.push(signal)),
      reportUsageTool(() => undefined),
    ]);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await endpoint[Symbol.asyncDispose]();
  });

  function admit(tools: Tool[]): Promise<ToolAccess> {
    return endpoint.admit(tools, (name, reply) => calls.push([name, reply]));
  }

  /** As an agent's CLI would: from the config it is given. */
  async function agent(of: ToolAccess = access): Promise<Client> {
    const { url, headers } = mcpConfig(of).mcpServers.pulse;
    const client = new Client({ name: 'agent', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    clients.push(client);
    return client;
  }

  function post(body: string, headers: Record<string, string> = {}, method = 'POST') {
    return new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(
        `${access.url}/mcp`,
        {
          method,
          headers: {
            authorization: `Bearer ${access.token}`,
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            ...headers,
          },
        },
        (response) => {
          let text = '';
          response.on('data', (chunk) => {
            text += chunk;
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  it('are listed with their schemas, and called', async () => {
    const client = await agent();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['pulse_signal', 'report_usage']);
    expect(tools[0]!.inputSchema).toMatchObject({
      type: 'object',
      required: ['signal'],
      properties: { signal: { enum: ['CONTINUE', 'COMPLETE', 'BLOCKED'] } },
    });
    const result = await client.callTool({
      name: 'pulse_signal',
      arguments: { signal: 'blocked', reason: 'Key?' },
    });
    expect(result.isError).toBe(false);
    expect(result.structuredContent).toMatchObject({ ok: true });
    expect(signals).toEqual([{ signal: 'BLOCKED', reason: 'Key?' }]);
    expect(calls).toEqual([['pulse_signal', expect.objectContaining({ ok: true })]]);
  });

  it('say all that is wrong with an input, and do nothing', async () => {
    const client = await agent();
    const result = await client.callTool({ name: 'pulse_signal', arguments: { signal: 'DONE', reason: 5 } });
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({
      ok: false,
      reasons: [expect.stringContaining('signal'), expect.stringContaining('reason')],
    });
    expect(signals).toEqual([]);
  });

  it('are only those of the token’s run, whatever another run lists', async () => {
    const other = await admit([reportUsageTool(() => undefined)]);
    const client = await agent(other);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['report_usage']);
    const refused = client.callTool({ name: 'pulse_signal', arguments: { signal: 'COMPLETE' } });
    await expect(refused).rejects.toMatchObject({ code: -32602, data: { code: 'unknown_tool' } });
    expect(signals).toEqual([]);
    expect(calls).toEqual([['pulse_signal', expect.objectContaining({ ok: false })]]);
  });

  it.each([
    ['no token', { authorization: '' }, 401],
    ['another token', { authorization: 'Bearer AAAA' }, 401],
    ['the Host of a web site', { host: 'evil.example' }, 403],
    ['an Origin', { origin: 'http://127.0.0.1:1' }, 403],
  ])('are refused to %s', async (_, headers, status) => {
    expect((await post(SIGNAL, headers as Record<string, string>)).status).toBe(status);
    expect((await post(LIST, headers as Record<string, string>)).text).not.toContain('pulse_signal');
    expect(signals).toEqual([]);
  });

  it('are shut when the run is over, also to a client that had listed them', async () => {
    const client = await agent();
    await client.listTools();
    access[Symbol.dispose]();
    await expect(
      client.callTool({ name: 'pulse_signal', arguments: { signal: 'COMPLETE' } }),
    ).rejects.toThrow();
    expect((await post(SIGNAL)).status).toBe(401);
    expect(signals).toEqual([]);
  });

  it('are shut to a request that was under way when the run ended', async () => {
    const socket = connect(Number(new URL(access.url).port), '127.0.0.1');
    const head = [
      'POST /mcp HTTP/1.1',
      'Host: 127.0.0.1',
      `Authorization: Bearer ${access.token}`,
      'Accept: application/json, text/event-stream',
      'Content-Type: application/json',
      `Content-Length: ${SIGNAL.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${SIGNAL.slice(0, 10)}`);
    await sleep(100);
    access[Symbol.dispose]();
    socket.write(SIGNAL.slice(10));
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1\.1 401/);
    expect(signals).toEqual([]);
  });

  it('are shut to the second of two calls when the run ended in the first', async () => {
    const ends = defineTool({
      name: 'ends',
      description: '',
      input: z.object({}),
      call: () => {
        other[Symbol.dispose]();
        return { ok: true, output: '' };
      },
    });
    const other = await admit([ends, pulseSignalTool((signal) => signals.push(signal))]);
    const both = `[${message('ends', {})},${SIGNAL.replace('"id":1', '"id":2')}]`;
    const { status, text } = await post(both, { authorization: `Bearer ${other.token}` });
    expect(status).toBe(200);
    expect(text).toContain('The run is over.');
    expect(signals).toEqual([]);
  });

  it.each([
    ['no JSON', '{', 400],
    ['no JSON-RPC', '{"hello": 1}', 400],
    ['nothing', '', 400],
    ['8 MB', `{"x":"${'x'.repeat(8 * 1024 * 1024)}"}`, 413],
  ])('answer %s with a status, and go on', async (_, body, status) => {
    expect((await post(body)).status).toBe(status);
    expect((await post(SIGNAL)).status).toBe(200);
    expect(signals).toHaveLength(1);
  });

  it('need no initialize and push nothing', async () => {
    expect((await post(LIST)).text).toContain('pulse_signal');
    expect((await post('', {}, 'GET')).status).toBe(405);
    expect((await post('', {}, 'DELETE')).status).toBe(405);
  });

  it('tell an agent nothing of what breaks inside Pulse', async () => {
    const broken = defineTool({
      name: 'broken',
      description: '',
      input: z.object({}),
      call: () => {
        throw new Error('a secret path');
      },
    });
    const result = await (await agent(await admit([broken]))).callTool({ name: 'broken' });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result)).not.toContain('secret');
  });
});

it('a process whose runs never use MCP does not load it', () => {
  const root = new URL('../../', import.meta.url);
  const script = `
    import { registerHooks } from 'node:module';
    const seen = [];
    registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });
    await import('./src/pulse.ts');
    await import('./src/cli/main.ts');
    console.log(JSON.stringify(seen));`;
  const loaded = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as string[];
  expect(loaded.some((url) => url.endsWith('/tools/endpoint.ts'))).toBe(true);
  expect(loaded.filter((url) => url.includes('modelcontextprotocol'))).toEqual([]);
});

function message(name: string, args: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
}
