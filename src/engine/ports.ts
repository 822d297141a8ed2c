/** What the engine needs of the world. Real ones stand beside this file; the simulation brings its own. */
import type { AttemptSpec, Identity, RunReport, VerificationRecord } from '../domain/attempt.ts';
import type { NewEvent } from '../domain/events.ts';
import type { Phase } from '../domain/phase.ts';
import type { BaselineIssue, Check, Completion, PreflightReport } from '../domain/workflow.ts';
import type { BranchLag, HeadMoved } from '../git/session-head.ts';
import type { Task } from '../store/inbox.ts';
import type { IterationHead } from '../store/iterations.ts';
import type { Experiment } from '../store/research.ts';
import type { Session, SessionControl } from '../store/sessions.ts';
import type { PulseRow } from '../store/workflows.ts';
import type { SessionState } from './loop.ts';

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
  completion: Completion | null;
}

/** An attempt as its daemon holds it. */
export interface HeldAttempt {
  task: Task;
  spec: AttemptSpec;
  sessionId: string;
  iteration: number;
  /** Names the run in its processes' environment; new for every claim. */
  runId: string;
  /** Tells whoever looks on what is done now. */
  enter?: (phase: Phase, command?: string) => void;
  /** Ends what is done for it; whoever clears up after it goes without. */
  signal?: AbortSignal;
}

export interface BranchMove {
  taskId: string;
  from: string;
  to: string;
  /** Where Pulse left the branch, if not at `from`. */
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
  /** As `branchHead`; from now on that is the session's head. */
  takeStand(session: Session): Promise<string | null>;
  /** Brings the branch to the head, if it can. `null`: it is there. */
  follow(session: Session): Promise<BranchLag | null>;
  /** The attempt's commit made again on top of what a person has committed. `null` where the two conflict. */
  putOnTop(
    session: Session,
    move: Omit<BranchMove, 'from' | 'left'> & { onto: string },
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
  /** The change as a commit on the attempt's start. `null` where it does not fit there. */
  commitAgain(attempt: HeldAttempt, change: string): Promise<UnitCommit | null>;
  publish(attempt: HeldAttempt, commit: string): Promise<void>;
  /** Takes back what `publish` did, for a daemon that learns it was replaced. */
  unpublish(attempt: HeldAttempt, commit: string): Promise<void>;
  /** Runs the commands on the unit's tree; what they leave behind is not part of the work and goes. */
  verify(attempt: HeldAttempt, unit: UnitCommit, signal: AbortSignal): Promise<VerificationRecord[]>;
  /** Throws away what was done to the worktree since the unit's commit. */
  restore(attempt: HeldAttempt, unit: UnitCommit): Promise<void>;
  /**
   * Keeps what the worktree holds beyond `startSha` under the attempt's recovery ref, as far as that can be done: whoever
   * comes next tries again. Returns what a person should know of it.
   */
  saveLeftovers(attempt: HeldAttempt): Promise<NewEvent[]>;
  /** Names an experiment's commit that was not kept; its other refs go. */
  discard(session: Session, discarded: PulseLanding & { number: number; commit: string }): Promise<void>;
  /** The newest commits of the session's branch, and the files that are wanted, as far as `maxBytes` reach. */
  review(
    session: Session,
    wanted: { sha: string; isWanted(path: string): boolean; maxBytes: number },
  ): Promise<ReviewMaterial>;
  /** Moves the session's head by compare-and-swap, its branch too if it can, and drops the attempt's ref with it. */
  advance(session: Session, move: BranchMove): Promise<HeadMoved>;
  /**
   * Removes the worktree of an ended session; what is not committed goes to the recovery ref, attempts' refs go. One
   * whose work cannot be kept stays. Does not throw for it; returns what a person should know.
   */
  close(session: Session, ending: Ending): Promise<NewEvent[]>;
}

/** Awaited before each command. */
export type OnCommand = (command: string) => Promise<void>;

/** A pulse's branch and refs, and what is judged of its worktree. Every method may be called again after a crash. */
export interface PulseWorkspace {
  /** Makes the pulse's branch at its start. */
  open(session: Session, pulse: { branch: string; at: string }): Promise<void>;
  /** Moves the session's head, and its branch, to the commit; the pulse's branch, wip and attempt refs go with it. */
  land(
    session: Session,
    landing: PulseLanding & { from: string; to: string; left: string | null },
  ): Promise<HeadMoved>;
  /** Keeps the run's commit as work in progress, and drops the attempt's ref. */
  keepWip(session: Session, landing: PulseLanding & { to: string }): Promise<void>;
  /** Puts what the pulse has onto its own branch as a recovery checkpoint. `null` where it has nothing. */
  giveUp(
    session: Session,
    landing: PulseLanding & {
      work: string | null;
      reason: string;
      isOver: boolean;
      identity: Identity | null;
    },
  ): Promise<string | null>;
  /** Runs the checks on an untouched tree and says what was there before: issues, and untracked files. */
  baseline(attempt: HeldAttempt, signal: AbortSignal, onCommand?: OnCommand): Promise<PreflightReport>;
  /** The worktree as it is now, without what preflight left. */
  stage(attempt: HeldAttempt): Promise<StagedWork>;
  /** The repository's pre-commit and commit-msg hooks. What each that failed printed. */
  runHooks(
    attempt: HeldAttempt,
    work: StagedWork & { message: string },
    signal: AbortSignal,
  ): Promise<HookResult>;
  runChecks(
    attempt: HeldAttempt,
    request: { checks: readonly Check[]; tree: string },
    signal: AbortSignal,
  ): Promise<CheckResult[]>;
  /** The files of a staged tree that are not as they were in it; what has been added since is not told. */
  changedSince(attempt: HeldAttempt, tree: string): Promise<string[]>;
}

export interface PulseLanding {
  taskId: string | null;
  /** Without a branch: an experiment has none of its own. */
  pulse: { id: string; branch: string | null; startSha: string };
}

export interface StagedWork {
  tree: string;
  /** Since the pulse's start; sorted. */
  files: string[];
  /** What git could not add: no part of the work, however it was judged. */
  leftOut?: string[];
}

export interface HookResult {
  failures: string[];
  /** As it is after the hooks, which may change files. */
  work: StagedWork;
  /** As commit-msg left it. */
  message: string;
}

export interface CheckResult {
  record: VerificationRecord;
  /** What lies beyond the baseline, in words; nothing: the check is content. */
  news: string[];
  beyond: BaselineIssue[];
}

export interface ReviewMaterial {
  log: string;
  files: { path: string; text: string }[];
  /** Matched, but too large to show. */
  more: string[];
}

/** The research log and the session's file, beside the user's work. */
export interface ResearchFiles {
  write(sessionId: string): Promise<void>;
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
  /** Whether the agent of this name understands a question; one that plays a part does not. */
  canBeAsked(agent: string): boolean;
}

/** Where a run tells what happens in it, while it happens. */
export interface RunListener {
  event(event: NewEvent): void;
  /** A completion was refused: durable before it is told. Returns how often the pulse has been refused by now. */
  rejected(refusal: Refusal): Promise<number>;
  /** What a person has said since the run's brief was written; each note once. */
  takeNotes?(): Promise<string[]>;
  /** All spending of the run so far. */
  spent(total: { costUsd: number | null; tokens: number }): void;
  /** `end` is called once all who draw on the run's budget have gone beyond it together. */
  whenOverspent?(end: (reason: 'budget_cost' | 'budget_tokens') => void): void;
}

export interface Refusal {
  pulseId: string;
  plannedPulseId: string;
  reasons: readonly string[];
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
}

export interface KickoffInput {
  state: SessionState;
  /** As it is in this run. */
  pulse: PulseRow;
  /** Set when the attempt before this one broke off. */
  interruption?: string | null;
}

export interface ExperimentBriefInput {
  state: SessionState;
  number: number;
  /** Set when it goes on. */
  experiment: Experiment | null;
  /** Set when the attempt before this one broke off. */
  interruption?: string | null;
}

export interface Briefs {
  compose(input: BriefInput): Promise<ComposedBrief>;
  /** What a pulse's run is told: its scope, the plan, one line for each earlier pulse, the rules. */
  kickoff(input: KickoffInput): Promise<ComposedBrief>;
  /** What an experiment's run is told: the review of seed 4, the order of ideas, and a crash to mend. */
  experiment(input: ExperimentBriefInput): Promise<ComposedBrief>;
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
