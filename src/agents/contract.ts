/**
 * What an agent adapter is: a command to start, a parser for what it prints, and a judgement on how it ended.
 * Adapters are pure but for `detect`; the process itself belongs to process/.
 */
import type { Prices, Usage } from '../domain/attempt.ts';
import type { FailureClass } from '../domain/failures.ts';

/** What a usage event counts: one model call or one turn (both are added up), or everything so far (replaces the sum). */
export type UsageScope = 'call' | 'turn' | 'cumulative';

/**
 * What a run reports while it runs. A `text` is one whole message of the assistant, never a delta. `done` comes once, at
 * the end. A `tool_end` answers the `tool_start` with the same id.
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
      /** The exact path or command, if the summary is shortened. Not stored. */
      target?: string;
    }
  | {
      type: 'tool_end';
      id: string;
      name?: string;
      ok: boolean;
      /** Exit code and whole output of a failed command, if the agent reports both. Not stored. */
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
  /** An unknown line. An empty line is a sign of life: the agent works, but there is no event for what it does. */
  | { type: 'raw'; line: string }
  | {
      type: 'done';
      ok: boolean;
      failure?: FailureClass;
      message?: string;
      /** The agent would never stop by itself, and keep spending: the host ends it at once. */
      isEndless?: boolean;
    };

/** Where the run's tools are, and their names. The token belongs to this run only. */
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
  /** What `locate` found; `null` if it found nothing, or the agent needs no executable. */
  executable: string | null;
  /** `null`: the agent's own default. */
  model: string | null;
  /** The agent's own session to resume; `null`: a new one. */
  resume: string | null;
  tools: RunTools;
  /** The user's own MCP servers are wanted beside Pulse's, where the agent leaves that to us. */
  ownMcp?: boolean;
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
 * The user's files that an agent needs in a sandbox, as absolute paths. Paths that do not exist are skipped. The agent
 * writes its login and its sessions, because they outlive the run. It only reads its settings and its own programs: a
 * change to those would take effect outside of the sandbox too.
 */
export interface AgentPaths {
  /** The agent gets a copy of each file, which it may change. Wins over `write` for paths below. */
  read: readonly string[];
  /** In both lists a path that ends in `/` is a folder, and is created if it is missing. */
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
  /** One line of stdout. An unknown line becomes `raw`, never an error. */
  parse(line: string): RunEvent[];
  /** One line of stderr: some agents report there what their stream leaves out. */
  parseStderr?(line: string): RunEvent[];
  /** One line of the agent's own log (`logFile`), which has some facts earlier than the stream, or only there. */
  parseLog?(line: string): RunEvent[];
  /** Whether a tool may be running that the stream has not shown yet: some agents report a call when it has ended. */
  isAtWork?(): boolean;
  finish(exit: AgentExit): AgentEnd;
}

export interface AgentDetection {
  available: boolean;
  path: string | null;
  version: string | null;
  /** The oldest and the newest version that the tests run against. */
  tested?: { from: string; to: string };
  /** Why the agent cannot be used and how to get it; if it can be used, what is uncertain about it. */
  hint: string | null;
}

export interface ParserOptions {
  /** The model that was asked for. A model that the stream names wins. */
  model: string | null;
  prices: Prices;
  /** What the agent's session had spent before this run resumed it: some agents count from the session's beginning. */
  earlier: Usage | null;
  /** Wall clock. Some agents name the hour at which a limit ends, but not the day. */
  nowMs(): number;
}

export interface AgentAdapter {
  readonly name: string;
  /** Environment names (a trailing `*` is a wildcard) that this adapter alone may see. */
  readonly environment: readonly string[];
  /** More such names, if the user's environment asks for them. */
  environmentFor?(base: NodeJS.ProcessEnv): readonly string[];
  /** `false` for `command`: it may be silent for long, so its idle clock runs only on request. */
  readonly idleByDefault: boolean;
  /** The agent calls its tools over MCP. Pulse loads its MCP server while the agent starts. */
  readonly speaksMcp?: true;
  /** The agent replays another run. That it changes nothing is no sign of missing permissions. */
  readonly isPlayed?: true;
  /** Its lines are for people: they are shown as they come. */
  readonly printsText?: true;
  /** The agent follows a script: asking it a question makes no sense. */
  readonly isScripted?: true;
  /** `reported` by the agent; `priced` from its tokens, if its model has a price; `unreported`: neither. */
  readonly cost: 'reported' | 'priced' | 'unreported';
  /** The model that the agent will ask, if that is known before it starts. `wanted` is `--model`, and the default. */
  modelOf?(wanted: string | null, environment: NodeJS.ProcessEnv): string | null;
  /** Whether it can be used here, with this model if one is wanted. */
  detect(environment: NodeJS.ProcessEnv, wantedModel?: string | null): Promise<AgentDetection>;
  /** Finds the executable without starting anything. Adapters that need none leave this out. */
  locate?(environment: NodeJS.ProcessEnv): string | null;
  /** Adapters that need no files of the user leave this out. */
  sandboxPaths?(place: AgentPlace): AgentPaths;
  /** The file to which the agent appends the log of this session; `null` while it does not exist. */
  logFile?(sessionId: string, environment: NodeJS.ProcessEnv): string | null;
  command(run: AgentRun): AgentCommand;
  createParser(options: ParserOptions): AgentParser;
}
