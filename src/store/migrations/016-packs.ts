import type { ColumnTypes } from './types.ts';

/** Each text once, and packed when its session is over (docs/decisions/0018). */
export function packsMigration({ bytes, bigint }: ColumnTypes): string[] {
  return [
    `CREATE TABLE packs (
      session_id text NOT NULL REFERENCES pulse_sessions (id),
      kind text NOT NULL CHECK (kind IN ('texts','events')),
      first_number ${bigint} NOT NULL,
      last_number ${bigint} NOT NULL,
      packed_at text NOT NULL,
      bytes ${bytes} NOT NULL,
      PRIMARY KEY (session_id, kind, first_number)
    )`,
    `ALTER TABLE pulse_iterations ADD COLUMN is_packed integer NOT NULL DEFAULT 0`,
    `ALTER TABLE turns ADD COLUMN content_from text`,
    `ALTER TABLE session_controls ADD COLUMN packed_at text`,
    `ALTER TABLE session_controls ADD COLUMN retired_at text`,
    `CREATE INDEX session_controls_unpacked ON session_controls (session_id) WHERE packed_at IS NULL`,
  ];
}
