/**
 * What an agent adapter is: a command to start, a parser for what it prints, and a judgement on how it ended.
 * Adapters are pure but for `detect`; the process itself belongs to process/.
 */
import type { Prices, Usage } from '../domain/attempt.ts';
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
  | {
      type: 'tool_start';
      id: string;
      name: string;
      /** One line for people. */
      summary?: string;
      /** The exact path or command, where the summary is not all of it. Not stored. */
      target?: string;
    }
  | {
      type: 'tool_end';
      id: string;
      name?: string;
      ok: boolean;
      /** Of a command that failed, where the agent tells all of it: its exit code and what it printed. Not stored. */
      exit?: number;
      output?: string;
    }
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
  | { type: 'denied'; tool: string; id?: string; reason?: string }
  | { type: 'limit'; message: string; resetAt?: string }
  | { type: 'compacted' }
  /** A line that is not known; without one, a sign of life that is none of the others. */
  | { type: 'raw'; line: string }
  | {
      type: 'done';
      ok: boolean;
      failure?: FailureClass;
      message?: string;
      /** The agent would go on, and spend, for ever: it is ended at once. */
      isEndless?: boolean;
    };

/** Where the run's tools are, and what they are called. The token is this run's alone. */
export interface RunTools {
  url: string;
  token: string;
  names: readonly string[];
}

export interface AgentRun {
  brief: string;
  worktree: string;
  command: string | null;
  unit: string | null;
  /** What `locate` found; `null` where it found nothing or there is nothing to find. */
  executable: string | null;
  /** `null`: whichever the agent takes by itself. */
  model: string | null;
  /** The agent's own session to go on with; `null`: a new one. */
  resume: string | null;
  tools: RunTools;
  /** The run's own folder: outside of the worktree, readable by this user alone, removed after the run. */
  directory: string;
  prices: Prices;
}

/** Everything needed to start the agent. `env` is added to the allowlisted environment. */
export interface AgentCommand {
  file: string;
  args: string[];
  env: Record<string, string>;
  stdin: string;
  /** Signals sent in this order, each with a grace, when the run has to end. */
  stopSignals: readonly NodeJS.Signals[];
  /** Text by name: the host writes them into the run's folder before the start. */
  files?: Readonly<Record<string, string>>;
}

/** Where a run takes place, as far as the agent's own files depend on it. */
export interface AgentPlace {
  /** The user's. */
  home: string;
  environment: NodeJS.ProcessEnv;
  worktree: string;
  command: string | null;
}

/**
 * What of the user's files an agent needs in a sandbox, as absolute paths; what does not exist is passed over. Its login
 * and its sessions are written, for they outlive the run; what tells it how to behave is only read, or what it writes
 * there would hold outside of the sandbox too; so with programs that it keeps for itself.
 */
export interface AgentPaths {
  /** Of a file the agent has a copy that it may change. Wins over `write` for what lies below it. */
  read: readonly string[];
  /** One that ends in `/`, here and above, is a folder and is made if it is not there. */
  write: readonly string[];
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
  /** One line of stderr, where some tell what their stream does not. */
  parseStderr?(line: string): RunEvent[];
  /** One line of the agent's own log (`logFile`), which tells some things sooner than its stream, or alone. */
  parseLog?(line: string): RunEvent[];
  /** Whether it may be silent because a tool works that it has not told of yet: some tell of a call when it is over. */
  isAtWork?(): boolean;
  finish(exit: AgentExit): AgentEnd;
}

export interface AgentDetection {
  available: boolean;
  path: string | null;
  version: string | null;
  /** The oldest and the newest version that the tests run against. */
  tested?: { from: string; to: string };
  /** Why it cannot be used, and how to get it; of one that can: what is not sure about it. */
  hint: string | null;
}

export interface ParserOptions {
  /** What was asked for; a stream that names its model knows better. */
  model: string | null;
  prices: Prices;
  /** What the agent's session had spent before this run went on with it: some count from its beginning. */
  earlier: Usage | null;
  /** Wall clock: some name the hour at which a limit ends, and no day. */
  nowMs(): number;
}

export interface AgentAdapter {
  readonly name: string;
  /** Environment names (a trailing `*` is a wildcard) that this adapter alone may see. */
  readonly environment: readonly string[];
  /** More such names, where what the user has set calls for them. */
  environmentFor?(base: NodeJS.ProcessEnv): readonly string[];
  /** `command` agents may be silent for long: their idle clock runs only when asked for. */
  readonly idleByDefault: boolean;
  /** It asks for its tools over MCP: what answers is loaded while it starts. */
  readonly speaksMcp?: true;
  /** It plays what was done elsewhere: that it changes nothing says nothing of what it was allowed. */
  readonly isPlayed?: true;
  /** It does what it was written to do: to ask it something means nothing. */
  readonly isScripted?: true;
  /** `told`: by the agent itself; `priced`: it tells tokens, which have a price if its model has; `untold`: neither. */
  readonly cost: 'told' | 'priced' | 'untold';
  /** The model that it will ask, where that is known before it starts; `wanted` is `--model`. Default: `wanted`. */
  modelOf?(wanted: string | null, environment: NodeJS.ProcessEnv): string | null;
  /** Whether it can be used here, with this model if one is wanted. */
  detect(environment: NodeJS.ProcessEnv, wantedModel?: string | null): Promise<AgentDetection>;
  /** Its executable, found without starting anything; adapters that need none leave this out. */
  locate?(environment: NodeJS.ProcessEnv): string | null;
  /** Adapters that need nothing of the user's leave this out. */
  sandboxPaths?(place: AgentPlace): AgentPaths;
  /** Where the agent logs its session of this id, appending line by line; `null` while it is not there. */
  logFile?(sessionId: string, environment: NodeJS.ProcessEnv): string | null;
  command(run: AgentRun): AgentCommand;
  createParser(options: ParserOptions): AgentParser;
}
