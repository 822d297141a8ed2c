/** What the API answers, as docs/protocol/dashboard.md and /openapi.json describe it. */
import type { z } from 'zod';
import type { BeadsAnswer, GraphAnswer } from '../../src/loops/beads/operations/view-schema.ts';
import type {
  MailboxAnswer,
  ResearchAnswer,
  TasksAnswer,
} from '../../src/loops/research/operations/view-schema.ts';
import type { BaselineAnswer, WorkflowAnswer } from '../../src/loops/workflow/operations/view-schema.ts';
import type { IterationsAnswer } from '../../src/operations/dashboard/view-schema.ts';
import type {
  ChangedChecksAnswer,
  EvidenceAnswer,
  IterationAnswer,
  JobAnswer,
  SessionAnswer,
  SessionViewAnswer,
} from '../../src/operations/session/view-schema.ts';

export type Session = z.infer<typeof SessionAnswer>['session'];
export type SessionView = z.infer<typeof SessionViewAnswer>;
export type IterationView = z.infer<typeof IterationAnswer>;
export type Iteration = z.infer<typeof IterationsAnswer>['iterations'][number];
export type Evidence = z.infer<typeof EvidenceAnswer>;
export type Verification = Evidence['verifications'][number];
export type Judgement = Evidence['judgements'][number];
export type Job = z.infer<typeof JobAnswer>['job'];
export type ChangedChecks = z.infer<typeof ChangedChecksAnswer>;
export type WorkflowView = z.infer<typeof WorkflowAnswer>;
export type Plan = WorkflowView['workflow']['plan'];
export type Pulse = WorkflowView['pulses'][number];
export type Baseline = z.infer<typeof BaselineAnswer>['baseline'];
export type ResearchView = z.infer<typeof ResearchAnswer>;
export type Experiment = ResearchView['experiments'][number];
export type CommanderTask = z.infer<typeof TasksAnswer>['tasks'][number];
export type CommanderMessage = z.infer<typeof MailboxAnswer>['messages'][number];
export type Bead = z.infer<typeof BeadsAnswer>['beads'][number];
export type Graph = z.infer<typeof GraphAnswer>;

export type Attention = 'needs_you' | 'failed' | 'no_runner' | 'waiting' | 'running' | 'done';
export type Trust = NonNullable<Session['trust']>;

export interface Now {
  step: string;
  iteration: number | null;
  unit: string | null;
  activity: string;
  since: string;
  at: string;
}

export interface Card extends Omit<Session, 'progress_log'> {
  attention: Attention;
  runner: 'alive' | 'elsewhere' | 'none';
  now: Now | null;
  short: string;
  unresolved: number;
  next: { label: string; command: string } | null;
}

export interface Head {
  session: Card;
  waiting: SessionView['waiting'];
  judgement: SessionView['judgement'];
  head: string | null;
  unresolved: SessionView['unresolved'];
  iterations: number;
  lastSeq: number;
}

export interface PulseEvent {
  seq: number;
  type: string;
  at: string;
  sessionId: string;
  iteration?: number;
  data: Record<string, unknown>;
}

export interface DiffFile {
  path: string;
  status: 'added' | 'modified' | 'deleted' | 'type_changed';
  added: number | null;
  removed: number | null;
  isBinary: boolean;
  oldMode: string | null;
  newMode: string | null;
  patch: string | null;
  isTruncated: boolean;
}

export interface Diff {
  from: string;
  to: string;
  files: DiffFile[];
  added: number;
  removed: number;
  isTruncated: boolean;
}

export interface Brief {
  iteration: number;
  text: string;
  tokens: number;
  sections: { title: string; text: string; tokens: number }[];
  anchor: { turnId: string; strategy: string | null; resolutionMs: number | null } | null;
  slice: string | null;
  contextTokens: number;
}

export interface TranscriptEntry {
  n: number;
  atMs: number;
  kind: string;
  text: string;
  data: Record<string, unknown>;
}

export interface Transcript {
  iteration: number;
  attempt: number;
  attempts: number[];
  agent: string | null;
  isRecorded: boolean;
  entries: TranscriptEntry[];
  nextAfter: number | null;
}

export interface Comment {
  path: string;
  side: 'old' | 'new';
  line: number;
  text: string;
}

export interface Draft {
  text: string;
  comments: Comment[];
  viewed: string[];
}

export interface Device {
  id: string;
  name: string;
  scopes: string[];
  createdAt: string;
  lastUsedAt: string | null;
  isThis: boolean;
}

export interface Sums {
  sessions: number;
  complete: number;
  verified: number;
  checksChanged: number;
  unverified: number;
  nothingChanged: number;
  discarded: number;
  iterations: number;
  commits: number;
  rejected: number;
  spentUsd: number;
  rejectedUsd: number;
  tokens: number;
  runningMs: number;
}

export interface Figures {
  from: string;
  to: string;
  total: Sums;
  rows: ({ key: string } & Sums)[];
}

export interface Check {
  isStartable: boolean;
  violations: { path: string; code: string; message: string; hint: string | null }[];
  dirty: { count: number; files: string[] };
  isUnverified: boolean;
  isCostUnknown: boolean;
  agent: string | null;
  base: { name: string | null; commit: string } | null;
  verify: string[];
  limits: {
    maxIterations: number | null;
    budgetUsd: number | null;
    budgetTokens: number | null;
    timeLimitMs: number | null;
  };
}

export interface MailMessage {
  id: string;
  thread_id: string;
  topic: string | null;
  sender_name: string;
  to: string[];
  subject: string;
  body_md: string;
  importance: string;
  ack_required: boolean;
  reply_to: string | null;
  created_at: string;
  acks: { agent_name: string; at: string }[];
}

export interface Reservation {
  id: string;
  agent_name: string;
  path: string;
  exclusive: boolean;
  reason: string | null;
  fence: number;
  created_at: string;
  expires_at: string;
}

export interface SwarmView {
  session: Session;
  swarm: {
    epic: string;
    feature: string;
    mode: 'worker' | 'standalone';
    workers: number;
    coordinator: string;
    hint: string | null;
  };
  workers: {
    sessionId: string;
    nickname: string;
    mailName: string | null;
    status: string;
    bead: string | null;
    contextUsed: number | null;
    leftFor: string | null;
    isWaiting: boolean;
    doing: { text: string; since: string } | null;
  }[];
  beads: {
    id: string;
    title: string;
    status: string;
    worker: string | null;
    commit: string | null;
    reason: string | null;
    closedAt: string | null;
  }[];
}
