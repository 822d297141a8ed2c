/** The session tools over stdin and stdout: one client, for as long as it holds the pipe. */
import { once } from 'node:events';
import { PassThrough, type Writable } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { StdioServerTransport, serveStdio as serveTransport } from '@modelcontextprotocol/server/stdio';
import { createMcpServer, type McpTool } from '../tools/mcp-server.ts';
import type { Caller } from './operation-tool.ts';
import { INSTRUCTIONS, operationTools } from './operation-tools.ts';

export interface StdioOptions {
  caller: Caller;
  stdin: NodeJS.ReadableStream;
  stdout: NodeJS.WritableStream;
  /** Everything that is not protocol. */
  talk(text: string): void;
  /** Ends serving as the end of stdin does. */
  signal: AbortSignal;
}

/** Returns when the client is gone and what it asked for is done: a session it started has its runner. */
export async function serveStdio({ caller, stdin, stdout, talk, signal }: StdioOptions): Promise<void> {
  const underWay = new Set<Promise<unknown>>();
  const ending = new AbortController();
  const tools = operationTools(caller).map((tool) => tracked(tool, { underWay, ending: ending.signal }));
  // Its own end would close the transport, and what was asked last would stay without an answer.
  const input = stdin.pipe(new PassThrough(), { end: false });
  const transport = new StdioServerTransport(input, stdout as Writable);
  const serving = serveTransport(() => createMcpServer({ tools, instructions: INSTRUCTIONS }), {
    transport,
    onerror: (error) => talk(`mcp: ${error.message}`),
  });
  const closed = closeOf(transport);
  await Promise.race([once(stdin, 'end'), once(stdin, 'close'), aborted(signal), closed]);
  await nextRound(); // the last messages become calls
  ending.abort();
  await Promise.allSettled(underWay);
  await nextRound(); // the last results become messages
  await serving.close();
}

/** Also without the client's doing: a message that is too long closes it. */
function closeOf(transport: StdioServerTransport): Promise<void> {
  const told = transport.onclose;
  return new Promise((resolve) => {
    transport.onclose = () => {
      told?.();
      resolve();
    };
  });
}

function tracked(
  tool: McpTool,
  { underWay, ending }: { underWay: Set<Promise<unknown>>; ending: AbortSignal },
): McpTool {
  return {
    ...tool,
    async call(input, signal) {
      const call = tool.call(input, AbortSignal.any([signal, ending]));
      underWay.add(call);
      try {
        return await call;
      } finally {
        underWay.delete(call);
      }
    },
  };
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return signal.aborted ? Promise.resolve() : once(signal, 'abort');
}
