import type { Migration } from './types.ts';

/** Each brief tells what failed on the base: it must not look for that among all events of a long session. */
export const failedOnBaseMigration: Migration = () => [
  `CREATE INDEX pulse_events_on_base ON pulse_events (session_id, seq) WHERE type = 'preflight.base'`,
];
