import type { ColumnTypes } from './types.ts';

/** Research sessions: what is measured, what is best, and every experiment with its decision. */
export function researchMigration({ json, real, bigint }: ColumnTypes): string[] {
  return [
    `CREATE TABLE researches (
      session_id text PRIMARY KEY REFERENCES pulse_sessions (id),
      content ${json} NOT NULL,
      phase text NOT NULL,
      reference ${json},
      baseline ${real},
      best ${real},
      best_experiment integer,
      good_runs_ms ${json} NOT NULL,
      iterations integer,
      findings text NOT NULL,
      created_at text NOT NULL
    )`,

    `CREATE TABLE experiments (
      session_id text NOT NULL REFERENCES pulse_sessions (id),
      number integer NOT NULL,
      status text NOT NULL CHECK (status IN ('running','keep','discard','crash')),
      description text NOT NULL,
      fingerprint text NOT NULL,
      start_sha text NOT NULL,
      commit_hash text,
      wip_sha text,
      metric ${real},
      delta ${real},
      reason text,
      decision ${json},
      crashes ${json} NOT NULL,
      runs integer NOT NULL,
      duration_ms ${bigint} NOT NULL,
      started_at text NOT NULL,
      ended_at text,
      PRIMARY KEY (session_id, number)
    )`,
    `CREATE INDEX experiments_by_fingerprint ON experiments (session_id, fingerprint)`,
    `CREATE UNIQUE INDEX one_running_experiment ON experiments (session_id) WHERE status = 'running'`,
  ];
}
