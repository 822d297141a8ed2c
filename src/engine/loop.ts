/**
 * The seam between the engine and its loops (docs/decisions/0020): a loop is one value of the type `Loop`. It decides
 * purely, over what the store says; the engine does what it decided.
 */
import type { AttemptResult } from '../domain/attempt.ts';
import type { PulseError } from '../domain/errors.ts';
import type { NewEvent } from '../domain/events.ts';
import type { FailureClass } from '../domain/failures.ts';
import type { IdSource } from '../domain/ids.ts';
import type { Judgement } from '../domain/judgement.ts';
import type { IterationOutcome, StoppedStatus, StopReason } from '../domain/status.ts';
import type { Task } from '../store/inbox.ts';
import type { IterationHead } from '../store/iterations.ts';
import type { RetryCounters, Session, SessionControl } from '../store/sessions.ts';
import type { Db } from '../store/store.ts';
import type { Engine } from './engine.ts';
import type { ChildPlan } from './runner/children.ts';
import type { StepContext } from './runner/steps.ts';
import type { WorkKind } from './work.ts';

/** `Own`: the loop's own rows, folded. Every method may be called again after a crash. */
export interface Loop<Own = unknown> {
  readonly kind: string;
  readonly works: readonly WorkKind[];
  /** The effects that only this loop has; they join the engine's list of actions, and so get crash points. */
  readonly actions?: readonly string[];
  /** Reads its rows. Absent: it has none. */
  load?(db: Db, base: { session: Session; control: SessionControl; host: string }): Promise<Own>;
  /** Pure. */
  decide(state: SessionState<Own>): Step;
  /** What the step `{ do: 'host' }` of each name does. */
  readonly steps?: Readonly<Record<string, HostStepKind<Own>>>;
  /** The sessions that work for this one and are driven with it. */
  children?(own: Own): readonly Session[];
  /** Whose head its commits move, where that is not the session itself. */
  headOwner?(own: Own): Session;
  /** What becomes of a run's work when a person has moved the branch meanwhile. Default: `put_on_top`. */
  readonly whenBranchMoved?: 'put_on_top' | 'begin_again';
  /** A session that stopped in this way has nothing in its worktree that is worth keeping. */
  givesUpWorktree?(session: Session): boolean;
  /** Runs beside the runner while the session is driven. `null`: nothing does. */
  accompany?(
    engine: Engine,
    driven: { session: Session; control: SessionControl; token: number },
  ): Companion | null;
  readonly hooks?: LoopHooks<Own>;
}

/** Called by the engine at fixed places. Those that take a `db` are part of the engine's own transaction. */
export interface LoopHooks<Own = unknown> {
  /** Whether a step failed in this way because the rows that it was decided by have changed since. */
  isStale?(db: Db, state: SessionState<Own>, error: PulseError): Promise<boolean>;
  /** What must be in git, beyond the landing, before the verdict is written. */
  beforeSettle?(engine: Engine, settling: Settling<Own>): Promise<Verdict>;
  /** Writes the verdict's change. Returns the events that are told with the settled iteration. */
  settle?(db: Db, settlement: Settling<Own> & { ids: IdSource }): Promise<readonly NewEvent[]>;
  afterSettle?(engine: Engine, state: SessionState<Own>): Promise<void>;
  /** The session ends, or stops, without a live iteration. */
  end?(db: Db, state: SessionState<Own>, stop: Stop): Promise<void>;
  /** A person aborts it. */
  abort?(db: Db, session: Session): Promise<void>;
  /** A person resumes it. `branchHead`: where the session's branch is now; `ours`: commits that the engine has made. */
  resume?(
    db: Db,
    session: Session,
    found: { branchHead: string | null; ours: readonly string[] },
  ): Promise<void>;
  /** A person's commits have become the head. */
  adoptHead?(db: Db, owner: Session, sha: string): Promise<void>;
  /** Its children have been made. */
  spawned?(childIds: readonly string[]): readonly NewEvent[];
  /** Another session has ended that carries out what this one has found (`settings.implements`). */
  implemented?(db: Db, session: Session, by: { session: Session; stop: Stop }): Promise<void>;
  /** The same, once it is written: files follow from the rows. */
  afterImplemented?(engine: Engine, session: Session): Promise<void>;
  /** The session has ended; its worktree is still there. */
  beforeClose?(engine: Engine, state: SessionState<Own>): Promise<void>;
  /** The worktree goes. Does not throw; returns what a person should know. */
  close?(session: Session): Promise<NewEvent[]>;
  afterClose?(engine: Engine, state: SessionState<Own>): Promise<void>;
}

export interface Companion extends AsyncDisposable {
  /** The session has stopped: finishes within a bounded time. */
  finish(how: { isOver: boolean; isAborted: boolean }): Promise<void>;
}

export interface HostStepKind<Own = unknown> {
  perform(engine: Engine, context: HostStep<Own>): Promise<void>;
}

export interface HostStep<Own = unknown> extends Omit<StepContext, 'step' | 'state'> {
  state: SessionState<Own>;
  data: never;
}

export interface Settling<Own = unknown> {
  state: SessionState<Own>;
  live: LiveIteration;
  result: AttemptResult;
  verdict: Verdict;
}

export interface LiveIteration {
  iteration: IterationHead;
  task: Task;
  /** `lost`: the owner of the attempt is dead or gave it back, or its lease is over. */
  lease: 'none' | 'held' | 'lost';
  /** The attempt waits for its time (a back-off, a usage limit). */
  isWaiting: boolean;
}

export interface SessionState<Own = unknown> {
  session: Session;
  control: SessionControl;
  /** Settled iterations, newest first; only the few that a decision can depend on. */
  recent: readonly IterationHead[];
  live: LiveIteration | null;
  /** Whether the reported tree is one the session has not had before. */
  isNewTree: boolean;
  /** What the loop has read of its own. */
  own: Own;
}

export interface Stop {
  status: StoppedStatus;
  reason: StopReason;
  detail: string | null;
}

/** What an ended attempt means. Written in one transaction with the session's next step. */
export interface Verdict {
  status: 'complete' | 'failed' | 'timeout';
  outcome: IterationOutcome;
  signal: string | null;
  signalSource: string | null;
  signalRule: string | null;
  reason: string | null;
  anchorHint: string | null;
  failureClass: FailureClass | null;
  /** Where the commit goes. Absent: onto the session's head, if there is one. */
  landing?: Landing;
  /** How many commits its landing brings onto the head. Default: one. */
  commits?: number;
  /** What the referee said of the unit, where the loop has asked it during the run. */
  judgement?: Judgement;
  /** What the loop writes with it (`LoopHooks.settle`). */
  change?: unknown;
  /** `null`: the loop continues. */
  stop: Stop | null;
}

/**
 * Where a commit goes, as names in git. Doing it again is no error. The attempt's own ref goes with it.
 * With `head`, the head of the session (or of whom it works for) moves from there to the commit.
 */
export interface Landing {
  head: { from: string; to: string } | null;
  /** Written first. */
  name?: Readonly<Record<string, string>>;
  /** Deleted once the commit has its new name. */
  drop?: readonly string[];
  /** Goes only where it still stands there, and nobody has it checked out. */
  dropBranch?: { branch: string; at: string };
}

export interface Retry {
  /** Another agent takes over. */
  agent?: string;
  delayMs: number;
  /** How long a service that is away is waited for in all. */
  patienceMs?: number;
  failureClass: FailureClass;
  message: string;
  counters: RetryCounters;
}

export type Step =
  | { do: 'start' }
  /** An attempt of this kind of work is dispatched. */
  | { do: 'run'; work: string; data?: unknown }
  /** A step of the loop's own, by its name. */
  | { do: 'host'; name: string; data: unknown }
  | { do: 'spawn'; children: readonly ChildPlan[] }
  | { do: 'wait' }
  | { do: 'requeue'; live: LiveIteration }
  | { do: 'settle'; live: LiveIteration; result: AttemptResult; verdict: Verdict }
  | { do: 'retry'; live: LiveIteration; result: AttemptResult; retry: Retry }
  | { do: 'interrupt'; live: LiveIteration }
  | { do: 'end'; stop: Stop }
  | { do: 'leave' };
