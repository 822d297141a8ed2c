/** What happened, in order. A state and its event are one transaction (docs/protocol/interfaces.md, Events). */
export const EVENT_TYPES = [
  'session.created',
  'session.started',
  'session.blocked',
  'session.paused',
  'session.resumed',
  'session.failed',
  'session.aborted',
  'session.ended',
  'session.merged',
  'session.discarded',
  'session.followed',
  'pull_request.opened',
  'pull_request.answered',
  'pull_request.closed',
  'note.added',
  'note.delivered',
  'checks.accepted',
  'checks.rejected',
  'proof.failed',
  'iteration.planned',
  'iteration.dispatched',
  'iteration.started',
  'iteration.progress',
  'iteration.ended',
  'iteration.nudged',
  'iteration.verified',
  'iteration.reviewed',
  'iteration.settled',
  'iteration.retried',
  'files.omitted',
  'branch.lagged',
  'branch.followed',
  'branch.adopted',
  'worktree.kept',
  'submodule.kept',
  'agent.text',
  'agent.tool',
  'agent.usage',
  'agent.retry',
  'agent.limit',
  'agent.waiting',
  'agent.queued',
  'agent.denied',
  'agent.compacted',
  'signal.received',
  'budget.warned',
  'preflight.started',
  'preflight.progress',
  'preflight.completed',
  'preflight.failed',
  'preflight.base',
  'pulse.started',
  'pulse.rejected',
  'pulse.extended',
  'pulse.failed',
  'pulse.stopped',
  'experiment.workers',
  'experiment.started',
  'experiment.kept',
  'experiment.discarded',
  'experiment.crashed',
  'experiment.surprised',
  'experiment.status',
  'PlanCardResolved',
  'PulseCompleted',
  'ExtensionApproved',
] as const;
/** A loop adds the names of its own events here, by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: it is there to be merged with
export interface LoopEventTypes {}

export type EventType = (typeof EVENT_TYPES)[number] | keyof LoopEventTypes;

/** An event before it is written: the store gives it its `seq` and its time. */
export interface NewEvent {
  type: EventType;
  iteration?: number;
  data?: Record<string, unknown>;
}

export interface PulseEvent {
  seq: number;
  type: EventType;
  at: string;
  sessionId: string;
  iteration?: number;
  data: Record<string, unknown>;
}
