import type { ColumnTypes } from './types.ts';

/** The tokens of each section of an iteration's brief. */
export function briefSectionsMigration({ json }: ColumnTypes): string[] {
  return [`ALTER TABLE pulse_iterations ADD COLUMN sections ${json}`];
}
