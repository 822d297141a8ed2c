import type { IdSource } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';
import type { Trace } from './actions.ts';
import type { LeaseJudge } from './attempt/lease-judge.ts';
import type { Loops } from './loops.ts';
import type { AgentHost, Doorbell, Referee, Workspace } from './ports.ts';
import type { OwnerState } from './runner/state.ts';
import type { Clock } from './wake/clock.ts';

/** Everything the runner and the daemon are given. `createPulse()` makes the real one. */
export interface Engine {
  store: Store;
  workspace: Workspace;
  referee: Referee;
  agents: AgentHost;
  bell: Doorbell;
  clock: Clock;
  ids: IdSource;
  trace: Trace;
  loops: Loops;
  /** Who this process is, as leases name it. */
  owner: string;
  owners: OwnerState;
  leases: LeaseJudge;
  /** Which machine this is: readings of different ones are never compared. */
  host: string;
  /** How many agents work on it at once, where a session does not say. */
  maxAgents: number;
  /** Ends a process of this host whose lease is over although it lives: two must never work in one worktree. */
  evict(owner: string): Promise<void>;
  timing: EngineTiming;
}

export interface EngineTiming {
  leaseMs: number;
  heartbeatMs: number;
  /** The net under the doorbell, where another process has the work: it may die without a ring. */
  pollMs: number;
  /** The same where this process has it, and only a lost ring of a person's could be missed. */
  quietPollMs: number;
  /** How long a daemon of a fleet continues an attempt while the store is away: others may have taken it over. */
  absenceMs: number;
}

export const DEFAULT_TIMING: EngineTiming = {
  leaseMs: 60_000,
  heartbeatMs: 15_000,
  pollMs: 2_000,
  quietPollMs: 10_000,
  absenceMs: 300_000,
};
