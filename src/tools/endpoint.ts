/**
 * One door on 127.0.0.1 for the runs of a process: only a run's own token opens it, and only to that run's tools.
 * `POST /tools/NAME` for shells, `/mcp` for agents that speak MCP, `POST /guard/AGENT` for agents' hooks.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Tool, ToolReply } from './contract.ts';
import type { CallGuard } from './guard/call-guard.ts';
import type { HookAnswer } from './guard/hook-formats.ts';
import { bearerToken, isLoopbackHost, isToken, tokenDigest } from './request-guard.ts';
import { readBody, sendWebResponse, toWebRequest } from './web-bridge.ts';

const MAX_BODY_BYTES = 1024 * 1024;

export interface ToolAccess extends Disposable {
  url: string;
  token: string;
}

export interface ToolEndpoint extends AsyncDisposable {
  /**
   * Opens the door for one run until it is disposed of. `onCall` is told of every call, allowed or not; `guard` judges
   * the calls of the agent's own tools.
   */
  admit(
    tools: readonly Tool[],
    onCall: (name: string, reply: ToolReply) => void,
    guard?: CallGuard,
  ): Promise<ToolAccess>;
  /** Loads what answers MCP, which takes a tenth of a second, before anybody asks. */
  expectMcp(): void;
}

interface Admission {
  digest: Buffer;
  tools: ReadonlyMap<string, Tool>;
  onCall: (name: string, reply: ToolReply) => void;
  guard: CallGuard | null;
}

/** Listens from the first admission on, so that a process that runs no agent opens no port. */
export function createToolEndpoint(): ToolEndpoint {
  const admissions = new Set<Admission>();
  const server = createServer((request, response) => {
    answer(request, { admissions, response }).catch(() => {
      if (response.headersSent) response.destroy();
      else send(response, 500, refusal('Pulse could not answer.'));
    });
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
    async admit(tools, onCall, guard) {
      const url = await listen();
      const token = randomBytes(32).toString('base64url');
      const admission: Admission = {
        digest: tokenDigest(token),
        tools: new Map(tools.map((tool) => [tool.name, tool])),
        onCall,
        guard: guard ?? null,
      };
      admissions.add(admission);
      return { url, token, [Symbol.dispose]: () => void admissions.delete(admission) };
    },
    expectMcp: () => void loadMcp(),
    async [Symbol.asyncDispose]() {
      if (!listening) return;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  request: IncomingMessage,
  { admissions, response }: { admissions: ReadonlySet<Admission>; response: ServerResponse },
): Promise<void> {
  if (!isLoopbackHost(request.headers.host) || request.headers.origin !== undefined) {
    return send(response, 403, refusal('Only a run on this machine may call its tools.'));
  }
  const admission = findAdmission(request.headers.authorization, admissions);
  if (!admission) return send(response, 401, NO_RUN);
  const body = await readBody(request, MAX_BODY_BYTES);
  // A body may take its time, and the run may be over when it has come.
  if (!admissions.has(admission)) return send(response, 401, NO_RUN);
  if (!body) return send(response, 413, refusal('The body may have at most 1 MB.'));
  if (request.url === '/mcp') {
    const { answerRunMcp } = await loadMcp();
    const run = { ...admission, isOpen: () => admissions.has(admission) };
    return sendWebResponse(await answerRunMcp(run, toWebRequest(request, body)), response);
  }
  const hook = /^\/guard\/([a-z]{1,32})$/.exec(request.url ?? '')?.[1];
  if (request.method === 'POST' && hook) {
    const verdict = (await admission.guard?.answer(hook, parseJson(body)?.value)) ?? null;
    return verdict ? send(response, 200, verdict) : send(response, 404, refusal('There is no such guard.'));
  }
  const name = /^\/tools\/([\w-]{1,64})$/.exec(request.url ?? '')?.[1];
  if (request.method !== 'POST' || !name) return send(response, 404, refusal('POST /tools/NAME, or /mcp'));
  const input = parseJson(body);
  if (!input) return send(response, 400, refusal('The body must be JSON.'));
  const { status, reply } = await callTool(admission, { name, input: input.value });
  send(response, status, reply);
}

function loadMcp() {
  return import('./run-mcp.ts');
}

async function callTool(
  { tools, onCall }: Admission,
  { name, input }: { name: string; input: unknown },
): Promise<{ status: number; reply: ToolReply }> {
  const tool = tools.get(name);
  const reply = tool
    ? await tool.call(input)
    : refusal(`There is no tool ${name} in this run.`, [...tools.keys()]);
  onCall(name, reply);
  return { status: tool ? 200 : 404, reply };
}

function findAdmission(header: string | undefined, admissions: ReadonlySet<Admission>): Admission | null {
  const token = bearerToken(header);
  for (const admission of admissions) if (isToken(token, admission.digest)) return admission;
  return null;
}

function parseJson(body: Buffer): { value: unknown } | null {
  try {
    return { value: JSON.parse(body.toString() || '{}') };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function send(response: ServerResponse, status: number, reply: ToolReply | HookAnswer): void {
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

const NO_RUN = refusal('The token belongs to no run that is under way.');
