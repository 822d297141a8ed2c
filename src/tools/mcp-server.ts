/** MCP for a fixed set of tools. Loading this loads the SDK, so whoever may never need it imports it late. */
import { readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';

const MAX_MESSAGE_BYTES = 1024 * 1024;

export interface McpTool {
  name: string;
  title?: string;
  description: string;
  input: z.ZodType;
  annotations?: ToolAnnotations;
  /** Checks its own input. Says what went wrong in the result; does not throw. */
  call(input: unknown, signal: AbortSignal): Promise<CallToolResult>;
}

export interface McpOffer {
  tools: readonly McpTool[];
  instructions?: string;
  /** Told of a call for a tool that is not on offer. */
  onUnknown?(name: string): void;
}

/** The low-level server, because its clever brother words input errors by itself and knows no codes and hints. */
export function createMcpServer({ tools, instructions, onUnknown }: McpOffer): Server {
  const server = new Server(
    { name: 'pulse', title: 'Pulse', version: packageVersion() },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(listed) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool) return tool.call(params.arguments ?? {}, signal);
    onUnknown?.(params.name);
    const known = tools.map(({ name }) => name).join(', ');
    throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name.slice(0, 100)} here`, {
      code: 'unknown_tool',
      hint: `The tools are: ${known || 'none'}.`,
    });
  });
  return server;
}

/**
 * One HTTP request, one server, no MCP session: nothing is kept between requests, so who may do what is decided anew for
 * each, and a restart loses nobody. There is nothing to push, hence no GET stream.
 */
export async function answerMcp(offer: McpOffer, request: Request): Promise<Response> {
  if (request.method !== 'POST') {
    return jsonRpcError(405, 'Only POST: this server keeps no session and pushes nothing.', {
      allow: 'POST',
    });
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ maxRequestBodySize: MAX_MESSAGE_BYTES });
  await createMcpServer(offer).connect(transport);
  return transport.handleRequest(request);
}

/** A refusal before any message was read. */
export function jsonRpcError(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  const body = { jsonrpc: '2.0', error: { code: -32_000, message }, id: null };
  return Response.json(body, { status, headers });
}

function listed({ name, title, description, input, annotations }: McpTool) {
  const inputSchema = z.toJSONSchema(input, { io: 'input', target: 'draft-7' }) as { type: 'object' };
  return { name, title, description, inputSchema, annotations };
}

let version: string | null = null;

function packageVersion(): string {
  version ??= (
    JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  ).version;
  return version;
}
