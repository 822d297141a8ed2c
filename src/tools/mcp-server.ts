/** MCP for a fixed set of tools. Loading this loads the SDK, so code that may not need it imports it late. */
import {
  type CallToolResult,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { packageVersion } from './package-version.ts';

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
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(listed) }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool) return tool.call(params.arguments ?? {}, mcpReq.signal);
    onUnknown?.(params.name);
    const known = tools.map(({ name }) => name).join(', ');
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no tool ${params.name.slice(0, 100)} here`,
      { code: 'unknown_tool', hint: `The tools are: ${known || 'none'}.` },
    );
  });
  return server;
}

/**
 * One HTTP request, one server, no MCP session: nothing is kept between requests, so who may do what is decided for
 * each, and a restart loses nobody. There is nothing to push, hence no GET stream. Answers clients that shake hands
 * first (until 2025-11-25) and those that do not (2026-07-28).
 */
export async function answerMcp(offer: McpOffer, request: Request): Promise<Response> {
  if (request.method !== 'POST') {
    return jsonRpcError(405, 'Only POST: this server keeps no session and pushes nothing.', {
      allow: 'POST',
    });
  }
  const handler = createMcpHandler(() => createMcpServer(offer), {
    // A call may take its time: a stream begins at once and says every 15 s that it is alive.
    responseMode: request.headers.get('mcp-method') === 'tools/call' ? 'sse' : 'auto',
    maxRequestBodySize: MAX_MESSAGE_BYTES,
  });
  return handler.fetch(request);
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
  return { name, title, description, inputSchema: inputSchemaOf(input), annotations };
}

const inputSchemas = new WeakMap<z.ZodType, { type: 'object' }>();

/** Made once: a server lives for one request, the schemas as long as the process. */
function inputSchemaOf(input: z.ZodType): { type: 'object' } {
  const known = inputSchemas.get(input);
  if (known) return known;
  const made = z.toJSONSchema(input, { io: 'input', target: 'draft-7' }) as { type: 'object' };
  inputSchemas.set(input, made);
  return made;
}
