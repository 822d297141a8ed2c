/** What `pulse serve` will do with the handler: a port, sessions driven in this process. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, type McpHandlerOptions } from '../../src/mcp/handler.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { readBody, sendWebResponse, toWebRequest } from '../../src/tools/web-bridge.ts';
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
  const server = createServer((request, response) => {
    readBody(request, 8 * 1024 * 1024)
      .then((body) => handler(toWebRequest(request, body ?? Buffer.alloc(0))))
      .then((answer) => sendWebResponse(answer, response))
      .catch(() => response.destroy());
  });
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
