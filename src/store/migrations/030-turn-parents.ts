import type { Migration } from './types.ts';

/**
 * A conversation can continue in another transcript, and either may be imported first: the entry that a turn stands
 * below is kept by its name, and so is every entry that is no turn, with the turn above it.
 */
export const turnParentsMigration: Migration = () => [
  'ALTER TABLE turns ADD COLUMN named_parent_id text',
  'CREATE INDEX turns_by_named_parent ON turns (named_parent_id) WHERE named_parent_id IS NOT NULL',
  `CREATE TABLE transcript_entries (
    project_id text NOT NULL,
    id text NOT NULL,
    turn_id text,
    named_parent_id text,
    PRIMARY KEY (project_id, id)
  )`,
  'CREATE INDEX transcript_entries_by_named_parent ON transcript_entries (named_parent_id) WHERE named_parent_id IS NOT NULL',
];
