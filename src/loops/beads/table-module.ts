import type { ColumnTypes, TableModule } from '../../store/migrations/types.ts';
import { redMigration, topicMigration, workersMigration } from './worker/tables.ts';

/** The tables of beads, which every store has. */
export const beadTables: TableModule = {
  kind: 'beads',
  migrations: [beadsMigration, workersMigration, redMigration, topicMigration, epicsMigration],
};

function beadsMigration({ json, real, bigint }: ColumnTypes): string[] {
  return [
    `CREATE TABLE bead_projects (
      project_id text PRIMARY KEY,
      revision ${bigint} NOT NULL
    )`,
    `CREATE TABLE beads (
      project_id text NOT NULL REFERENCES bead_projects (project_id),
      id text NOT NULL,
      type text NOT NULL,
      status text NOT NULL,
      priority integer NOT NULL,
      epic text,
      missing text NOT NULL,
      needs text NOT NULL,
      dependencies ${json} NOT NULL,
      created_at text NOT NULL,
      created_ms ${real} NOT NULL,
      revision ${bigint} NOT NULL,
      title text NOT NULL,
      labels ${json} NOT NULL,
      assignee text,
      claim_worker text,
      claim_fence ${bigint},
      claimed_at text,
      updated_at text NOT NULL,
      closed_at text,
      close_reason text,
      PRIMARY KEY (project_id, id)
    )`,
    'CREATE INDEX beads_by_revision ON beads (project_id, revision)',
    `CREATE TABLE bead_texts (
      project_id text NOT NULL,
      id text NOT NULL,
      body text NOT NULL,
      fields ${json} NOT NULL,
      PRIMARY KEY (project_id, id),
      FOREIGN KEY (project_id, id) REFERENCES beads (project_id, id)
    )`,
    // A line is moved by its number: the numbers of a project are unique, and may have gaps.
    `CREATE TABLE bead_lines (
      project_id text NOT NULL,
      position ${bigint} NOT NULL,
      bead_id text,
      source text,
      PRIMARY KEY (project_id, position),
      FOREIGN KEY (project_id, bead_id) REFERENCES beads (project_id, id)
    )`,
    'CREATE UNIQUE INDEX bead_lines_of_beads ON bead_lines (project_id, bead_id) WHERE bead_id IS NOT NULL',
  ];
}

/** All that belongs to an epic is looked for at each look of its swarm. */
function epicsMigration(): string[] {
  return ['CREATE INDEX beads_by_epic ON beads (project_id, epic)'];
}
