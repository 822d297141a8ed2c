import type { ColumnTypes } from './types.ts';

/** What `serve` must not forget when it dies: the requests it has answered, and the sessions it runs. */
export function idempotencyMigration(_: ColumnTypes): string[] {
  return [
    // The answer is text, not json: a repeated request gets the same bytes.
    `CREATE TABLE idempotency_keys (
      key text PRIMARY KEY,
      digest text NOT NULL,
      session_id text NOT NULL REFERENCES pulse_sessions (id),
      status integer,
      answer text,
      created_at text NOT NULL
    )`,
    `CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)`,
    `ALTER TABLE session_controls ADD COLUMN served_by text`,
  ];
}
