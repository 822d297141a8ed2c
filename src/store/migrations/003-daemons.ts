import type { ColumnTypes } from './types.ts';

/** Daemons that say they live, and on which host a session's worktree is prepared. */
export function daemonsMigration({ json }: ColumnTypes): string[] {
  return [
    `CREATE TABLE daemons (
      owner text PRIMARY KEY,
      host text NOT NULL,
      labels ${json} NOT NULL,
      seen_until text NOT NULL
    )`,
    'CREATE INDEX daemons_by_host ON daemons (host, seen_until)',
    'ALTER TABLE session_controls ADD COLUMN daemon_host text',
  ];
}
