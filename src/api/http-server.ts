/** Opens the port, and closes it without keeping anyone waiting. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { PulseError } from '../domain/errors.ts';
import type { Api } from './api.ts';

export interface HttpServer extends AsyncDisposable {
  url: string;
  /** No new connection from here on; those under way go on. */
  stopAccepting(): void;
}

/** Requests under way have so long to end before their connection is cut. */
const GRACE_MS = 1_000;

/** Throws `port_unavailable`. */
export async function listen(app: Api, { host, port }: { host: string; port: number }): Promise<HttpServer> {
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: () => unreadable(),
  });
  const server = createServer((request, response) => void listener(request, response));
  server.requestTimeout = 30_000;
  server.headersTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(unavailable(cause, { host, port })));
    server.listen(port, host, resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    stopAccepting: () => void server.close(),
    async [Symbol.asyncDispose]() {
      if (server.listening) server.close();
      const timer = new AbortController();
      await Promise.race([
        closed,
        sleep(GRACE_MS, undefined, { signal: timer.signal }).catch(() => undefined),
      ]);
      timer.abort();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Of a request that cannot even be put into a URL. */
function unreadable(): Response {
  const error = new PulseError('usage', 'The request cannot be read.', {
    hint: 'Its Host or its path is malformed.',
  });
  return Response.json({ error: error.toJSON() }, { status: 400 });
}

function unavailable(
  cause: NodeJS.ErrnoException,
  { host, port }: { host: string; port: number },
): PulseError {
  const hint =
    cause.code === 'EADDRINUSE'
      ? 'Another program listens there: choose another with --port.'
      : cause.message;
  return new PulseError('port_unavailable', `Pulse cannot listen on ${host} port ${port}.`, { hint, cause });
}
