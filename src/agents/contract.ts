/**
 * What an agent adapter is: a command to start, a parser for what it prints, and a judgement on how it ended.
 * Adapters are pure but for `detect`; the process itself belongs to process/.
 */
import type { FailureClass } from '../domain/failures.ts';

/** Whose spending a usage event speaks of: one model call, one turn (added up), or all so far (replaces). */
export type UsageScope = 'call' | 'turn' | 'cumulative';

/**
 * What a run tells while it runs. A `text` is one whole message of the assistant, never a delta; `done` comes once, at
 * the end, and a `tool_end` answers the `tool_start` with its id.
 */
export type RunEvent =
  | { type: 'started'; sessionId?: string; model?: string }
  | { type: 'text'; text: string }
  | { type: 'tool_start'; id: string; name: string; summary?: string }
  | { type: 'tool_end'; id: string; name?: string; ok: boolean }
  | {
      type: 'usage';
      scope: UsageScope;
      costUsd?: number;
      inputTokens?: number;
      outputTokens?: number;
      cacheTokens?: number;
      contextTokens?: number;
      contextWindow?: number;
    }
  | { type: 'retry'; attempt: number; status?: number; delayMs?: number }
  | { type: 'denied'; tool: string; reason?: string }
  | { type: 'limit'; message: string; resetAt?: string }
  | { type: 'compacted' }
  | { type: 'raw'; line: string }
  | { type: 'done'; ok: boolean; failure?: FailureClass; message?: string };

export interface AgentRun {
  brief: string;
  worktree: string;
  command: string | null;
  unit: string | null;
}

/** Everything needed to start the agent. `env` is added to the allowlisted environment. */
export interface AgentCommand {
  file: string;
  args: string[];
  env: Record<string, string>;
  stdin: string;
  /** Signals sent in this order, each with a grace, when the run has to end. */
  stopSignals: readonly NodeJS.Signals[];
}

export interface AgentExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface AgentEnd {
  ok: boolean;
  failure: FailureClass | null;
  message: string;
  resetAt: string | null;
  /** The final assistant message, apart from tool output and file contents. */
  finalMessage: string;
}

export interface AgentParser {
  /** One line of stdout; what it does not know becomes `raw`, never an error. */
  parse(line: string): RunEvent[];
  finish(exit: AgentExit): AgentEnd;
}

export interface AgentDetection {
  available: boolean;
  path: string | null;
  version: string | null;
  /** Why it cannot be used, and how to get it. */
  hint: string | null;
}

export interface AgentAdapter {
  readonly name: string;
  /** Environment names (a trailing `*` is a wildcard) that this adapter alone may see. */
  readonly environment: readonly string[];
  /** `command` agents may be silent for long: their idle clock runs only when asked for. */
  readonly idleByDefault: boolean;
  /** Whether a cost can be known for its runs; if not, the session says so at its start. */
  readonly reportsCost: boolean;
  detect(environment: NodeJS.ProcessEnv): Promise<AgentDetection>;
  command(run: AgentRun): AgentCommand;
  createParser(): AgentParser;
}
