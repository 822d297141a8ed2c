/** Lists and calls the tools of this run at its endpoint. The endpoint decides what is allowed. */
import { request } from 'node:http';
import * as z from 'zod';

export interface OfferedTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

const replySchema = z.object({
  ok: z.boolean(),
  output: z.unknown(),
  reasons: z.array(z.string()).optional(),
  /** Not known yet: the model asks again with this id. */
  pending: z.string().optional(),
  /** A message from Pulse to the model, such as that its time is nearly up. */
  notice: z.string().optional(),
});
export type ClientReply = z.infer<typeof replySchema>;

export interface ToolClient {
  list(): Promise<OfferedTool[]>;
  /** Throws only if the endpoint cannot be reached or answers nonsense: then the run is over. */
  call(name: string, input: unknown): Promise<ClientReply>;
}

const listSchema = z.object({
  result: z.object({
    tools: z.array(
      z.object({
        name: z.string(),
        description: z.string().default(''),
        inputSchema: z.record(z.string(), z.unknown()),
      }),
    ),
  }),
});

export function createToolClient({ url, token }: { url: string; token: string }): ToolClient {
  return {
    async list() {
      const body = await post(`${url}/mcp`, { token, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } });
      return listSchema.parse(JSON.parse(messageOf(body))).result.tools;
    },
    async call(name, input) {
      const path = `${url}/tools/${encodeURIComponent(name)}`;
      return replySchema.parse(JSON.parse(await post(path, { token, body: input ?? {} })));
    },
  };
}

/** MCP may answer as JSON or as a stream of one event. */
function messageOf(body: string): string {
  if (body.startsWith('{')) return body;
  const data = body.split('\n').find((line) => line.startsWith('data:'));
  return data?.slice('data:'.length).trim() ?? '';
}

/** Not `fetch`: it gives up after five minutes, and a command may take ten. */
function post(url: string, { token, body }: { token: string; body: unknown }): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const call = request(url, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
}
