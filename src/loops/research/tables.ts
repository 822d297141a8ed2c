/** The tables of research as rows. */

import type { Json, JsonOrNull } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';
import type {
  CommanderCommentsTable,
  CommanderMessagesTable,
  CommanderOutboxTable,
  CommanderTasksTable,
} from './commander/tables.ts';

export interface ResearchesTable {
  session_id: string;
  content: Json;
  /** As the session's file calls it: researching, implementing, complete, paused. */
  phase: string;
  /** What is known of the best so far; `null` before the baseline. */
  reference: JsonOrNull;
  baseline: number | null;
  best: number | null;
  best_experiment: number | null;
  /** How long the newest good readings took. */
  good_runs_ms: Json;
  /** `null`: no end. */
  iterations: number | null;
  findings: string;
  created_at: string;
  /** How many sessions edit at once; 1: the session itself does. */
  parallel: number;
  /** The commit of the best; `null`: nothing was kept yet. */
  best_sha: string | null;
  /** Where the best was read: readings of different hosts are never compared. */
  host: string | null;
  /** What `finish --implement` made of the findings. */
  implementation: string | null;
  finished_by: string | null;
  finished_at: string | null;
}

export interface ExperimentsTable {
  session_id: string;
  number: number;
  status: 'running' | 'keep' | 'discard' | 'crash';
  description: string;
  fingerprint: string;
  start_sha: string;
  commit_hash: string | null;
  wip_sha: string | null;
  metric: number | null;
  /** Against the best before. */
  delta: number | null;
  reason: string | null;
  decision: JsonOrNull;
  crashes: Json;
  runs: number;
  duration_ms: number;
  started_at: string;
  ended_at: string | null;
  /** The session that edits it, where that is not the research itself; else empty. */
  worker_id: string;
  /** 1: something else was kept meanwhile; it is to be put on top of that and measured. */
  is_outdated: number;
}

export type ResearchTables = {
  researches: ResearchesTable;
  experiments: ExperimentsTable;
  commander_tasks: CommanderTasksTable;
  commander_comments: CommanderCommentsTable;
  commander_messages: CommanderMessagesTable;
  commander_outbox: CommanderOutboxTable;
};

/** The store, with the tables of research in its types. */
export function withResearchTables(db: Db) {
  return db.withTables<ResearchTables>();
}
