/** What a tool call is to the guard, and what its arguments say, in the spelling of each agent. */

import * as z from 'zod';
import { quoteWord } from '../../domain/shell-words.ts';

export interface HookCall {
  /** As the agent's own stream names the call, where it does. */
  id: string | null;
  tool: string;
  /** Where it takes place; `null`: in the worktree. */
  cwd: string | null;
  scripts: string[];
  writes: { path: string; tool: string }[];
}

export type CallArguments = Record<string, unknown>;

const argumentsSchema = z.record(z.string(), z.unknown());

/** A tool that takes one text has it as `input`. */
export function argumentsOf(value: unknown): CallArguments {
  if (typeof value === 'string') return { input: value };
  return argumentsSchema.safeParse(value).data ?? {};
}

export function scriptIn(args: CallArguments): string | null {
  return text(args.command) ?? text(args.cmd) ?? words(args.command);
}

export function pathsIn(args: CallArguments): string[] {
  return [args.file_path, args.filePath, args.notebook_path, args.path].flatMap((path) => text(path) ?? []);
}

export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** `["bash", "-lc", "…"]`: quoted, so that it is read as it is run. */
function words(value: unknown): string | null {
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string')) return null;
  return value.map((word) => quoteWord(word)).join(' ');
}
