/** What the package offers to other programs; docs/typescript.md shows how it is used. */
import type { Pulse } from './pulse.ts';

export { PulseError } from './domain/errors.ts';
export type { PulseEvent } from './domain/events.ts';
export { type ParsedSignal, parseSignal } from './domain/signals.ts';
export { createPulse, type DaemonOptions, type Pulse, type PulseHost, type PulseOptions } from './pulse.ts';

// What the methods take beside the id.
// biome-ignore lint/suspicious/noExplicitAny: any method
type Method = (...given: any[]) => unknown;
type First<M extends Method> = NonNullable<Parameters<M>[0]>;
type Second<M extends Method> = NonNullable<Parameters<M>[1]>;
export type StartInput = First<Pulse['start']>;
export type ListInput = First<Pulse['list']>;
export type ShowInput = Second<Pulse['show']>;
export type ShowContextInput = Second<Pulse['showContext']>;
export type PauseInput = Second<Pulse['pause']>;
export type ResumeInput = Second<Pulse['resume']>;
export type NoteInput = Second<Pulse['note']>;
export type AbortInput = Second<Pulse['abort']>;
export type WorkflowStartInput = First<Pulse['workflow']['start']>;
export type WorkflowApproveInput = Second<Pulse['workflow']['approve']>;
export type WorkflowExtensionInput = Second<Pulse['workflow']['decideExtension']>;
export type WorkflowReviewInput = Second<Pulse['workflow']['review']>;
export type ResearchStartInput = First<Pulse['research']['start']>;
export type ResearchFinishInput = Second<Pulse['research']['finish']>;
export type BeadCreateInput = First<Pulse['bead']['create']>;
export type BeadUpdateInput = Second<Pulse['bead']['update']>;
export type BeadNextInput = First<Pulse['bead']['next']>;
export type MailSendInput = First<Pulse['mail']['send']>;
export type ReserveInput = First<Pulse['reservations']['reserve']>;
export type ReportInput = Second<Pulse['research']['writeReport']>;
export type AcceptInput = Second<Pulse['accept']>;
export type RejectInput = Second<Pulse['reject']>;
export type MergeInput = Second<Pulse['merge']>;
export type FollowUpInput = Second<Pulse['followUp']>;
export type CleanInput = First<Pulse['clean']>;
export type SearchInput = First<Pulse['search']>;
export type SwarmStartInput = First<Pulse['swarm']['start']>;
export type SwarmReassignInput = Second<Pulse['swarm']['reassign']>;
export type BeadPlanInput = First<Pulse['bead']['plan']>;
export type ImportTurnsInput = First<Pulse['context']['importTurns']>;
export type SearchTurnsInput = First<Pulse['context']['searchTurns']>;
export type SearchCodeInput = First<Pulse['context']['searchCode']>;
export type MailReplyInput = Second<Pulse['mail']['reply']>;
export type ScheduleAddInput = First<Pulse['schedule']['add']>;
export type NotificationsInput = First<Pulse['notifications']['list']>;

export type { InboxMessage, MessageView } from './coordination/mail/read-messages.ts';
export type { ReserveAnswer } from './coordination/operations/reservations.ts';
export type { ConflictView } from './coordination/reservations/conflicts.ts';
export type { ReservationView } from './coordination/reservations/held.ts';
export type { Imported } from './loops/beads/exchange/import-issues.ts';
export type { NextView } from './loops/beads/operations/read.ts';
export type { BeadView, GraphView } from './loops/beads/operations/view-schema.ts';
export type { CommanderMessage } from './loops/research/commander/rows.ts';
export type { TaskView } from './loops/research/operations/commander.ts';
export type { Finished } from './loops/research/operations/finish.ts';
export type { ResearchRows } from './loops/research/operations/research.ts';
export type { ExperimentView, ResearchView } from './loops/research/operations/view.ts';
export type { Reviewed } from './loops/workflow/operations/review.ts';
export type {
  BaselineView,
  PulseView,
  WorkflowDiff,
  WorkflowView,
} from './loops/workflow/operations/view.ts';
export type { WorkflowRows } from './loops/workflow/operations/workflow.ts';
// What they give.
export type { Resumed } from './operations/control.ts';
export type { SessionExport } from './operations/export.ts';
export type { CallDefaults } from './operations/methods.ts';
export type { CallerOptions } from './operations/operation.ts';
export type { Started, StartNotes } from './operations/start.ts';
export type { CheckedEvidence, Verdict, VerifyReport } from './operations/verify.ts';
export type {
  ContextView,
  FollowOptions,
  IterationView,
  RunnerState,
  SessionView,
  Waiting,
} from './operations/view.ts';
export type { Iteration } from './store/iterations.ts';
export type { Session } from './store/sessions.ts';
export type { StoredVerification } from './store/verifications.ts';
