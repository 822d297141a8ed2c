/** What `pulse serve` does with the handler: a port, sessions driven in this process. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, type McpHandlerOptions } from '../../src/mcp/handler.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';

export const TOKEN = 'the-token-of-this-test';

export interface HttpScene extends AsyncDisposable {
  url: string;
  pulse: Pulse;
  scratch: Scratch;
}

export async function serveHttp(options: Partial<McpHandlerOptions> = {}): Promise<HttpScene> {
  const scratch = createScratch();
  const pulse = await createPulse({ environment: scratch.environment });
  const stop = new AbortController();
  const runs = new Set<Promise<unknown>>();
  const handler = createMcpHandler({
    pulse,
    token: TOKEN,
    runSession: (id) => void runs.add(pulse.run(id, stop.signal)),
    ...options,
  });
  const listener = getRequestListener((request) => handler(request));
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    pulse,
    scratch,
    async [Symbol.asyncDispose]() {
      stop.abort('shutdown');
      await Promise.allSettled(runs);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await pulse[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}
