/** What each agent's hook tells before a tool call, and the answer it understands. */
import * as z from 'zod';
import { readAcpCall } from './acp-call.ts';
import { argumentsOf, type HookCall, pathsIn, scriptIn, text } from './call-arguments.ts';

export const HOOK_FORMATS = [
  'claude',
  'codex',
  'gemini',
  'qwen',
  'pi',
  'opencode',
  'copilot',
  'acp',
] as const;
export type HookFormat = (typeof HOOK_FORMATS)[number];

export type HookAnswer = Record<string, unknown>;

export function isHookFormat(name: string): name is HookFormat {
  return (HOOK_FORMATS as readonly string[]).includes(name);
}

/** What cannot be read is a call of which nothing is known, and is let pass: a guard against accidents blocks no work. */
export function readHook(format: HookFormat, input: unknown): HookCall {
  if (format === 'acp') return readAcpCall(input);
  const call = inputSchema.safeParse(input).data;
  const tool = call?.tool_name ?? call?.toolName ?? '';
  const args = argumentsOf(call?.tool_input ?? call?.toolArgs);
  const script = scriptIn(args);
  // codex gives a patch as a command.
  const patch = text(args.input) ?? text(args.patchText) ?? script;
  const paths = pathsIn(args);
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

/** The hook asks after a call was made. */
export function isAfterCall(input: unknown): boolean {
  return inputSchema.safeParse(input).data?.hook_event_name === AFTER_CALL;
}

/** News for the agent beside the result of its call; `null`: there are none. */
export function answerAfterCall(format: HookFormat, news: string | null): HookAnswer {
  if (news === null) return {};
  if (MODULES.includes(format)) return { news };
  return { hookSpecificOutput: { hookEventName: AFTER_CALL, additionalContext: news } };
}

const AFTER_CALL = 'PostToolUse';

/** `isForbidden`: by the guard, in every run; else by the rule of this one, whose reasons say what to do instead. */
export function answerHook(
  format: HookFormat,
  { reasons, isForbidden }: { reasons: readonly string[]; isForbidden: boolean },
): HookAnswer {
  if (reasons.length === 0) return {};
  const reason = isForbidden
    ? `Not done: this is not allowed in a run of Pulse. ${reasons.join(' ')} ${INSTEAD}`
    : `Not done. ${reasons.join(' ')}`;
  if (format === 'gemini') return { decision: 'deny', reason };
  if (MODULES.includes(format)) return { reason };
  if (format === 'copilot') return { permissionDecision: 'deny', permissionDecisionReason: reason };
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
  hook_event_name: z.string().optional(),
  tool_name: z.string().optional(),
  tool_input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  cwd: z.string().optional(),
  // As copilot spells them.
  toolName: z.string().optional(),
  toolArgs: z.unknown().optional(),
});

/** qwen's hooks have ids of their own, the others' have none. */
const HAS_IDS: readonly HookFormat[] = ['claude', 'opencode'];
/** Those that are asked by Pulse's own module, or are Pulse's own. */
const MODULES: readonly HookFormat[] = ['pi', 'opencode', 'acp'];

const SHELLS = /^(bash|shell|shell_command|exec_command|local_shell|run_shell_command)$/i;
const PATCH_TOOL = /^apply_patch$/;
const CLAUDE_WRITERS = /^(Write|Edit|MultiEdit|NotebookEdit)$/;
const GEMINI_WRITERS = /^(write_file|replace|edit|notebook_edit)$/;
const PI_WRITERS = /^(write|edit)$/;
const COPILOT_WRITERS = /^(create|edit)$/;
const WRITERS: Record<Exclude<HookFormat, 'acp'>, RegExp> = {
  claude: CLAUDE_WRITERS,
  codex: CLAUDE_WRITERS,
  gemini: GEMINI_WRITERS,
  qwen: GEMINI_WRITERS,
  pi: PI_WRITERS,
  opencode: PI_WRITERS,
  copilot: COPILOT_WRITERS,
};

function patchedPaths(patch: string): string[] {
  return [...patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map(([, path]) =>
    path!.trim(),
  );
}
