/** One door on 127.0.0.1 for the runs of a process: only a run's own token opens it, and only to that run's tools. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Tool, ToolReply } from './contract.ts';

const MAX_BODY_BYTES = 1024 * 1024;

export interface ToolAccess extends Disposable {
  url: string;
  token: string;
}

export interface ToolEndpoint extends AsyncDisposable {
  /** Opens the door for one run until it is disposed of. `onCall` is told of every call, allowed or not. */
  admit(tools: readonly Tool[], onCall: (name: string, reply: ToolReply) => void): Promise<ToolAccess>;
}

interface Admission {
  digest: Buffer;
  tools: ReadonlyMap<string, Tool>;
  onCall: (name: string, reply: ToolReply) => void;
}

/** Listens from the first admission on, so that a process that runs no agent opens no port. */
export function createToolEndpoint(): ToolEndpoint {
  const admissions = new Set<Admission>();
  const server = createServer((request, response) => {
    answer(request, admissions).then(
      ({ status, reply }) => send(response, status, reply),
      () => send(response, 500, refusal('Pulse could not answer.')),
    );
  });
  server.requestTimeout = 30_000;
  let listening: Promise<string> | null = null;

  function listen(): Promise<string> {
    listening ??= new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        server.unref();
        resolve(`http://127.0.0.1:${port}`);
      });
    });
    return listening;
  }

  return {
    async admit(tools, onCall) {
      const url = await listen();
      const token = randomBytes(32).toString('base64url');
      const admission: Admission = {
        digest: sha256(token),
        tools: new Map(tools.map((tool) => [tool.name, tool])),
        onCall,
      };
      admissions.add(admission);
      return { url, token, [Symbol.dispose]: () => void admissions.delete(admission) };
    },
    async [Symbol.asyncDispose]() {
      if (!listening) return;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  request: IncomingMessage,
  admissions: ReadonlySet<Admission>,
): Promise<{ status: number; reply: ToolReply }> {
  if (!isLoopbackHost(request.headers.host) || request.headers.origin !== undefined) {
    return { status: 403, reply: refusal('Only a run on this machine may call its tools.') };
  }
  const admission = findAdmission(request.headers.authorization, admissions);
  if (!admission) return { status: 401, reply: refusal('The token belongs to no run that is under way.') };
  const name = /^\/tools\/([\w-]{1,64})$/.exec(request.url ?? '')?.[1];
  if (request.method !== 'POST' || !name) return { status: 404, reply: refusal('POST /tools/NAME') };
  const input = await readJson(request);
  if (!input) return { status: 400, reply: refusal('The body must be JSON of at most 1 MB.') };
  const tool = admission.tools.get(name);
  const reply = tool
    ? await tool.call(input.value)
    : refusal(`There is no tool ${name} in this run.`, [...admission.tools.keys()]);
  admission.onCall(name, reply);
  return { status: tool ? 200 : 404, reply };
}

function findAdmission(header: string | undefined, admissions: ReadonlySet<Admission>): Admission | null {
  const token = /^Bearer (\S+)$/.exec(header ?? '')?.[1];
  if (!token) return null;
  const digest = sha256(token);
  for (const admission of admissions) if (timingSafeEqual(admission.digest, digest)) return admission;
  return null;
}

async function readJson(request: IncomingMessage): Promise<{ value: unknown } | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  try {
    return { value: JSON.parse(Buffer.concat(chunks).toString() || '{}') };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function send(response: ServerResponse, status: number, reply: ToolReply): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(reply));
}

function refusal(output: string, known: readonly string[] = []): ToolReply {
  return {
    ok: false,
    output,
    reasons: known.length > 0 ? [`tools of this run: ${known.join(', ')}`] : [output],
  };
}

function isLoopbackHost(host: string | undefined): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host ?? '');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
