/** Connections that nothing closes, and over which nothing comes. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { talk } from '../../src/notify/inbound/socket.ts';
import { acceptSockets, type Peer } from './web-socket-server.ts';

async function listen(onOpen: (peer: Peer) => void): Promise<string> {
  const server = createServer();
  acceptSockets(server, { onOpen, onMessage: () => undefined });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const heard: unknown[] = [];
const how = {
  ...{ helloMs: 60_000, silenceMs: 60_000, signal: new AbortController().signal },
  isHello: ({ type }: Record<string, unknown>) => type === 'hello',
  onMessage: (message: unknown) => void heard.push(message),
};

it('one on which nobody says hello is left soon, whatever else is said', async () => {
  const url = await listen((peer) => {
    const talking = setInterval(() => peer.send({ type: 'nonsense' }), 50);
    onTestFinished(() => clearInterval(talking));
  });
  const beganMs = Date.now();
  expect(await talk({ ...how, url, helloMs: 500 })).toMatchObject({ hasSpoken: true });
  expect(Date.now() - beganMs).toBeLessThan(5_000);
});

it('one that was pinged is left when the pings stop: it was cut without a word', async () => {
  let peer: Peer | null = null;
  let isOver = false;
  const url = await listen((opened) => {
    peer = opened;
    opened.send({ type: 'hello' });
  });
  const over = talk({ ...how, url, pingMs: 600 }).finally(() => {
    isOver = true;
  });
  await vi.waitUntil(() => heard.some((message) => (message as { type?: string }).type === 'hello'));
  const beganMs = Date.now();
  // Longer than it has patience for, in steps that are shorter.
  const pinging = setInterval(() => peer!.ping(), 100);
  onTestFinished(() => clearInterval(pinging));
  await vi.waitUntil(() => Date.now() - beganMs > 1_500, { timeout: 5_000 });
  clearInterval(pinging);
  expect(isOver).toBe(false);
  await over;
  expect(Date.now() - beganMs).toBeLessThan(8_000);
});
