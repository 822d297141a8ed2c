/** The lines of `codex exec --json`, field by field. An item of an unknown kind counts as a tool call. */
import * as z from 'zod';
import { text } from '../shared/line-fields.ts';
import { codexUsage } from './log.ts';

const item = z.object({
  id: z.string(),
  type: z.string(),
  status: text,
  /** agent_message */
  text: text,
  /** command_execution */
  command: text,
  exit_code: z.number().nullish().catch(null),
  aggregated_output: text,
  /** mcp_tool_call */
  server: text,
  tool: text,
  /** file_change */
  changes: z
    .array(z.object({ path: z.string() }))
    .nullish()
    .catch(null),
  /** web_search */
  query: text,
});
export type CodexItem = z.infer<typeof item>;

export const codexLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thread.started'), thread_id: z.string() }),
  z.object({ type: z.literal('turn.started') }),
  z.object({ type: z.literal('item.started'), item }),
  z.object({ type: z.literal('item.updated'), item }),
  z.object({ type: z.literal('item.completed'), item }),
  z.object({
    type: z.literal('turn.completed'),
    usage: codexUsage.nullish().catch(null),
  }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
  z.object({ type: z.literal('error'), message: z.string() }),
]);
export type CodexLine = z.infer<typeof codexLine>;
