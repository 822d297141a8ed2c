import type { CallToolResult, Client } from '@modelcontextprotocol/client';

export interface ToolError {
  code: string;
  message: string;
  hint: string | null;
}

export interface Status {
  session: {
    id: string;
    status: string;
    stop_reason: string | null;
    created_by: string;
    branch_name: string;
  };
  iterations: Record<string, unknown>[];
  iterationCount: number;
  runner: string;
}

/** The data of a call that must succeed. */
export async function call<T = Record<string, never>>(
  client: Client,
  name: string,
  args: object = {},
): Promise<T> {
  const result = await rawCall(client, name, args);
  if (result.isError) throw new Error(textOf(result));
  return result.structuredContent as T;
}

/** The error of a call that must fail. */
export async function failedCall(client: Client, name: string, args: object = {}): Promise<ToolError> {
  const result = await rawCall(client, name, args);
  if (!result.isError) throw new Error(`${name} did not fail: ${textOf(result)}`);
  return (result.structuredContent as { error: ToolError }).error;
}

export async function rawCall(client: Client, name: string, args: object): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: args as Record<string, unknown> })) as CallToolResult;
}

export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

/** Asks until the session has stopped. */
export async function statusAtStop(client: Client, sessionId: string): Promise<Status> {
  for (let i = 0; i < 5; i++) {
    const status = await call<Status>(client, 'pulse_status', { sessionId, waitSeconds: 10 });
    if (!['pending', 'running'].includes(status.session.status)) return status;
  }
  throw new Error(`${sessionId} does not stop`);
}
