/** codex's own log of a session. It has the model, and the tokens after each call; the stream has them only at the end. */
import { type Dirent, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { readJsonObject } from '../shared/json-line.ts';
import { count } from '../shared/line-fields.ts';

export const codexUsage = z.object({
  input_tokens: count,
  cached_input_tokens: count,
  output_tokens: count,
});

const logLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('turn_context'), payload: z.object({ model: z.string() }) }),
  z.object({
    type: z.literal('event_msg'),
    payload: z.object({
      type: z.literal('token_count'),
      /** Counted from the thread's beginning. */
      info: z.object({ total_token_usage: codexUsage }),
    }),
  }),
]);

/** The model or the usage in a line of the log, if it has one. */
export function readCodexLog(line: string): { model?: string; usage?: z.infer<typeof codexUsage> } {
  const parsed = logLine.safeParse(readJsonObject(line));
  if (!parsed.success) return {};
  const { type, payload } = parsed.data;
  return type === 'turn_context' ? { model: payload.model } : { usage: payload.info.total_token_usage };
}

/** A resumed session lies under the day it began. Older days than this are not searched. */
const DAYS_LOOKED_AT = 60;

/** `sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl`, the newest days first; `null` while it is not there. */
export function findCodexLog(threadId: string, { CODEX_HOME, HOME }: NodeJS.ProcessEnv): string | null {
  const sessions = join(CODEX_HOME || join(HOME || homedir(), '.codex'), 'sessions');
  let days = 0;
  for (const year of newestFirst(sessions)) {
    for (const month of newestFirst(year)) {
      for (const day of newestFirst(month)) {
        const name = entries(day).find((entry) => entry.name.endsWith(`-${threadId}.jsonl`))?.name;
        if (name !== undefined) return join(day, name);
        if (++days >= DAYS_LOOKED_AT) return null;
      }
    }
  }
  return null;
}

function newestFirst(directory: string): string[] {
  const folders = entries(directory).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => join(directory, name)).toSorted((a, b) => (a < b ? 1 : -1));
}

function entries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return []; // not there yet, or not readable: the stream has to do
  }
}
