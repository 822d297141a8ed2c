/** The live stream and servers that behave badly. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { followStream } from '../../web/live/stream.ts';

const servers: Server[] = [];
afterEach(() => {
  vi.unstubAllGlobals();
  for (const server of servers.splice(0)) server.closeAllConnections();
});

it('does not ask again and again a server that says one thing and hangs up', async () => {
  let connections = 0;
  const server = createServer((_, answer) => {
    connections += 1;
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    answer.end('id: cards:1\ndata: {"type":"ready"}\n\n');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const real = fetch;
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // A browser adds the origin, and has a storage.
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => real(origin + path, init));
  vi.stubGlobal('localStorage', { getItem: () => null, removeItem: () => undefined });
  const stop = new AbortController();
  const lost: (number | null)[] = [];
  let messages = 0;
  const ended = followStream({
    watched: () => '',
    onOpen: () => undefined,
    onSign: () => undefined,
    onMessage() {
      messages += 1;
    },
    onLost: (status) => lost.push(status),
    signal: stop.signal,
  });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  stop.abort();
  await ended;
  expect(connections).toBeGreaterThan(1);
  expect(connections).toBeLessThanOrEqual(8);
  expect(messages).toBeGreaterThanOrEqual(connections - 1);
  expect(new Set(lost)).toEqual(new Set([null]));
  await new Promise((resolve) => server.close(resolve));
});
