import type { ColumnTypes } from './types.ts';

/** What ended sessions add up to is kept once (figures.ts). */
export function countedSessionsMigration({ bigint, real }: ColumnTypes): string[] {
  return [
    `CREATE TABLE ended_figures (
      status text NOT NULL,
      sessions ${bigint} NOT NULL,
      spent_usd ${real} NOT NULL,
      tokens ${real} NOT NULL,
      settled_iterations ${bigint} NOT NULL
    )`,
    `ALTER TABLE session_controls ADD COLUMN is_counted integer NOT NULL DEFAULT 0`,
    `CREATE INDEX session_controls_uncounted ON session_controls (session_id, settled_iterations)
      WHERE is_counted = 0`,
    `DROP INDEX pulse_sessions_figures`,
    `DROP INDEX session_controls_figures`,
  ];
}
