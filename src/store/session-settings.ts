/** What a session was told to do and how, beside its columns; stored as JSON with its machinery. */
import type { Prices, SandboxWish, WorktreeNeeds } from '../domain/attempt.ts';
import type { CheckPolicy } from '../domain/check-words.ts';
import type { CommanderTarget } from '../domain/commander.ts';
import type { ContextStrategy } from '../domain/context-words.ts';
import type { RefereeSettings } from '../domain/judgement.ts';

/** Choices of a session that no public column holds. */
export interface SessionSettings {
  contextStrategy: ContextStrategy;
  inferredCompletion: 'confirm' | 'accept';
  limitsWait: boolean;
  /** How long a service that is away is waited for; absent: as long as by default, 0: not at all. */
  patienceMs?: number;
  /** Takes over an attempt whose agent has reached its usage limit. */
  fallbackAgent?: string | null;
  /** How many agents may be at work on its host when one of its own begins; absent: as many as the host has by default. */
  maxAgents?: number;
  environmentPass: string[];
  /** Its runs also have the MCP servers that the user has given the agent. */
  ownMcp?: boolean;
  /** What its worktrees need beside the commit; absent: nothing. */
  needs?: WorktreeNeeds;
  /** How claims are judged; absent: in the default way. */
  referee?: RefereeSettings;
  /** What of the machine the runs can see; `null` or absent: all that the user can. */
  sandbox?: SandboxWish | null;
  /** Which model the agent is asked for; `null` or absent: its own choice. */
  model?: string | null;
  /** The user's own prices, for agents that tell no cost. */
  prices?: Prices;
  identity: { name: string; email: string; sign?: boolean } | null;
  record: boolean;
  /** Where research is told beside the built-in commander; `null` or absent: nowhere. */
  commander?: CommanderTarget | null;
  /** Daemons with all of these run the attempts, by way of `remote`; none: the session's own runner does. */
  labels: string[];
  remote: string | null;
  /** SHA-256 of the repository's own config that the session began with; `null` or absent: it had none. */
  trustedConfig?: string | null;
  /** The issue that the goal came from, and whether it is told of the end. */
  issue?: { number: number; title: string; url: string; comment: boolean };
  /** The file that the goal was read from. */
  from?: string;
  /** The session whose findings this one carries out; absent: none. */
  implements?: string;
  /** What a person said, at the start and since: it wins over a config that is read again. */
  chosen?: SessionChoices;
}

export interface SessionChoices {
  agent?: string;
  command?: string;
  model?: string;
  verify?: string[];
  setup?: string[];
  maxIterations?: number;
  /** `null`: no limit. */
  budgetUsd?: number | null;
  budgetTokens?: number;
  timeLimitMs?: number;
  iterationTimeoutMs?: number;
  idleTimeoutMs?: number;
  sandbox?: 'off' | 'auto' | 'on';
  contextStrategy?: ContextStrategy;
  checks?: CheckPolicy;
  /** The checks do not run on the base first. */
  noBase?: boolean;
  /** Whether what its agents print is kept. */
  record?: boolean;
}
