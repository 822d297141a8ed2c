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
      info: z.object({
        /** Counted from the thread's beginning. */
        total_token_usage: codexUsage,
        last_token_usage: z.object({ total_tokens: count }).nullish().catch(null),
        model_context_window: z.number().positive().nullish().catch(null),
      }),
    }),
  }),
  z.object({ type: z.literal('compacted') }),
]);

/** What a line of the log tells; nothing, where it is of another kind. */
export interface CodexLogLine {
  model?: string;
  usage?: z.infer<typeof codexUsage>;
  /** Of the last call. */
  contextTokens?: number;
  contextWindow?: number;
  isCompaction?: true;
}

export function readCodexLog(line: string): CodexLogLine {
  const { data } = logLine.safeParse(readJsonObject(line));
  if (!data) return {};
  if (data.type === 'compacted') return { isCompaction: true };
  if (data.type === 'turn_context') return { model: data.payload.model };
  const { total_token_usage: usage, last_token_usage: last, model_context_window } = data.payload.info;
  return {
    usage,
    ...(last ? { contextTokens: last.total_tokens } : {}),
    ...(model_context_window ? { contextWindow: model_context_window } : {}),
  };
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
