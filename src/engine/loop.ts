/** A loop is a pure function over what the store says: it decides, the runner does (docs/decisions/0001). */
import type { AttemptResult } from '../domain/attempt.ts';
import type { FailureClass } from '../domain/failures.ts';
import type { IterationOutcome, StoppedStatus, StopReason } from '../domain/status.ts';
import type { Task } from '../store/inbox.ts';
import type { IterationHead } from '../store/iterations.ts';
import type { RetryCounters, Session, SessionControl } from '../store/sessions.ts';

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
  /** `null`: the loop goes on. */
  stop: Stop | null;
}

export interface Retry {
  delayMs: number;
  failureClass: FailureClass;
  message: string;
  counters: RetryCounters;
}

export type Step =
  | { do: 'start' }
  | { do: 'agent'; unit: string | null; isDiagnostic: boolean; asksConfirmation: boolean }
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
