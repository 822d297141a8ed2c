import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool, type ToolReply } from '../../src/tools/contract.ts';
import { createToolEndpoint, type ToolAccess, type ToolEndpoint } from '../../src/tools/endpoint.ts';
import { pulseSignalTool, reportUsageTool } from '../../src/tools/run-tools.ts';

const echo = defineTool({
  name: 'echo',
  description: 'says it again',
  input: z.object({ text: z.string() }),
  call: ({ text }) => ({ ok: true, output: text }),
});

interface Call {
  path?: string;
  method?: string;
  body?: string;
  headers?: Record<string, string>;
}

describe('the tool endpoint', () => {
  let endpoint: ToolEndpoint;
  let access: ToolAccess;
  let calls: [string, ToolReply][];

  beforeEach(async () => {
    endpoint = createToolEndpoint();
    calls = [];
    access = await endpoint.admit([echo], (name, reply) => calls.push([name, reply]));
  });
  afterEach(() => endpoint[Symbol.asyncDispose]());

  /** Without `fetch`: it forbids the Host and Origin that are tried here. */
  function call({ path = '/tools/echo', method = 'POST', body = '{"text":"hi"}', headers = {} }: Call = {}) {
    return new Promise<{ status: number; reply: ToolReply }>((resolve, reject) => {
      const sent = request(
        access.url,
        { method, path, headers: { authorization: `Bearer ${access.token}`, ...headers } },
        (response) => {
          let text = '';
          response.on('data', (chunk) => {
            text += chunk;
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, reply: JSON.parse(text) }));
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  it('answers on the loopback address alone, under a token of 256 bits', async () => {
    expect(access.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(Buffer.from(access.token, 'base64url')).toHaveLength(32);
    expect(await call()).toEqual({ status: 200, reply: { ok: true, output: 'hi' } });
    expect(calls).toEqual([['echo', { ok: true, output: 'hi' }]]);
  });

  it.each([
    ['no token', ''],
    ['another token', 'Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['two words', 'Bearer a b'],
  ])('refuses %s', async (_, authorization) => {
    const { status, reply } = await call({ headers: { authorization } });
    expect(status).toBe(401);
    expect(reply.ok).toBe(false);
    expect(calls).toEqual([]);
  });

  it.each([
    ['the Host of a web site', { host: 'evil.example' }],
    ['a Host that only begins like ours', { host: '127.0.0.1.evil.example' }],
    ['any Origin', { origin: 'http://127.0.0.1:1234' }],
    ['a null Origin', { origin: 'null' }],
  ])('refuses %s, even with the token', async (_, headers) => {
    expect((await call({ headers: headers as unknown as Record<string, string> })).status).toBe(403);
    expect(calls).toEqual([]);
  });

  it('accepts localhost as a Host', async () => {
    expect((await call({ headers: { host: 'localhost:1' } })).status).toBe(200);
  });

  it.each([
    ['GET', '/tools/echo'],
    ['POST', '/'],
    ['POST', '/tools/'],
    ['POST', '/tools/echo/more'],
    ['POST', '/tools/../tools/echo'],
  ])('knows no %s %s', async (method, path) => {
    expect((await call({ method, path, body: method === 'GET' ? '' : '{}' })).status).toBe(404);
  });

  it('names the run’s tools to whoever asks for another', async () => {
    const { status, reply } = await call({ path: '/tools/rm_rf' });
    expect(status).toBe(404);
    expect(reply).toMatchObject({ ok: false, reasons: ['tools of this run: echo'] });
    expect(calls).toHaveLength(1);
  });

  it('says what is wrong with an input', async () => {
    const { status, reply } = await call({ body: '{"text": 5}' });
    expect(status).toBe(200);
    expect(reply.ok).toBe(false);
    expect(reply.reasons?.[0]).toContain('text');
  });

  it.each(['{', 'hello', '[1,'])('refuses the body %j', async (body) => {
    expect((await call({ body })).status).toBe(400);
    expect(calls).toEqual([]);
  });

  it('takes 1 MB and answers, not hangs up, at more', async () => {
    const body = (length: number) => JSON.stringify({ text: 'x'.repeat(length - 11) });
    expect((await call({ body: body(1024 * 1024) })).status).toBe(200);
    for (const length of [1024 * 1024 + 1, 8 * 1024 * 1024]) {
      const { status, reply } = await call({ body: body(length) });
      expect([400, 413]).toContain(status);
      expect(reply.ok).toBe(false);
    }
    expect(calls).toHaveLength(1);
  });

  it('opens each run’s tools to its own token alone', async () => {
    const other = await endpoint.admit([{ ...echo, name: 'other' }], () => undefined);
    const headers = { authorization: `Bearer ${other.token}` };
    expect((await call({ path: '/tools/echo', headers })).status).toBe(404);
    expect((await call({ path: '/tools/other', headers })).status).toBe(200);
    expect(calls).toEqual([]);
  });

  it('is shut to a run that is over, and open to the others', async () => {
    const other = await endpoint.admit([echo], () => undefined);
    access[Symbol.dispose]();
    expect((await call()).status).toBe(401);
    expect((await call({ headers: { authorization: `Bearer ${other.token}` } })).status).toBe(200);
  });

  it('answers for a tool that breaks', async () => {
    const broken = defineTool({
      name: 'broken',
      description: '',
      input: z.object({}),
      call: () => {
        throw new Error('a secret path');
      },
    });
    const other = await endpoint.admit([broken], () => undefined);
    const headers = { authorization: `Bearer ${other.token}` };
    const { status, reply } = await call({ path: '/tools/broken', body: '', headers });
    expect(status).toBe(500);
    expect(JSON.stringify(reply)).not.toContain('secret');
  });

  it('opens no port before the first run, and closes without one', async () => {
    await createToolEndpoint()[Symbol.asyncDispose]();
    await endpoint[Symbol.asyncDispose]();
    await expect(call()).rejects.toThrow('ECONNREFUSED');
  });
});

describe('the tools of every run', () => {
  it('take a signal in any case, with or without a reason', async () => {
    const seen: unknown[] = [];
    const tool = pulseSignalTool((signal) => seen.push(signal));
    await tool.call({ signal: ' complete ' });
    await tool.call({ signal: 'BLOCKED', reason: '  a key  ' });
    await tool.call({ signal: 'continue', reason: '   ' });
    expect(seen).toEqual([
      { signal: 'COMPLETE', reason: null },
      { signal: 'BLOCKED', reason: 'a key' },
      { signal: 'CONTINUE', reason: null },
    ]);
    expect(await tool.call({ signal: 'DONE' })).toMatchObject({ ok: false });
    expect(await tool.call({})).toMatchObject({ ok: false });
    expect(await tool.call(null)).toMatchObject({ ok: false });
    expect(seen).toHaveLength(3);
  });

  it('take usage that is no less than nothing', async () => {
    const seen: unknown[] = [];
    const tool = reportUsageTool((usage) => seen.push(usage));
    expect(await tool.call({ costUsd: 0.5, inputTokens: 3, contextWindow: 200_000 })).toMatchObject({
      ok: true,
    });
    for (const bad of [{ costUsd: -1 }, { inputTokens: -1 }, { inputTokens: 1.5 }, { costUsd: '1' }]) {
      expect(await tool.call(bad), JSON.stringify(bad)).toMatchObject({ ok: false });
    }
    expect(seen).toEqual([{ costUsd: 0.5, inputTokens: 3, contextWindow: 200_000 }]);
  });
});
