import type { ColumnTypes } from './types.ts';

/** What is started by itself, and when next. */
export function schedulesMigration({ json }: ColumnTypes): string[] {
  return [
    `CREATE TABLE schedules (
      id text PRIMARY KEY,
      host text NOT NULL,
      expression text NOT NULL,
      zone text NOT NULL,
      missed text NOT NULL,
      operation text NOT NULL,
      input ${json} NOT NULL,
      words ${json} NOT NULL,
      actor text NOT NULL,
      created_at text NOT NULL,
      next_at text,
      last_at text,
      last_session text,
      last_error text,
      missed_count integer NOT NULL,
      missed_at text,
      lease_owner text,
      lease_until text,
      token integer NOT NULL
    )`,
    'CREATE INDEX schedules_due ON schedules (host, next_at) WHERE next_at IS NOT NULL',
  ];
}
