/** The tools of an assistant: every operation of the table that has one. */
import { INSTRUCTIONS, listOperations } from '../loops/table.ts';
import type { McpTool } from '../tools/mcp-server.ts';
import { type Caller, operationTool } from './operation-tool.ts';

export { INSTRUCTIONS };

export function operationTools(caller: Caller): McpTool[] {
  const { operations = listOperations() } = caller;
  const tools = Map.groupBy(
    operations.filter(({ tool }) => tool !== undefined),
    ({ tool }) => tool!.name,
  );
  return [...tools.values()].map((variants) => operationTool(variants, caller));
}
