/** Requests with a key that change a project and no session: the answer is known when the change is made. */
export function projectRequestsMigration(): string[] {
  return [
    `CREATE TABLE project_requests (
      key text PRIMARY KEY,
      digest text NOT NULL,
      answer text NOT NULL,
      created_at text NOT NULL
    )`,
    'CREATE INDEX project_requests_by_age ON project_requests (created_at)',
  ];
}
