/** What the engine needs of the world. Real ones stand beside this file; the simulation brings its own. */
import type { AttemptSpec, RunReport, VerificationRecord } from '../domain/attempt.ts';
import type { NewEvent } from '../domain/events.ts';
import type { DeclaredChange, Judgement } from '../domain/judgement.ts';
import type { Phase } from '../domain/phase.ts';
import type { BranchLag, HeadMoved } from '../git/session-head.ts';
import type { CommandOutput } from '../referee/output/parse.ts';
import type { Task } from '../store/inbox.ts';
import type { IterationHead } from '../store/iterations.ts';
import type { StoredJudgement } from '../store/judgements.ts';
import type { Session, SessionSettings } from '../store/sessions.ts';
import type { Db } from '../store/store.ts';
import type { StoredVerification } from '../store/verifications.ts';
import type { Landing } from './loop.ts';
import type { SandboxRequest } from './run/run-sandbox.ts';

export interface UnitCommit {
  commit: string | null;
  tree: string;
  files: string[];
  /** What git could not add. */
  leftOut?: string[];
  /** What else a person should know of it. */
  notices?: NewEvent[];
}

export interface UnitMessage {
  subject: string;
  body?: string;
  /** What was judged is what is committed. */
  accepted: RunReport['accepted'];
}

/** An attempt as its daemon holds it. */
export interface HeldAttempt {
  task: Task;
  spec: AttemptSpec;
  sessionId: string;
  iteration: number;
  /** Names the run in its processes' environment; new for every claim. */
  runId: string;
  /** Shows followers what is done now. */
  enter?: (phase: Phase, command?: string) => void;
  /** Variables with the ports of its worktree, once that is prepared. */
  ports?: Record<string, string>;
  /** It works in a clean room, not in a worktree of the repository. */
  room?: SandboxRequest['room'];
  /** Ends what is done for it. Clearing up afterwards must not depend on it. */
  signal?: AbortSignal;
}

export interface LandingRequest extends Landing {
  /** Whose ref goes. */
  taskId: string | null;
  /** Where Pulse left the branch, if not at the head. */
  left: string | null;
  remote: string | null;
}

/** Git and the worktree. Every method may be called again after a crash at any point inside it. */
export interface Workspace {
  /** At the remote too, where daemons elsewhere work on it. */
  createBranch(session: Session, remote: string | null): Promise<void>;
  readRef(session: Session, ref: string): Promise<string | null>;
  /** Where the session would go on: its head, or what a person has made of its branch. `null`: neither exists. */
  branchHead(session: Session): Promise<string | null>;
  /** Whether the session's base and this commit have the same tree, evidence and scratch files aside. */
  isUnchanged(session: Session, commit: string): Promise<boolean>;
  /** As `branchHead`; from now on that is the session's head. */
  takeStand(session: Session): Promise<string | null>;
  /** Brings the branch to the head, if it can. `null`: it is there. */
  follow(session: Session): Promise<BranchLag | null>;
  /** The attempt's commit made again on top of what a person has committed. `null` where the two conflict. */
  putOnTop(
    session: Session,
    move: { taskId: string; to: string; onto: string; remote: string | null },
  ): Promise<UnitCommit | null>;
  /**
   * Makes the worktree ready at `startSha`. After an interruption: ends the processes of earlier runs and any that
   * stand in the worktree, keeps leftovers under `recoverTo`, then resets. With `keepWork` the agent is already done
   * and only what still runs there is ended. Returns what a person should know of it.
   */
  prepare(attempt: HeldAttempt, options: { keepWork: boolean }): Promise<NewEvent[]>;
  /** What the run has broken of its worktree, in words; `null`: nothing. */
  faultOf(attempt: HeldAttempt): Promise<string | null>;
  /** Runs the setup commands once per worktree and lockfile. Returns the failing record, or `null`. */
  setup(attempt: HeldAttempt, signal: AbortSignal, onCommand?: OnCommand): Promise<VerificationRecord | null>;
  findCommit(attempt: HeldAttempt): Promise<UnitCommit | null>;
  commit(attempt: HeldAttempt, message: UnitMessage): Promise<UnitCommit>;
  /** The change as a commit on the attempt's start, or on another that was made so. `null` where it does not fit there. */
  commitAgain(attempt: HeldAttempt, change: string, on?: CommitAgainOn): Promise<UnitCommit | null>;
  publish(attempt: HeldAttempt, commit: string): Promise<void>;
  /** Takes back what `publish` did, for a daemon that learns it was replaced. */
  unpublish(attempt: HeldAttempt, commit: string): Promise<void>;
  /** Throws away what was done to the worktree since the unit's commit. */
  restore(attempt: HeldAttempt, unit: UnitCommit): Promise<void>;
  /**
   * Keeps what the worktree holds beyond `startSha` under the attempt's recovery ref, as far as that can be done; the next
   * attempt tries again. Returns what a person should know of it.
   */
  saveLeftovers(attempt: HeldAttempt): Promise<NewEvent[]>;
  /**
   * Gives a commit its names. With a head to move: by compare-and-swap, the branch too if it can follow. The attempt's
   * ref goes with it. Returns `null` where the head stays.
   */
  land(owner: Session, landing: LandingRequest): Promise<HeadMoved | null>;
  /**
   * Removes the worktree of an ended session; what is not committed goes to the recovery ref, attempts' refs go. One
   * whose work cannot be kept stays. Does not throw for it; returns what a person should know.
   */
  close(session: Session, ending: Ending): Promise<NewEvent[]>;
}

export interface CommitAgainOn {
  /** Where the worktree stands. */
  parent: string;
  /** Beside those of the attempt. */
  trailers: Readonly<Record<string, string>>;
}

/** Judges claims (docs/protocol/referee.md). Every method may be called again after a crash at any point inside it. */
export interface Referee {
  /**
   * Before an agent runs: makes the room of the session and runs the checks on its base, once. Returns what makes every
   * claim pointless: a setup that fails, or a command that does not exist. `source`: the attempt's worktree, as long as
   * no agent has touched it.
   */
  readBase(attempt: HeldAttempt, request: BaseRequest): Promise<VerificationRecord | null>;
  /** Runs the checks on the claim, in the room. */
  examine(attempt: HeldAttempt, claim: Claim, signal: AbortSignal): Promise<ExaminedClaim>;
  /** Runs the checks of the base on the claim. Only where `needsReplay` says so. */
  replay(attempt: HeldAttempt, examined: ExaminedClaim, signal: AbortSignal): Promise<ExaminedClaim>;
  /** Has another agent judge a claim that nothing else speaks against, where the session asks for that. */
  review(attempt: HeldAttempt, examined: ExaminedClaim, signal: AbortSignal): Promise<ExaminedClaim>;
  /** Writes the proof of an accepted unit, or finds it written. Returns where it is. */
  prove(unit: AcceptedUnit): Promise<string>;
  /** The session has ended: its room goes. Does not throw. */
  close(sessionId: string): Promise<void>;
}

/** A unit that was accepted, from durable rows alone: the same rows make the same proof. */
export interface AcceptedUnit {
  session: Session;
  settings: SessionSettings;
  iteration: IterationHead;
  commit: string;
  judgement: StoredJudgement;
  records: readonly StoredVerification[];
}

export interface BaseRequest {
  source: string | null;
  /** Instead of the session's. */
  commands?: readonly string[];
  baseSha?: string;
  signal: AbortSignal;
}

export interface Claim {
  tree: string;
  /** `null`: nobody has committed it yet. */
  commit: string | null;
  declared: readonly DeclaredChange[];
  /** A person has approved that this unit changes the checks. */
  changesChecks?: boolean;
  /** Of the unit. Absent: the session's. */
  baseSha?: string;
  /** Instead of the session's. */
  commands?: readonly string[];
  /** The unit is a part of a larger work: what the held-out checks said of its base, they may say still. */
  isPart?: boolean;
  /** Whether the output of a check is a pass. Absent: exit 0 is. */
  passes?(output: CommandOutput): boolean;
}

export interface ExaminedClaim {
  claim: Claim;
  records: VerificationRecord[];
  /** Of the held-out checks. */
  heldOut?: VerificationRecord[];
  /** The commands that do not pass. */
  failed: readonly string[];
  needsReplay: boolean;
  judgement: Judgement;
  /** What the referee keeps of it for the replay. */
  facts?: unknown;
}

/** Awaited before each command. */
export type OnCommand = (command: string) => Promise<void>;

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
  /** Runs the agent to any kind of end. Nothing of the run is alive when it returns. */
  run(attempt: HeldAttempt, listener: RunListener, signal: AbortSignal): Promise<RunReport>;
  /** Whether the agent of this name understands a question; one that plays a part does not. */
  canBeAsked(agent: string): boolean;
}

/** Where a run tells what happens in it, while it happens. */
export interface RunListener {
  event(event: NewEvent): void;
  /** Writes rows of the loop's own, while the attempt is still this daemon's: durable before the agent is answered. */
  write<T>(label: string, work: (db: Db) => Promise<T>): Promise<T>;
  /** What a person has said since the run's brief was written; each note once. */
  takeNotes?(): Promise<string[]>;
  /** All spending of the run so far. */
  spent(total: { costUsd: number | null; tokens: number }): void;
  /** `end` is called once all who draw on the run's budget have gone beyond it together. */
  whenOverspent?(end: (reason: 'budget_cost' | 'budget_tokens') => void): void;
}

export interface ComposedBrief {
  text: string;
  tokens: number;
  /** The text before it was cut to the length that a brief may have; absent: it was not. */
  whole?: string;
  /** What each section has of them; recorded with the plan. */
  sections?: readonly { name: string; tokens: number }[];
  /** The ids of the notes that it quotes. */
  notes?: readonly string[];
  anchor: {
    turnId: string | null;
    strategy: string | null;
    resolutionMs: number;
    salience: number | null;
    depth: number | null;
    /** Hints that named no turn; recorded with the plan. */
    invalid: readonly { strategy: string; turnId: string }[];
  };
  /** The slice around the anchor; absent: there is none. */
  sliceId?: string | null;
}

/** Wakes those that wait for a session. A lost ring costs a slow poll, a doubled one nothing. */
export interface Doorbell {
  ring(sessionId: string): void;
  listen(sessionId: string): Listener;
}

/** A bell that can be heard for all sessions at once. */
export interface SharedDoorbell extends Doorbell {
  listenAll(): AllListener;
}

export interface AllListener extends Listener {
  /** Who has rung since the last call; `null`: nobody knows, so all may have. */
  take(): readonly string[] | null;
}

export interface Listener {
  /** Resolves at the next ring (or one since the last wait), after `timeoutMs`, or when the signal aborts. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<void>;
  [Symbol.dispose](): void;
}
