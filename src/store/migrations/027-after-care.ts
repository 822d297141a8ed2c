import type { ColumnTypes } from './types.ts';

/** What is done from time to time, by one process at a time; and the pull requests that are watched. */
export function afterCareMigration({ json }: ColumnTypes): string[] {
  return [
    `CREATE TABLE chores (
      name text PRIMARY KEY,
      lease_owner text,
      lease_until text,
      done_at text
    )`,
    `CREATE TABLE pull_requests (
      session_id text PRIMARY KEY,
      address text NOT NULL,
      state text NOT NULL,
      rounds integer NOT NULL,
      rounds_used integer NOT NULL,
      watched_until text NOT NULL,
      seen ${json} NOT NULL,
      follow_up text,
      pushed_sha text,
      trouble text,
      look_at text NOT NULL,
      lease_owner text,
      lease_until text
    )`,
    `CREATE INDEX pull_requests_open ON pull_requests (look_at) WHERE state = 'open'`,
  ];
}
