import type { ColumnTypes } from './types.ts';

/** Sessions by the end of their id, and in the order in which they stopped: both are asked for whenever a person looks. */
export function lookingAtSessionsMigration(_: ColumnTypes): string[] {
  return [
    `CREATE INDEX pulse_sessions_by_ending ON pulse_sessions (substr(id, 37))`,
    `CREATE INDEX pulse_sessions_by_end ON pulse_sessions (status, ended_at, id) WHERE parent_session_id IS NULL`,
  ];
}
