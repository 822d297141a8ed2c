/** A loop is a pure function over what the store says: it decides, the runner does (docs/decisions/0001). */
import type { AttemptResult } from '../domain/attempt.ts';
import type { NewEvent } from '../domain/events.ts';
import type { FailureClass } from '../domain/failures.ts';
import type { Plan } from '../domain/plan.ts';
import type { IterationOutcome, StoppedStatus, StopReason } from '../domain/status.ts';
import type { PulseStatus } from '../domain/workflow.ts';
import type { ResearchFile } from '../research/research-file.ts';
import type { Task } from '../store/inbox.ts';
import type { IterationHead } from '../store/iterations.ts';
import type { Experiment, ExperimentPatch, Research } from '../store/research.ts';
import type { RetryCounters, Session, SessionControl } from '../store/sessions.ts';
import type { PreflightSetup, PulsePatch, PulseRow, Workflow } from '../store/workflows.ts';

export interface LiveIteration {
  iteration: IterationHead;
  task: Task;
  /** `lost`: whoever ran the attempt is dead, gave it back, or its lease is over. */
  lease: 'none' | 'held' | 'lost';
  /** The attempt waits for its time (a back-off, a usage limit). */
  isWaiting: boolean;
}

export interface SessionState {
  session: Session;
  control: SessionControl;
  /** Settled iterations, newest first; only the few that a decision can depend on. */
  recent: readonly IterationHead[];
  live: LiveIteration | null;
  /** Whether the reported tree is one the session has not had before. */
  isNewTree: boolean;
  /** `null` unless the session is a workflow. */
  workflow: WorkflowState | null;
  /** `null` unless the session is research. */
  research: ResearchState | null;
}

export interface ResearchState {
  research: Research;
  file: ResearchFile;
  /** The one that this session edits. */
  running: Experiment | null;
  /** How many have been begun, by whomever. */
  count: number;
  /** The session whose research it is: this one, or the one that this one works for. */
  lead: Session;
  /** Those that work for this one. */
  workers: readonly Session[];
  /** The commit that a change has to beat. */
  bestSha: string;
  /** The best was read on another host, whose readings say nothing here. */
  isReadElsewhere: boolean;
}

export interface WorkflowState {
  workflow: Workflow;
  /** In the order of the queue. */
  pulses: readonly PulseRow[];
  preflight: PreflightSetup | null;
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
  /** What becomes of a pulse, where the unit was one. */
  pulse?: PulseChange;
  experiment?: ExperimentChange;
  /** The plan that a drafting run proposed. */
  plan?: Plan;
  /** `null`: the loop goes on. */
  stop: Stop | null;
}

/** Where the unit's commit goes: a pulse's work in progress is kept aside, a given-up pulse's on its own branch. */
export type Landing = 'branch' | 'wip' | 'recovery';

export interface ExperimentChange {
  experiment: Experiment;
  status: Experiment['status'];
  landing: 'branch' | 'wip' | 'discarded';
  patch: ExperimentPatch;
  /** What changes for the session: the best, and what is known of its noise. */
  research: {
    best?: number | null;
    best_experiment?: number;
    best_sha?: string | null;
    reference?: string;
    good_runs_ms?: string;
  };
  events: readonly NewEvent[];
}

export interface PulseChange {
  pulse: PulseRow;
  to: PulseStatus;
  landing: Landing;
  patch: PulsePatch;
  events: readonly NewEvent[];
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
  | { do: 'agent'; unit: string | null; isDiagnostic: boolean; asksConfirmation: boolean }
  | { do: 'baseline' }
  | { do: 'experiment'; experiment: Experiment | null }
  | { do: 'hire'; count: number }
  | { do: 'plan' }
  | { do: 'preflight' }
  | { do: 'pulse'; pulse: PulseRow }
  | { do: 'abandon'; live: LiveIteration; pulse: PulseRow }
  /** Without a stop the session goes on: the pulse is begun anew. */
  | { do: 'give_up'; change: PulseChange; stop: Stop | null }
  | { do: 'wait' }
  | { do: 'requeue'; live: LiveIteration }
  | { do: 'settle'; live: LiveIteration; result: AttemptResult; verdict: Verdict }
  | { do: 'retry'; live: LiveIteration; result: AttemptResult; retry: Retry }
  | { do: 'interrupt'; live: LiveIteration }
  | { do: 'end'; stop: Stop }
  | { do: 'leave' };

export interface Loop {
  readonly kind: string;
  decide(state: SessionState): Step;
}
