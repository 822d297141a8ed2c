/**
 * A model server that speaks what a script says, in every protocol: Anthropic Messages, OpenAI Responses, OpenAI Chat
 * Completions and Gemini generateContent, streaming or plain. It listens on 127.0.0.1 only.
 *
 * ```ts
 * await using server = await startModelServer();
 * const url = server.script('fixes-it', [
 *   { calls: [{ tool: 'Bash', input: { command: 'echo hi > a.txt' } }] },
 *   { faults: [{ kind: 'status', status: 429, retryAfterS: 1 }], calls: [{ tool: 'pulse_signal', input: { signal: 'COMPLETE' } }] },
 *   { text: 'Done.' },
 * ]);
 * ```
 *
 * The base address carries the script: `http://127.0.0.1:PORT/s/fixes-it`. Give it to the client as it is (Anthropic,
 * Gemini) or with `/v1` behind it (OpenAI); any path that ends as the protocol's does is understood.
 *
 * **Steps.** A request gets the step whose number is the count of assistant turns with tool calls since the last real
 * message of a person. That stands in the request itself, so runs in parallel and runs that retry need no state here,
 * and a second message of a person starts the script again. Several `calls` of one step are one turn. A step without
 * calls ends the turn. A tool is named as the client offers it, or by the end of that name.
 *
 * **Faults** are counted per script and step: give each test a script name of its own. A request without tools
 * is auxiliary (a title, a summary): it gets a fixed text, and meets no faults.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { anthropic } from './anthropic.ts';
import { chat } from './chat.ts';
import { gemini } from './gemini.ts';
import { answerOf, type Json, type ModelRequest, type Protocol, type StreamEvent } from './protocol.ts';
import { responses } from './responses.ts';
import { AUXILIARY, type Fault, faultOf, OVER, type Step } from './script.ts';

export type { Fault, Step, ToolCall } from './script.ts';

const PROTOCOLS: readonly Protocol[] = [anthropic, responses, chat, gemini];

export interface SeenRequest {
  protocol: Protocol['name'];
  model: string;
  /** `null` for an auxiliary request. */
  step: number | null;
  fault: Fault['kind'] | null;
  headers: IncomingMessage['headers'];
  body: Json;
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** Sets what is said under this name, and returns its base address. Setting it again starts its counts anew. */
  script(name: string, steps: readonly Step[]): string;
  /** What was asked under this name, oldest first. */
  requests(name: string): readonly SeenRequest[];
}

interface Scripted {
  steps: readonly Step[];
  seen: SeenRequest[];
  counts: Map<number, number>;
}

export async function startModelServer(): Promise<ModelServer> {
  const scripts = new Map<string, Scripted>();
  const server = createServer((request, response) => {
    answer(request, { response, scripts }).catch((error: Error) => {
      if (!response.headersSent) sendJson(response, { status: 500, body: { error: error.message } });
      else response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    script(name, steps) {
      scripts.set(name, { steps, seen: [], counts: new Map() });
      return `${url}/s/${name}`;
    },
    requests: (name) => scripts.get(name)?.seen ?? [],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(
  message: IncomingMessage,
  { response, scripts }: { response: ServerResponse; scripts: ReadonlyMap<string, Scripted> },
): Promise<void> {
  const body = await readBody(message);
  const { pathname } = new URL(message.url ?? '/', 'http://127.0.0.1');
  const [, name = '', path = ''] = /^\/s\/([^/]+)(\/.*)?$/.exec(pathname) ?? [];
  const scripted = scripts.get(name);
  if (!scripted) return sendJson(response, { status: 404, body: { error: `no script "${name}"` } });
  const asked = readRequest(path, body);
  if (!asked) return sendJson(response, sideAnswer(message.method, path));
  const { protocol, request } = asked;
  const isAuxiliary = request.tools.length === 0;
  const index = request.toolTurns;
  const step = isAuxiliary ? AUXILIARY : (scripted.steps[index] ?? OVER);
  const count = scripted.counts.get(index) ?? 0;
  const fault = isAuxiliary ? null : faultOf(step, count);
  if (!isAuxiliary) scripted.counts.set(index, count + 1);
  scripted.seen.push({
    protocol: protocol.name,
    model: request.model,
    step: isAuxiliary ? null : index,
    fault: fault?.kind ?? null,
    headers: message.headers,
    body,
  });
  if (step.delayMs) await delay(step.delayMs);
  await reply(response, { protocol, request, step, index, fault });
}

function readRequest(path: string, body: Json): { protocol: Protocol; request: ModelRequest } | null {
  for (const protocol of PROTOCOLS) {
    const request = protocol.read(path, body);
    if (request) return { protocol, request };
  }
  return null;
}

interface Reply {
  protocol: Protocol;
  request: ModelRequest;
  step: Step;
  index: number;
  fault: Fault | null;
}

async function reply(
  response: ServerResponse,
  { protocol, request, step, index, fault }: Reply,
): Promise<void> {
  if (fault?.kind === 'reset') return void response.socket?.resetAndDestroy();
  if (fault?.kind === 'hang' && fault.after !== 'first_event') return;
  if (fault?.kind === 'status' || fault?.kind === 'usage_limit' || fault?.kind === 'overflow') {
    return sendJson(response, protocol.refuse(fault));
  }
  const whole = answerOf(step, request, index);
  if (!request.isStream) {
    return fault
      ? void response.socket?.resetAndDestroy()
      : sendJson(response, { status: 200, body: protocol.plain(whole, request) });
  }
  const events = protocol.stream(whole, request);
  const isHalf = fault?.kind === 'cut' || fault?.kind === 'stream_error';
  const sent = fault ? events.slice(0, isHalf ? Math.ceil(events.length / 2) : 1) : events;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of sent) response.write(formatEvent(event));
  if (fault?.kind === 'hang') return;
  if (fault?.kind === 'stream_error') {
    const { body } = protocol.refuse({ kind: 'status', status: 529 });
    return void response.end(formatEvent({ event: 'error', data: body }));
  }
  if (fault) {
    await delay(20); // the first half is to arrive before the end does
    return void response.socket?.resetAndDestroy();
  }
  response.end();
}

function formatEvent({ event, data }: StreamEvent): string {
  const name = event ? `event: ${event}\n` : '';
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

/** What clients ask besides: counting tokens, listing models, telling of themselves. */
function sideAnswer(method: string | undefined, path: string): { status: number; body: unknown } {
  if (path.endsWith('/count_tokens')) return { status: 200, body: { input_tokens: 100 } };
  if (path.endsWith(':countTokens')) return { status: 200, body: { totalTokens: 100 } };
  if (method === 'GET' && path.endsWith('/models')) return { status: 200, body: { data: [], models: [] } };
  return { status: 404, body: { error: { message: `nothing at ${path}`, type: 'not_found_error' } } };
}

function sendJson(
  response: ServerResponse,
  { status, headers, body }: { status: number; headers?: Record<string, string>; body: unknown },
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString() || '{}');
  } catch {
    return {}; // not JSON: then it is none of the protocols' requests
  }
}
