/** What the completion protocol remembers of a pulse's tool calls: the last call of each key. */
import { createHash } from 'node:crypto';
import type { RunEvent } from '../../agents/contract.ts';
import { CALLS_REMEMBERED, type ToolCall } from './model.ts';

/** Names of shells as agents have them; their key is the command. */
const SHELLS = new Set(['shell', 'bash', 'run_shell_command', 'command_execution', 'exec', 'execute']);
/** A protocol call is no work. */
const PROTOCOL =
  /^(?:pulse_.*|report_usage|request_extension|record_baseline|preflight_done|propose_plan|todo.*)$/;
/** Tools that only look change nothing and run nothing: a missing file is no failure. */
const LOOKS =
  /^(?:read|view|search|list|find|get|fetch|glob|grep)(?:[_-].*|_?files?|_?many_?files|_?dir.*|_?text)?$|^(?:ls|rg|cat|head|notebookread|toolsearch|(?:semantic|web|code|file|codebase)_?(?:search|fetch)|webfetch|listmcpresources.*|readmcpresource.*|bashoutput|lsp|task_?output)$/;

/** How a command ended that failed, and all that it printed. */
export interface FailedCommand {
  command: string;
  exit: number;
  output: string;
}

export interface CallLogOptions {
  /** Whether a failed command shows only what was there before the first pulse. */
  isKnown(failed: FailedCommand): boolean;
}

interface EndedCall {
  name: string;
  target: string;
  ok: boolean;
  /** Of a failed command, where they are told. */
  exit?: number;
  output?: string;
}

export interface CallLog {
  /** One call that has ended. */
  ended(call: EndedCall): void;
  /** Follows the agent's own tools by what its stream says. */
  saw(event: RunEvent): void;
  /** The keys whose last call failed, oldest first. */
  failed(): ToolCall[];
  /** A failed shell call is held against a pulse in one rejection only. */
  forgive(calls: readonly ToolCall[]): void;
  calls(): ToolCall[];
}

export function createCallLog(
  earlier: readonly ToolCall[],
  { isKnown }: CallLogOptions = { isKnown: () => false },
): CallLog {
  let kept = [...earlier];
  const open = new Map<string, { name: string; target: string }>();

  function ended({ name, target, ok: isOk, exit, output = '' }: EndedCall): void {
    const tool = plainName(name);
    const isShell = SHELLS.has(tool);
    // Other servers' tools are named after them.
    const own = tool.split(/__|[/.]/).at(-1)!;
    if (PROTOCOL.test(tool) || LOOKS.test(own) || (isShell && OWN_CALL.test(target))) return;
    const command = bareCommand(target);
    const ok = isOk || (isShell && exit !== undefined && isKnown({ command, exit, output }));
    const key = isShell ? keyOf('shell', command) : keyOf(tool, target);
    kept = [...kept, { key, ok, isShell }].slice(-CALLS_REMEMBERED);
  }

  return {
    ended,
    saw(event) {
      if (event.type === 'tool_start') {
        const { id, name, summary = '', target = summary } = event;
        open.set(id, { name, target });
      }
      if (event.type !== 'tool_end') return;
      const { id, ok, exit, output } = event;
      const begun = open.get(id);
      open.delete(id);
      const isOwn = begun && OWN_TOOL.test(begun.name);
      if (begun && !isOwn) ended({ ...begun, ok, exit, output });
    },
    failed() {
      const last = new Map(kept.map((call) => [call.key, call]));
      return [...last.values()].filter(({ ok }) => !ok);
    },
    forgive(calls) {
      const keys = new Set(calls.map(({ key }) => key));
      kept = kept.filter(({ key }) => !keys.has(key));
    },
    calls: () => kept,
  };
}

/** Some CLIs tell of the shell that they start around the command: `/bin/bash -lc 'npm test'`. */
function bareCommand(command: string): string {
  const wrapped = /^(?:\S*\/)?(?:ba|z|da)?sh -l?c (?:'([^']*)'|"([^"\\$`]*)"|(\S+))$/.exec(command);
  return wrapped?.slice(1).find((inner) => inner !== undefined) ?? command;
}

/** What tells two calls apart: all of the target, though only its beginning can be read. */
export function keyOf(tool: string, target: string): string {
  const shown = [...target.replace(/\s+/g, ' ').trim()].slice(0, TARGET_SHOWN).join('');
  if (shown === target) return `${tool} ${target}`;
  const rest = createHash('sha256').update(target).digest('hex').slice(0, 12);
  return `${tool} ${shown}… (#${rest})`;
}

const TARGET_SHOWN = 200;

/** An agent that has only a shell calls Pulse's tools there: a refusal is no failed command. */
const OWN_CALL = /(?:^|[\s;&|'"(])pulse tool\s/;

/** Pulse's tools as CLIs name them: these are counted where they are called, at the endpoint. */
const OWN_TOOL = /^(?:mcp_+)?pulse[_/.]/i;

function plainName(name: string): string {
  return name.toLowerCase();
}
