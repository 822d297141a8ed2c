import type { Migration } from './types.ts';

/** What became of a session's work after its end. */
export const afterSessionsMigration: Migration = () => [
  'ALTER TABLE pulse_sessions ADD COLUMN nothing_changed integer NOT NULL DEFAULT 0',
  'ALTER TABLE pulse_sessions ADD COLUMN merged_at text',
  'ALTER TABLE pulse_sessions ADD COLUMN merged_by text',
  'ALTER TABLE pulse_sessions ADD COLUMN merged_how text',
  'ALTER TABLE pulse_sessions ADD COLUMN merged_into text',
  'ALTER TABLE pulse_sessions ADD COLUMN merged_sha text',
  'ALTER TABLE pulse_sessions ADD COLUMN pull_request text',
  'ALTER TABLE pulse_sessions ADD COLUMN discarded_at text',
  'ALTER TABLE pulse_sessions ADD COLUMN discarded_by text',
  'ALTER TABLE pulse_sessions ADD COLUMN follows text',
  'CREATE INDEX pulse_sessions_follows ON pulse_sessions (follows) WHERE follows IS NOT NULL',
];
