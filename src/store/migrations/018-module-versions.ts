/** Each module with tables of its own has a version of its own, so that two of them can grow at the same time. */
export function moduleVersionsMigration(): string[] {
  return ['CREATE TABLE module_versions (kind text PRIMARY KEY, version integer NOT NULL)'];
}
