/** What an attempt may be. A loop brings its kinds of work; the engine knows only this form of them. */

import type { RunEvent } from '../agents/contract.ts';
import type { AttemptResult, AttemptSpec, RunReport, VerificationRecord } from '../domain/attempt.ts';
import { PulseError } from '../domain/errors.ts';
import type { NewEvent } from '../domain/events.ts';
import type { Db } from '../store/store.ts';
import type { Tool, ToolReply } from '../tools/contract.ts';
import type { Engine } from './engine.ts';
import type { LiveIteration, SessionState } from './loop.ts';
import type { ComposedBrief, HeldAttempt, OnCommand, RunListener, UnitCommit } from './ports.ts';
import type { AttemptPart } from './runner/dispatch.ts';

/** A kind of work, by the name that stands in an attempt's row. */
export interface WorkKind<W = unknown> {
  readonly kind: string;
  /** The data of the row, checked. Throws where they are not of this kind. */
  read(stored: unknown): W;
  /** What is dispatched when the loop has decided on it. Actions before the dispatch are done here. */
  plan(engine: Engine, request: WorkRequest): Promise<PlannedRun>;
  /** What the agent is told when an attempt is done again. */
  composeRetryBrief(engine: Engine, retry: RetryBrief<W>): Promise<ComposedBrief>;
  /** What its commit is made of. Absent: one run becomes one commit on its start. */
  git?(work: W, spec: Pick<AttemptSpec, 'startSha'>): Partial<WorkGit>;
  /** The message of the commit. Absent: the summary of what the agent said last. */
  message?(run: { work: W; iteration: number; result: AttemptResult; agent: string }): {
    subject: string;
    body?: string;
  };
  /** Absent: the work is an agent's. */
  runsWithoutAgent?(work: W): boolean;
  /** Checks that the loop judges the work by: they run on its base before the agent does. */
  baseChecks?(work: W): { commands: readonly string[]; baseSha: string };
  /** The programs of this loop (`LoopModule.programs`) are on its agent's PATH, behind all others. */
  readonly programs?: string;
  /** What the agent's shell knows of its work, beside what every run has. */
  variables?(work: W): Record<string, string>;
  /** A run that ended without a signal is asked for it. */
  readonly asksForSignal?: boolean;
  /** A run whose context was full is continued by another: its work is kept. Absent: it is done again from its start. */
  readonly continuesAfterOverflow?: boolean;
  /** What the run changes is thrown away. */
  readonly keepsNothing?: boolean;
  /** Adds what is too large for the row, in the transaction in which this process claims the attempt. */
  load?(db: Db, work: W, claim: { owner: string }): Promise<W>;
  /** The data for the next try of an attempt that is taken back. Absent: the same. */
  carryOver?(state: SessionState, work: W): W;
  /** The loop's tools inside a run. */
  protocol?(run: ProtocolRun<W>): RunProtocol;
  /** What is kept of the report once the attempt is settled. Absent: nothing. */
  keptOwn?(own: unknown): unknown;
  /** Another course than the ordinary one (set up, run, commit, verify). `null`: the ordinary one. */
  execute?(course: AttemptCourse<W>): Promise<AttemptEnd> | null;
  /** What Pulse does with the commit before it reports. Returns `null` where the attempt was interrupted. */
  examine?(course: AttemptCourse<W>, made: ExaminedUnit): Promise<Finding | null>;
}

/** Decided by a loop: which kind of work, and the rows that it is about. */
export interface WorkRequest<Own = never, Data = never> {
  state: SessionState<Own>;
  data: Data;
}

export interface RetryBrief<W> {
  state: SessionState<never>;
  live: LiveIteration;
  work: W;
  interruption: Interruption;
}

export interface Interruption {
  attempt: number;
  /** Where what the interrupted attempt left is kept. */
  recoveryRef: string | null;
  /** `null`: it was not interrupted, only asked again. */
  reason: string | null;
}

/** An attempt that is about to be dispatched. */
export interface PlannedRun {
  unit: string | null;
  brief: ComposedBrief;
  /** Where it starts, if not at the session's head. */
  startSha?: string;
  /** What the attempt has that an ordinary one has not. */
  part?: AttemptPart;
  /** Beside the ones that every run has. */
  moreTools?: readonly string[];
  events?: readonly NewEvent[];
  /** The iteration before it may have left files, although it came to a good end. */
  recoversLast?: boolean;
  /** In the dispatching transaction. `false`: the rows have changed since the decision, and nothing is dispatched. */
  isStillDue?(db: Db): Promise<boolean>;
  /** The loop's own rows, in the same transaction. */
  write?(db: Db): Promise<void>;
  /** The transaction was refused, or (`null`) nothing was due by then: takes back what `plan` has done. */
  undo?(error: unknown): Promise<void>;
}

export interface WorkGit {
  /** The only parent of the commit. */
  parent: string;
  /** Untracked paths that are never committed, cleaned or counted. */
  keepOut: string[];
  /** The worktree is reset to the start, in every case. */
  beginsClean: boolean;
  /** Setup is done again where the worktree was cleaned. */
  forgetsSetup: boolean;
  /** Several runs become one commit: a run may start on work in progress. */
  isUnit: boolean;
  trailers: Readonly<Record<string, string>>;
}

export interface ProtocolRun<W> {
  attempt: HeldAttempt;
  work: W;
  listener: RunListener;
  signal: AbortSignal;
  /** Ends the agent now; what it did is kept, and that it was ended is no failure. */
  endRun?(): void;
}

/** What a loop adds to a run: tools of its own, and what came of them. */
export interface RunProtocol {
  tools: Tool[];
  /** Why the agent may not change this file of its worktree now, from its root; `null`: it may. */
  refuseEdit?(path: string): Promise<string | null>;
  /** What has come for the agent since it was last told, in words; each thing once. `null`: nothing. */
  takeNews?(): Promise<string | null>;
  saw?(event: RunEvent): void;
  /** One of Pulse's own tools was called. */
  called?(call: { name: string; input: unknown; reply: ToolReply }): void;
  /**
   * The agent is gone, before `report`: what it asked for last is answered still if it ended cleanly, else broken off.
   * Nothing of it runs afterwards.
   */
  settled?(end: { isClean: boolean; finalMessage: string }): Promise<void>;
  report(): Pick<RunReport, 'accepted' | 'checks' | 'own'>;
}

export type AttemptEnd = 'reported' | 'interrupted';

/** An attempt while it is executed, with the steps that a loop may put together in its own way. */
export interface AttemptCourse<W = unknown> {
  engine: Engine;
  attempt: HeldAttempt;
  work: W;
  signal: AbortSignal;
  /** What an earlier claim has recorded of the agent's run. */
  recorded: AttemptResult | null;
  setUp(options?: { signal?: AbortSignal; onCommand?: OnCommand }): Promise<VerificationRecord | null>;
  /** Runs the agent and makes its end durable. */
  runAgent(): Promise<AttemptResult>;
  /** A result that has nothing in it yet. */
  emptyResult(setupFailure: VerificationRecord | null): AttemptResult;
  report(result: Omit<AttemptResult, 'stage'>): Promise<AttemptEnd>;
}

export interface ExaminedUnit {
  unit: UnitCommit;
  run: RunReport | null;
}

export interface Finding {
  own: unknown;
  ownMs: number;
}

/** All kinds of work of all loops. */
export interface WorkKinds {
  /** The kind of an attempt's work, and its data. */
  of(spec: Pick<AttemptSpec, 'work'>): { kind: WorkKind; work: unknown };
  named(kind: string): WorkKind;
  gitOf(spec: Pick<AttemptSpec, 'work' | 'startSha'>): WorkGit;
}

/** What an attempt is that says nothing else. */
const ORDINARY = { kind: 'run' };

export function createWorkKinds(kinds: readonly WorkKind[]): WorkKinds {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  if (byName.size !== kinds.length) throw new TypeError('two kinds of work have one name');
  /** A row's data are checked once. */
  const checked = new WeakMap<object, unknown>();

  function named(name: string): WorkKind {
    const kind = byName.get(name);
    if (!kind) throw new PulseError('internal_error', `No loop knows work of the kind ${name}.`);
    return kind;
  }

  function of({ work: stored }: Pick<AttemptSpec, 'work'>): { kind: WorkKind; work: unknown } {
    const data = stored ?? ORDINARY;
    const kind = named(data.kind);
    if (!checked.has(data)) checked.set(data, kind.read(data));
    return { kind, work: checked.get(data) };
  }

  return {
    of,
    named,
    gitOf(spec) {
      const { kind, work } = of(spec);
      return { ...plainGit(spec), ...kind.git?.(work, spec) };
    },
  };
}

function plainGit({ startSha }: Pick<AttemptSpec, 'startSha'>): WorkGit {
  return {
    parent: startSha,
    keepOut: [],
    beginsClean: false,
    forgetsSetup: false,
    isUnit: false,
    trailers: {},
  };
}
