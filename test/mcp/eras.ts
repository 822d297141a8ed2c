/**
 * The two ways to speak MCP: a handshake first (until 2025-11-25), or every request for itself (2026-07-28). And the
 * three places where Pulse is spoken to.
 */
import { request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { mcpConfig } from '../../src/agents/claude/mcp-config.ts';
import { createToolEndpoint, type ToolAccess } from '../../src/tools/endpoint.ts';
import { pulseSignalTool, reportUsageTool } from '../../src/tools/run-tools.ts';
import { OWN_NODE, PROGRAM } from '../e2e/scene.ts';
import { createScratch } from '../fakes/scratch.ts';
import { serveHttp, TOKEN } from './http-server.ts';

export const MODERN = '2026-07-28';
export const OLDER = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
export type Era = 'a handshake' | 'no handshake';
export const ERAS: Era[] = ['a handshake', 'no handshake'];

export interface Place extends AsyncDisposable {
  connect(era: Era): Promise<Client>;
}

export interface HttpPlace extends Place {
  url: string;
  authorization: string;
}

export interface RunPlace extends HttpPlace {
  access: ToolAccess;
  signals: unknown[];
}

/** The tools of a run, as an agent's CLI finds them: from the config it is given. */
export async function runPlace(): Promise<RunPlace> {
  const endpoint = createToolEndpoint();
  const signals: unknown[] = [];
  const tools = [pulseSignalTool((signal) => signals.push(signal)), reportUsageTool(() => undefined)];
  const access = await endpoint.admit(tools, () => undefined);
  const { url, headers } = mcpConfig(access).mcpServers.pulse;
  const place = httpPlace(url, headers.Authorization, () => endpoint[Symbol.asyncDispose]());
  return { ...place, access, signals };
}

/** `/mcp` of `pulse serve`. */
export async function servePlace(): Promise<HttpPlace> {
  const scene = await serveHttp();
  return httpPlace(scene.url, `Bearer ${TOKEN}`, () => scene[Symbol.asyncDispose]());
}

/** `pulse mcp`. */
export async function stdioPlace(): Promise<Place> {
  const scratch = createScratch();
  const env = { PATH: process.env.PATH!, HOME: scratch.path, PULSE_HOME: scratch.home };
  return placeOf(
    () => new StdioClientTransport({ command: OWN_NODE, args: [PROGRAM, 'mcp'], env }),
    async () => scratch[Symbol.dispose](),
  );
}

function httpPlace(url: string, authorization: string, close: () => PromiseLike<void>): HttpPlace {
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } });
  return { ...placeOf(transport, close), url, authorization };
}

function placeOf(
  transport: () => StreamableHTTPClientTransport | StdioClientTransport,
  close: () => PromiseLike<void>,
): Place {
  const clients: Client[] = [];
  return {
    async connect(era) {
      const client = clientOf(era);
      clients.push(client);
      await client.connect(transport());
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close();
      await close();
    },
  };
}

function clientOf(era: Era): Client {
  const who = { name: 'assistant', version: '1' };
  return era === 'a handshake'
    ? new Client(who)
    : new Client(who, { versionNegotiation: { mode: { pin: MODERN } } });
}

export interface Message {
  jsonrpc: '2.0';
  id: number;
  method: string;
  params: Record<string, unknown>;
}

export function message(method: string, params: Record<string, unknown> = {}, id = 1): Message {
  return { jsonrpc: '2.0', id, method, params };
}

/** The same, for itself: it says which revision it speaks. */
export function forItself({ params, ...rest }: Message, version = MODERN): Message {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { ...rest, params: { ...params, _meta } };
}

/** What 2026-07-28 wants in the headers of such a message. */
export function headersOf({ method, params }: Message, version = MODERN): Record<string, string> {
  const headers: Record<string, string> = { 'mcp-protocol-version': version, 'mcp-method': method };
  return typeof params.name === 'string' ? { ...headers, 'mcp-name': params.name } : headers;
}

export interface Answer {
  status: number;
  type: string | undefined;
  text: string;
  /** The one message in it, from JSON or an event. */
  readonly body: {
    id: number | null;
    result?: never;
    error?: { code: number; message: string; data?: never };
  };
}

export interface Sent {
  body?: string;
  method?: string;
  headers?: Record<string, string>;
}

/** Without the SDK, for what no client of its would send. */
export function post({ url, authorization }: HttpPlace, sent: Sent): Promise<Answer> {
  const headers = {
    authorization,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...sent.headers,
  };
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: sent.method ?? 'POST', headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'],
          text,
          get body() {
            return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
          },
        }),
      );
    });
    asked.on('error', reject);
    asked.end(sent.body);
  });
}

/** As a client of 2026-07-28 sends it; `headers` stand above those that belong to the message. */
export function ask(place: HttpPlace, asked: Message, headers: Record<string, string> = {}): Promise<Answer> {
  const body = JSON.stringify(forItself(asked));
  return post(place, { body, headers: { ...headersOf(asked), ...headers } });
}
