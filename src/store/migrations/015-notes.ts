import type { ColumnTypes } from './types.ts';

/** What a person says to a session without stopping it: open until a brief has quoted it. */
export function notesMigration(_: ColumnTypes): string[] {
  return [
    `CREATE TABLE notes (
      id text PRIMARY KEY,
      session_id text NOT NULL,
      text text NOT NULL,
      actor text NOT NULL,
      iteration_number integer,
      delivered_at text,
      created_at text NOT NULL
    )`,
    'CREATE INDEX notes_of_session ON notes (session_id, iteration_number)',
  ];
}
