/** What each agent's hook tells before a tool call, and the answer it understands. */
import * as z from 'zod';

export const HOOK_FORMATS = ['claude', 'codex', 'gemini', 'qwen', 'pi'] as const;
export type HookFormat = (typeof HOOK_FORMATS)[number];

export interface HookCall {
  /** As the agent's own stream names the call, where it does. */
  id: string | null;
  tool: string;
  /** Where it takes place; `null`: in the worktree. */
  cwd: string | null;
  scripts: string[];
  writes: { path: string; tool: string }[];
}

export type HookAnswer = Record<string, unknown>;

export function isHookFormat(name: string): name is HookFormat {
  return (HOOK_FORMATS as readonly string[]).includes(name);
}

/** What cannot be read is a call of which nothing is known, and is let pass: a guard against accidents blocks no work. */
export function readHook(format: HookFormat, input: unknown): HookCall {
  const call = inputSchema.safeParse(input).data;
  const tool = call?.tool_name ?? '';
  const args = argumentsSchema.safeParse(call?.tool_input).data ?? {};
  const script = text(args.command) ?? text(args.cmd) ?? words(args.command);
  // codex gives a patch as a command.
  const patch = text(args.input) ?? script;
  const paths = [args.file_path, args.notebook_path, args.path].flatMap((path) => text(path) ?? []);
  const isWriter = WRITERS[format].test(tool);
  return {
    id: HAS_IDS.includes(format) ? (call?.tool_use_id ?? null) : null,
    tool,
    cwd: text(args.workdir) ?? text(args.dir_path) ?? text(args.directory) ?? call?.cwd ?? null,
    scripts: SHELLS.test(tool) && script !== null ? [script] : [],
    writes: [
      ...(isWriter ? paths : []),
      ...(PATCH_TOOL.test(tool) && patch !== null ? patchedPaths(patch) : []),
    ].map((path) => ({ path, tool })),
  };
}

export function answerHook(format: HookFormat, reasons: readonly string[]): HookAnswer {
  if (reasons.length === 0) return {};
  const reason = `Not done: this is not allowed in a run of Pulse. ${reasons.join(' ')} ${INSTEAD}`;
  if (format === 'gemini') return { decision: 'deny', reason };
  if (format === 'pi') return { reason };
  const hookSpecificOutput = {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: reason,
  };
  return { hookSpecificOutput };
}

const INSTEAD =
  'Work inside the worktree and leave publishing to Pulse: commits of yours are kept. If the task cannot be done without it, end with BLOCKED and say why.';

const inputSchema = z.looseObject({
  tool_name: z.string().optional(),
  tool_input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  cwd: z.string().optional(),
});
const argumentsSchema = z.record(z.string(), z.unknown());

/** qwen's hooks have ids of their own, the others' have none. */
const HAS_IDS: readonly HookFormat[] = ['claude'];

const SHELLS = /^(bash|shell|shell_command|exec_command|local_shell|run_shell_command)$/i;
const PATCH_TOOL = /^apply_patch$/;
const CLAUDE_WRITERS = /^(Write|Edit|MultiEdit|NotebookEdit)$/;
const GEMINI_WRITERS = /^(write_file|replace|edit|notebook_edit)$/;
const PI_WRITERS = /^(write|edit)$/;
const WRITERS: Record<HookFormat, RegExp> = {
  claude: CLAUDE_WRITERS,
  codex: CLAUDE_WRITERS,
  gemini: GEMINI_WRITERS,
  qwen: GEMINI_WRITERS,
  pi: PI_WRITERS,
};

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** `["bash", "-lc", "…"]`: quoted, so that it is read as it is run. */
function words(value: unknown): string | null {
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string')) return null;
  return value.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

function patchedPaths(patch: string): string[] {
  return [...patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map(([, path]) =>
    path!.trim(),
  );
}
