import type { ColumnTypes } from './types.ts';

/**
 * A mark for each transaction under way on PostgreSQL: when the answer to a COMMIT is lost, the mark tells whether it was
 * kept. A later transaction of the same process removes it. SQLite always knows, and leaves the table empty.
 */
export function commitMarksMigration(_: ColumnTypes): string[] {
  return ['CREATE TABLE commit_marks (id text PRIMARY KEY, made_at text NOT NULL)'];
}
