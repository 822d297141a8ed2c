/** What the engine needs of the world. Real ones stand beside this file; the simulation brings its own. */
import type { AttemptSpec, RunReport, VerificationRecord } from '../domain/attempt.ts';
import type { NewEvent } from '../domain/events.ts';
import type { Task } from '../store/inbox.ts';
import type { IterationHead } from '../store/iterations.ts';
import type { Session, SessionControl } from '../store/sessions.ts';

export interface UnitCommit {
  commit: string | null;
  tree: string;
  files: string[];
}

/** An attempt as its daemon holds it. */
export interface HeldAttempt {
  task: Task;
  spec: AttemptSpec;
  sessionId: string;
  iteration: number;
  /** Names the run in its processes' environment; new for every claim. */
  runId: string;
}

export interface BranchMove {
  taskId: string;
  from: string;
  to: string;
  remote: string | null;
}

/** Git and the worktree. Every method may be called again after a crash at any point inside it. */
export interface Workspace {
  /** At the remote too, where daemons elsewhere work on it. */
  createBranch(session: Session, remote: string | null): Promise<void>;
  /** The branch's commit, or `null` when it does not exist. */
  branchHead(session: Session): Promise<string | null>;
  /**
   * Makes the worktree ready at `startSha`. After an interruption: ends the processes of earlier runs and any that
   * stand in the worktree, keeps leftovers under `recoverTo`, then resets. With `keepWork` the agent is already done
   * and only what still runs there is ended.
   */
  prepare(attempt: HeldAttempt, options: { keepWork: boolean }): Promise<void>;
  /** Runs the setup commands once per worktree and lockfile. Returns the failing record, or `null`. */
  setup(attempt: HeldAttempt, signal: AbortSignal): Promise<VerificationRecord | null>;
  findCommit(attempt: HeldAttempt): Promise<UnitCommit | null>;
  commit(attempt: HeldAttempt, subject: string): Promise<UnitCommit>;
  publish(attempt: HeldAttempt, commit: string): Promise<void>;
  /** Takes back what `publish` did, for a daemon that learns it was replaced. */
  unpublish(attempt: HeldAttempt, commit: string): Promise<void>;
  /** Runs the commands on the unit's tree; what they leave behind is not part of the work and goes. */
  verify(attempt: HeldAttempt, unit: UnitCommit, signal: AbortSignal): Promise<VerificationRecord[]>;
  /** Keeps what the worktree holds beyond `startSha` under the attempt's recovery ref. */
  saveLeftovers(attempt: HeldAttempt): Promise<void>;
  /** Moves the session's branch by compare-and-swap and drops the attempt's ref with it. */
  advance(session: Session, move: BranchMove): Promise<void>;
  /** Removes the worktree of an ended session; what is not committed goes to the recovery ref, attempts' refs go. */
  close(session: Session, ending: Ending): Promise<void>;
}

export interface Ending {
  last: LastAttempt | null;
  /** Those of these attempts that are over. */
  endedOf(taskIds: string[]): Promise<string[]>;
}

/** The newest iteration of a session that is given up, and the attempt that it had. */
export interface LastAttempt {
  iteration: IterationHead;
  task: Task | null;
}

export interface AgentHost {
  /** Runs the agent to its end, whatever the end. Nothing of the run is alive when it returns. */
  run(attempt: HeldAttempt, listener: RunListener, signal: AbortSignal): Promise<RunReport>;
}

/** Where a run tells what happens in it, while it happens. */
export interface RunListener {
  event(event: NewEvent): void;
  /** All spending of the run so far. */
  spent(total: { costUsd: number | null; tokens: number }): void;
}

export interface BriefInput {
  session: Session;
  control: SessionControl;
  recent: readonly IterationHead[];
  iteration: number;
  attempt: number;
  /** Set when the attempt before this one was interrupted or crashed and its leftovers were kept. */
  recoveryRef: string | null;
  interruption: string | null;
  isDiagnostic: boolean;
  asksConfirmation: boolean;
}

export interface ComposedBrief {
  text: string;
  tokens: number;
  anchor: {
    turnId: string | null;
    strategy: string | null;
    resolutionMs: number;
    salience: number | null;
    depth: number | null;
    /** Hints that named no turn; recorded with the plan. */
    invalid: readonly { strategy: string; turnId: string }[];
  };
}

export interface Briefs {
  compose(input: BriefInput): Promise<ComposedBrief>;
}

/** Wakes whoever waits for a session. A lost ring costs a slow poll, a doubled one nothing. */
export interface Doorbell {
  ring(sessionId: string): void;
  listen(sessionId: string): Listener;
}

export interface Listener {
  /** Resolves at the next ring (or one since the last wait), after `timeoutMs`, or when the signal aborts. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<void>;
  [Symbol.dispose](): void;
}
