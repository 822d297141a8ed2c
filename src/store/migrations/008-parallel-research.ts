/** Research by several sessions at once: whose experiment it is, and the best that all build on. */
export function parallelResearchMigration(): string[] {
  return [
    `ALTER TABLE researches ADD COLUMN parallel integer NOT NULL DEFAULT 1`,
    `ALTER TABLE researches ADD COLUMN best_sha text`,
    `ALTER TABLE researches ADD COLUMN host text`,
    `ALTER TABLE experiments ADD COLUMN worker_id text NOT NULL DEFAULT ''`,
    `ALTER TABLE experiments ADD COLUMN is_outdated integer NOT NULL DEFAULT 0`,
    `DROP INDEX one_running_experiment`,
    `CREATE UNIQUE INDEX one_running_experiment ON experiments (session_id, worker_id) WHERE status = 'running'`,
  ];
}
