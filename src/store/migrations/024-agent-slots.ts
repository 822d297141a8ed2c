import type { ColumnTypes } from './types.ts';

/** On which host an attempt has the slot of an agent, or since when it has waited for one. Both go when it is over. */
export function agentSlotsMigration(_: ColumnTypes): string[] {
  return [
    'ALTER TABLE inbox_tasks ADD COLUMN slot_host text',
    'ALTER TABLE inbox_tasks ADD COLUMN queued_at text',
    // What waits is found by the index alone, also whether it waits for a slot.
    'DROP INDEX inbox_tasks_waiting',
    `CREATE INDEX inbox_tasks_waiting ON inbox_tasks (session_id, priority DESC, run_at, id, queued_at)
      WHERE status = 'pending'`,
    'CREATE INDEX inbox_tasks_slots ON inbox_tasks (slot_host) WHERE slot_host IS NOT NULL',
  ];
}
