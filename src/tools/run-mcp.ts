/** The tools of one run, over MCP. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Tool, ToolReply } from './contract.ts';
import { answerMcp, type McpTool } from './mcp-server.ts';

export interface RunTools {
  tools: ReadonlyMap<string, Tool>;
  onCall(name: string, reply: ToolReply): void;
  /** Asked again at the moment of the call: a run may end between a request and its effect. */
  isOpen(): boolean;
}

export function answerRunMcp(run: RunTools, request: Request): Promise<Response> {
  return answerMcp(
    {
      tools: [...run.tools.values()].map((tool) => runTool(tool, run)),
      onUnknown: (name) => run.onCall(name, { ok: false, output: `There is no tool ${name} in this run.` }),
    },
    request,
  );
}

function runTool(tool: Tool, { onCall, isOpen }: RunTools): McpTool {
  return {
    name: tool.name,
    description: tool.description,
    input: tool.input,
    async call(input) {
      if (!isOpen()) return result({ ok: false, output: 'The run is over.' });
      try {
        const reply = await tool.call(input);
        onCall(tool.name, reply);
        return result(reply);
      } catch {
        // As `POST /tools/NAME` answers 500: an agent is not told Pulse's own troubles.
        return result({ ok: false, output: 'Pulse could not answer.' });
      }
    },
  };
}

function result({ ok, output, reasons = [], pending, notice }: ToolReply): CallToolResult {
  const said = typeof output === 'string' ? output : JSON.stringify(output);
  const lines = [said, ...reasons.map((reason) => `- ${reason}`), ...(notice ? [notice] : [])];
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: {
      ok,
      output,
      reasons,
      ...(pending ? { pending } : {}),
      ...(notice ? { notice } : {}),
    },
    isError: !ok,
  };
}
