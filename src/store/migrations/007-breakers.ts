import type { ColumnTypes } from './types.ts';

/** Services that do not answer: one row for each agent while its breaker is not closed. */
export function breakersMigration(_: ColumnTypes): string[] {
  return [
    `CREATE TABLE agent_breakers (
      key text PRIMARY KEY,
      state text NOT NULL CHECK (state IN ('open','half_open')),
      trips integer NOT NULL,
      failure_class text NOT NULL,
      retry_at text NOT NULL
    )`,
  ];
}
