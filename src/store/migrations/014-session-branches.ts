import type { Migration } from './types.ts';

/** A branch belongs to one unfinished session of a project; those that work for another share its branch. */
export const sessionBranchesMigration: Migration = () => [
  'ALTER TABLE pulse_sessions ADD COLUMN branch_lags_at text',
  'ALTER TABLE pulse_sessions ADD COLUMN branch_of text',
  `CREATE UNIQUE INDEX pulse_sessions_branch ON pulse_sessions (branch_of, branch_name)
    WHERE parent_session_id IS NULL AND status NOT IN ('complete', 'aborted')`,
];
