import type { ColumnTypes } from './types.ts';

/** What a preflight agent has recorded is in the store before its run is over; the run that did it is named until then. */
export function recordedIssuesMigration(_: ColumnTypes): string[] {
  return ['ALTER TABLE preflight_baselines ADD COLUMN recorded_by text'];
}
