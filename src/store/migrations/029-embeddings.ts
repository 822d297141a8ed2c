import type { ColumnTypes } from './types.ts';

/**
 * Vectors of turns, by the embedder that made them: vectors of two embedders cannot be compared. `embedders` says whether
 * the service is to be left alone, `embedder_projects` who is at work on a project's turns.
 */
export function embeddingsMigration({ real, bytes, bigint, identity }: ColumnTypes): string[] {
  return [
    `CREATE TABLE embedders (
      id text PRIMARY KEY,
      service text NOT NULL,
      url text NOT NULL,
      model text NOT NULL,
      asked_dimensions integer,
      dimension integer,
      failures integer NOT NULL DEFAULT 0,
      error text,
      retry_at text,
      created_at text NOT NULL
    )`,
    `CREATE TABLE embedder_projects (
      embedder_id text NOT NULL,
      project_id text NOT NULL,
      lease_owner text,
      lease_until text,
      PRIMARY KEY (embedder_id, project_id)
    )`,
    `CREATE TABLE turn_vectors (
      number ${identity},
      embedder_id text NOT NULL,
      project_id text NOT NULL,
      turn_number ${bigint} NOT NULL,
      scale ${real} NOT NULL,
      bytes ${bytes} NOT NULL,
      UNIQUE (embedder_id, turn_number)
    )`,
    'CREATE INDEX turn_vectors_by_project ON turn_vectors (project_id, embedder_id, turn_number)',
  ];
}
