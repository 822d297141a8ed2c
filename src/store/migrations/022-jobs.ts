import type { ColumnTypes } from './types.ts';

/** Work that somebody asked for over HTTP and that takes longer than a request. */
export function jobsMigration({ json }: ColumnTypes): string[] {
  return [
    `CREATE TABLE jobs (
      id text PRIMARY KEY,
      kind text NOT NULL,
      session_id text NOT NULL,
      status text NOT NULL,
      answer ${json},
      error ${json},
      lease_owner text,
      lease_until text,
      created_at text NOT NULL,
      ended_at text
    )`,
    `CREATE INDEX jobs_waiting ON jobs (created_at) WHERE ended_at IS NULL`,
    'CREATE INDEX jobs_by_end ON jobs (ended_at)',
  ];
}
