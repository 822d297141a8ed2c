import type { ColumnTypes } from './types.ts';

/** What the referee has run and found: each run once, each judgement with the attempt that claimed. */
export function refereeMigration({ json }: ColumnTypes): string[] {
  return [
    `CREATE TABLE check_runs (
      session_id text NOT NULL,
      run_key text NOT NULL,
      run ${json} NOT NULL,
      created_at text NOT NULL,
      PRIMARY KEY (session_id, run_key)
    )`,
    `CREATE TABLE judgements (
      session_id text NOT NULL,
      iteration_number integer NOT NULL,
      attempt integer NOT NULL,
      verdict text NOT NULL,
      judgement ${json} NOT NULL,
      decided_by text,
      decided_at text,
      proof text,
      PRIMARY KEY (session_id, iteration_number, attempt)
    )`,
    `ALTER TABLE pulse_sessions ADD COLUMN trust text`,
    `ALTER TABLE verifications ADD COLUMN detail ${json}`,
  ];
}
