import type { ColumnTypes } from './types.ts';

/** What waits is found among what waits, however much a long session has behind it. */
export function waitingWorkMigration(_: ColumnTypes): string[] {
  return [
    `CREATE INDEX inbox_tasks_waiting ON inbox_tasks (session_id, priority DESC, run_at, id)
      WHERE status = 'pending'`,
    `CREATE INDEX commander_outbox_waiting ON commander_outbox (session_id, seq) WHERE status = 'pending'`,
  ];
}
