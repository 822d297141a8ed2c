/** What goes over HTTP, message by message: the rules of 2026-07-28 and the handshakes before it. */
import { describe, expect, it } from 'vitest';
import {
  ask,
  forItself,
  type HttpPlace,
  headersOf,
  MODERN,
  message,
  OLDER,
  post,
  runPlace,
  servePlace,
} from './eras.ts';

const LIST = message('tools/list');
const DISCOVER = message('server/discover');

interface Case {
  where: string;
  open(): Promise<HttpPlace>;
  tool: string;
  good: Record<string, unknown>;
  data: Record<string, unknown>;
}

const CASES: Case[] = [
  {
    ...{ where: 'the tools of a run', open: runPlace },
    ...{ tool: 'pulse_signal', good: { signal: 'COMPLETE' }, data: { ok: true } },
  },
  {
    ...{ where: '/mcp of pulse serve', open: servePlace },
    ...{ tool: 'pulse_list', good: { limit: 3 }, data: { sessions: [] } },
  },
];

describe.each(CASES)('$where', ({ open, tool, good, data }) => {
  const call = message('tools/call', { name: tool, arguments: good });

  it('needs no handshake: it is discovered, lists and is called', async () => {
    await using place = await open();
    const discovered = await ask(place, DISCOVER);
    expect(discovered).toMatchObject({ status: 200, type: 'application/json' });
    expect(discovered.body.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [MODERN],
      capabilities: { tools: {} },
    });
    const listed = await ask(place, LIST);
    expect(listed).toMatchObject({ status: 200, type: 'application/json' });
    expect(listed.text).toContain(tool);
    const called = await ask(place, call);
    expect(called).toMatchObject({ status: 200, type: 'text/event-stream' });
    expect(called.body).toMatchObject({ id: 1, result: { resultType: 'complete', structuredContent: data } });
  });

  it.each(OLDER)('goes on with clients of %s', async (version) => {
    await using place = await open();
    const clientInfo = { name: 'old', version: '1' };
    const hello = message('initialize', { protocolVersion: version, capabilities: {}, clientInfo });
    expect((await post(place, { body: JSON.stringify(hello) })).body.result).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: 'pulse' },
    });
    const headers: Record<string, string> = version < '2025-06-18' ? {} : { 'mcp-protocol-version': version };
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(await post(place, { body, headers })).toMatchObject({ status: 202, text: '' });
    const listed = await post(place, { body: JSON.stringify(LIST), headers });
    expect(listed.body).toMatchObject({ id: 1, result: { tools: expect.any(Array) } });
    expect(listed.text).not.toContain('resultType');
    const called = await post(place, { body: JSON.stringify(call), headers });
    expect(called.body).toMatchObject({ id: 1, result: { structuredContent: data } });
  });

  it('names its revision to whoever speaks another', async () => {
    await using place = await open();
    const body = JSON.stringify(forItself(LIST, '2031-01-01'));
    const answer = await post(place, { body, headers: headersOf(LIST, '2031-01-01') });
    expect(answer).toMatchObject({
      status: 400,
      body: { id: 1, error: { code: -32022, data: { supported: [MODERN], requested: '2031-01-01' } } },
    });
    const old = await post(place, {
      body: JSON.stringify(LIST),
      headers: { 'mcp-protocol-version': '2023-01-01' },
    });
    expect(old).toMatchObject({ status: 400, body: { error: { code: -32000 } } });
  });

  it.each([
    ['a header of another method', { 'mcp-method': 'tools/call' }],
    ['a header of another revision', { 'mcp-protocol-version': '2025-11-25' }],
    ['a header of another tool', { 'mcp-name': 'another' }],
  ])('refuses %s than the message has', async (_, headers) => {
    await using place = await open();
    const asked = 'mcp-name' in headers ? call : LIST;
    const answer = await ask(place, asked, headers as unknown as Record<string, string>);
    expect(answer).toMatchObject({ status: 400, body: { id: 1, error: { code: -32020 } } });
  });

  it('refuses a message that lacks the headers it must have', async () => {
    await using place = await open();
    const body = JSON.stringify(forItself(LIST));
    const answer = await post(place, { body, headers: { 'mcp-protocol-version': MODERN } });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: -32020 } } });
  });

  it('answers 404 to a method it has not, and ends a subscription to nothing', async () => {
    await using place = await open();
    expect(await ask(place, message('resources/list'))).toMatchObject({
      status: 404,
      body: { id: 1, error: { code: -32601 } },
    });
    const wish = { notifications: { toolsListChanged: true } };
    const { status, text } = await ask(place, message('subscriptions/listen', wish));
    expect(status).toBe(200);
    expect(text).toMatch(/acknowledged.*"notifications":\{\}.*"resultType":"complete"/s);
  });

  it.each(['GET', 'DELETE'])('answers %s with 405, whatever revision is named', async (method) => {
    await using place = await open();
    expect(await post(place, { method })).toMatchObject({ status: 405 });
    const headers = { 'mcp-protocol-version': MODERN };
    expect(await post(place, { method, headers })).toMatchObject({ status: 405 });
  });

  it('shows a wrong token nothing, and does nothing for it', async () => {
    await using place = await open();
    for (const asked of [DISCOVER, LIST, call]) {
      const { status, text } = await ask({ ...place, authorization: 'Bearer wrong' }, asked);
      expect(status).toBe(401);
      expect(text).not.toContain(tool);
    }
  });

  it.each([
    ['no JSON', '{'],
    ['no message', '{"hello": 1}'],
    ['two at once', JSON.stringify([forItself(LIST), forItself({ ...LIST, id: 2 })])],
  ])('answers %s with 400', async (_, body) => {
    await using place = await open();
    expect(await post(place, { body, headers: headersOf(LIST) })).toMatchObject({ status: 400 });
  });
});

it('a run that is over answers nothing, with or without a handshake', async () => {
  await using place = await runPlace();
  const call = message('tools/call', { name: 'pulse_signal', arguments: { signal: 'COMPLETE' } });
  place.access[Symbol.dispose]();
  for (const asked of [DISCOVER, LIST, call]) {
    expect((await ask(place, asked)).status).toBe(401);
    expect((await post(place, { body: JSON.stringify(asked) })).status).toBe(401);
  }
  expect(place.signals).toEqual([]);
});
