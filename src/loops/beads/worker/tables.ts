/** The tables of swarms: who works on an epic, and what became of each bead that was taken. */
import type { ColumnTypes } from '../../../store/migrations/types.ts';
import type { Json } from '../../../store/schema.ts';
import type { Db } from '../../../store/store.ts';

export interface SwarmsTable {
  session_id: string;
  project_id: string;
  epic: string;
  feature: string;
  /** `worker`: several, by mail and a queue; `standalone`: one alone. */
  mode: string;
  workers: number;
  coordinator: string;
  hint: string | null;
  created_at: string;
}

export interface BeadWorkersTable {
  session_id: string;
  swarm_id: string;
  nickname: string;
  /** What it is called in mail; `null`: it has not registered yet. */
  mail_name: string | null;
  acknowledged_at: string | null;
  /** When its inbox was last read. */
  inbox_at: string | null;
  /** When the epic's topic was last read. */
  topic_at: string | null;
  /** How full the context of its last run was, from 0 to 1; `null`: not told. */
  context_used: number | null;
  /** It has stopped for this, and another takes its place. */
  left_for: string | null;
  created_at: string;
}

/** A bead that a worker took, until it is closed or given back. A later try is another row. */
export interface BeadTriesTable {
  id: string;
  session_id: string;
  swarm_id: string;
  project_id: string;
  bead_id: string;
  fence: number;
  status: string;
  start_sha: string;
  /** What the worker has of it, as a commit. */
  wip_sha: string | null;
  runs: number;
  /** Verifications that failed. */
  failures: number;
  /** How often it did not fit on what was merged meanwhile. */
  conflicts: number;
  /** What the next run is told, as JSON: `Again`. */
  again: Json | null;
  /** A completion that was judged good and is not merged yet, as JSON: `Completion`. */
  completion: Json | null;
  commit_sha: string | null;
  /** When its tests were first seen to fail. */
  red_at: string | null;
  reason: string | null;
  created_at: string;
  ended_at: string | null;
}

type WorkerTables = { swarms: SwarmsTable; bead_workers: BeadWorkersTable; bead_tries: BeadTriesTable };

export function withWorkerTables(db: Db) {
  return db.withTables<WorkerTables>();
}

export function workersMigration({ json, real, bigint }: ColumnTypes): string[] {
  return [
    `CREATE TABLE swarms (
      session_id text PRIMARY KEY REFERENCES pulse_sessions (id),
      project_id text NOT NULL,
      epic text NOT NULL,
      feature text NOT NULL,
      mode text NOT NULL CHECK (mode IN ('worker','standalone')),
      workers integer NOT NULL,
      coordinator text NOT NULL,
      hint text,
      created_at text NOT NULL
    )`,
    `CREATE TABLE bead_workers (
      session_id text PRIMARY KEY REFERENCES pulse_sessions (id),
      swarm_id text NOT NULL REFERENCES swarms (session_id),
      nickname text NOT NULL,
      mail_name text,
      acknowledged_at text,
      inbox_at text,
      context_used ${real},
      left_for text,
      created_at text NOT NULL
    )`,
    'CREATE INDEX bead_workers_of_swarm ON bead_workers (swarm_id)',
    `CREATE TABLE bead_tries (
      id text PRIMARY KEY,
      session_id text NOT NULL REFERENCES pulse_sessions (id),
      swarm_id text NOT NULL REFERENCES swarms (session_id),
      project_id text NOT NULL,
      bead_id text NOT NULL,
      fence ${bigint} NOT NULL,
      status text NOT NULL CHECK (status IN ('working','accepted','closed','blocked','released')),
      start_sha text NOT NULL,
      wip_sha text,
      runs integer NOT NULL,
      failures integer NOT NULL,
      conflicts integer NOT NULL,
      again ${json},
      completion ${json},
      commit_sha text,
      reason text,
      created_at text NOT NULL,
      ended_at text
    )`,
    // One bead at a time for each worker.
    `CREATE UNIQUE INDEX bead_tries_at_work ON bead_tries (session_id) WHERE status IN ('working','accepted')`,
    'CREATE INDEX bead_tries_of_swarm ON bead_tries (swarm_id, created_at)',
  ];
}

export function redMigration(): string[] {
  return ['ALTER TABLE bead_tries ADD COLUMN red_at text'];
}

export function topicMigration(): string[] {
  return ['ALTER TABLE bead_workers ADD COLUMN topic_at text'];
}
