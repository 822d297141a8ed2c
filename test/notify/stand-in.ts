/** A service that takes messages on loopback: it keeps what it got, and can refuse, put off, hang up, or die after taking. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Got {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** `when`: it takes so long. `break off`: it has taken the message, and its answer does not get through whole. */
export type Reply =
  | { status: number; body?: unknown; headers?: Record<string, string>; when?: Promise<unknown> }
  | 'hang up'
  | 'break off';

export interface Service extends AsyncDisposable {
  url: string;
  got: Got[];
  /** The replies to come, first things first; then it takes everything. */
  replies: Reply[];
}

export async function openService(taken: unknown = {}): Promise<Service> {
  const got: Got[] = [];
  const replies: Reply[] = [];
  const server = createServer(async (request, response) => {
    got.push({ path: request.url!, headers: request.headers, body: await text(request) });
    const reply = replies.shift() ?? { status: 200, body: taken };
    if (reply === 'hang up') return void request.socket.destroy();
    if (reply === 'break off') {
      response.writeHead(200, { 'content-length': '100' });
      return void response.write('{', () => request.socket.destroy());
    }
    await reply.when;
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(JSON.stringify(reply.body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    replies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
