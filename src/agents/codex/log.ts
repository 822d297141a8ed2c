/** codex's own log of a session tells after each call what its stream tells only at the end: the tokens, and the model. */
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
      /** From the thread's beginning on. */
      info: z.object({ total_token_usage: codexUsage }),
    }),
  }),
]);

/** What a line tells, if it tells anything of that. */
export function readCodexLog(line: string): { model?: string; usage?: z.infer<typeof codexUsage> } {
  const parsed = logLine.safeParse(readJsonObject(line));
  if (!parsed.success) return {};
  const { type, payload } = parsed.data;
  return type === 'turn_context' ? { model: payload.model } : { usage: payload.info.total_token_usage };
}

/** A session that goes on lies under the day it began; further back than this many days nobody looks. */
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
    return []; // not there yet, or not ours to read: then its stream has to do
  }
}
