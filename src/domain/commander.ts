/** The commander: where a research session shows its experiments as tasks (docs/protocol/research.md, Commander). */
import { createHash } from 'node:crypto';
import * as z from 'zod';

/** The name under which research appears there. */
export const COMMANDER_AGENT = 'autoresearch';

export const COMMANDER_STATUSES = ['open', 'claimed', 'completed'] as const;

const url = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });

/** An MCP server with the tools `commander_task` and `commander_mailbox`: one that is started, or one that is there. */
export const commanderTargetSchema = z.union(
  [
    z.strictObject({ command: z.string().trim().min(1) }),
    /** The token itself stands in a variable of the environment: a config is often committed. */
    z.strictObject({ url, tokenEnv: z.string().regex(/^\w+$/).optional() }),
  ],
  { error: 'must be {command} or {url, tokenEnv?}' },
);
export type CommanderTarget = z.infer<typeof commanderTargetSchema>;

/** The same id for the same experiment, however often it is computed: a crash makes no second task. */
export function experimentTaskId(sessionId: string, experiment: number): string {
  return `cmd_${digest(`${sessionId}/exp-${experiment}`)}`;
}

/** As above, for what is said once: `status-5`, `result`. */
export function sessionMessageId(sessionId: string, what: string): string {
  return `msg_${digest(`${sessionId}/${what}`)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
