/** gemini's own log of a session. It has the tokens of each call; the stream has only the total, at the end. */
import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { readJsonObject } from '../shared/json-line.ts';
import { count, text } from '../shared/line-fields.ts';
import type { GeminiTokens } from './lines.ts';

const logLine = z.object({
  type: z.literal('gemini'),
  id: z.string(),
  timestamp: z.iso.datetime(),
  model: text,
  tokens: z.object({ input: count, output: count, cached: count, total: count }),
});

export interface LoggedCall {
  /** gemini writes the line again when the call's tools have answered. */
  id: string;
  atMs: number;
  model: string | null;
  tokens: GeminiTokens;
}

export function readGeminiLog(line: string): LoggedCall | null {
  const parsed = logLine.safeParse(readJsonObject(line));
  if (!parsed.success) return null;
  const { id, timestamp, model = null, tokens } = parsed.data;
  const { input: input_tokens, output: output_tokens, cached, total: total_tokens } = tokens;
  return {
    id,
    atMs: Date.parse(timestamp),
    model,
    tokens: { input_tokens, output_tokens, cached, total_tokens },
  };
}

/** `.gemini/tmp/<project>/chats/session-<time>-<beginning of the id>.jsonl`; the newest, if several projects have one. */
export function findGeminiLog(
  sessionId: string,
  { GEMINI_CLI_HOME, HOME }: NodeJS.ProcessEnv,
): string | null {
  const projects = join(GEMINI_CLI_HOME || HOME || homedir(), '.gemini/tmp');
  const end = `-${sessionId.slice(0, 8)}.jsonl`;
  const found = namesIn(projects).flatMap((project) => {
    const chats = join(projects, project, 'chats');
    return namesIn(chats)
      .filter((name) => name.startsWith('session-') && name.endsWith(end))
      .map((name) => join(chats, name));
  });
  return found.toSorted((a, b) => changedMs(b) - changedMs(a))[0] ?? null;
}

function changedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // not there yet, or not readable: the stream has to do
  }
}
