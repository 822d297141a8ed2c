import type { ColumnTypes } from './types.ts';

/** What a slice prefers: the phase and a part of the salience, in millionths. Same rule as `priorityOf` in context/slice. */
const WEIGHT = `CAST(round((CASE phase WHEN 'synthesis' THEN 1.0 WHEN 'planning' THEN 0.9 WHEN 'consolidation' THEN 0.6
  WHEN 'debugging' THEN 0.5 ELSE 0.3 END + salience * 0.3) * 1000000) AS integer)`;

const KEPT =
  'id, parent_id, project_id, session_id, iteration_number, role, phase, content, content_hash, salience, depth, created_at, content_from';

/**
 * Turns as a graph that can be searched (docs/decisions/0026). An id is unique within its project: the same transcript
 * can be imported into two, and one project's turns never stand in another's way.
 */
export function contextMigration({ real, bytes, dialect }: ColumnTypes): string[] {
  return [
    ...(dialect === 'sqlite' ? sqliteTurns(real) : postgresTurns()),
    `CREATE INDEX turns_by_parent ON turns (parent_id, weight DESC, id)`,
    `CREATE INDEX turns_by_parent_id ON turns (parent_id, id)`,
    `CREATE INDEX turns_unindexed ON turns (project_id, number) WHERE is_indexed = 0`,
    ...(dialect === 'sqlite' ? sqliteWords() : postgresWords()),
    `CREATE TABLE slice_keys (
      id text PRIMARY KEY,
      secret ${bytes} NOT NULL,
      created_at text NOT NULL
    )`,
  ];
}

/** SQLite cannot exchange a primary key: the table is written again. */
function sqliteTurns(real: string): string[] {
  return [
    `CREATE TABLE turns_next (
      number integer PRIMARY KEY AUTOINCREMENT,
      id text NOT NULL,
      parent_id text,
      project_id text NOT NULL,
      session_id text,
      iteration_number integer,
      role text NOT NULL,
      phase text NOT NULL,
      content text NOT NULL,
      content_hash text NOT NULL,
      salience ${real} NOT NULL,
      depth integer NOT NULL,
      created_at text NOT NULL,
      content_from text,
      is_hinted integer NOT NULL DEFAULT 0,
      is_indexed integer NOT NULL DEFAULT 0,
      weight integer GENERATED ALWAYS AS (${WEIGHT}) STORED,
      UNIQUE (id, project_id)
    )`,
    `INSERT INTO turns_next (${KEPT}) SELECT ${KEPT} FROM turns ORDER BY created_at, id`,
    `DROP TABLE turns`,
    `ALTER TABLE turns_next RENAME TO turns`,
    `CREATE INDEX turns_by_project ON turns (project_id, created_at, id)`,
    `CREATE INDEX turns_by_session ON turns (session_id, created_at, id)`,
  ];
}

/** Ids are compared byte by byte, as SQLite does it: a slice is the same on both. */
function postgresTurns(): string[] {
  return [
    `ALTER TABLE turns DROP CONSTRAINT turns_pkey`,
    `ALTER TABLE turns ALTER COLUMN id TYPE text COLLATE "C"`,
    `ALTER TABLE turns ALTER COLUMN parent_id TYPE text COLLATE "C"`,
    `ALTER TABLE turns ADD COLUMN number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY`,
    `ALTER TABLE turns ADD COLUMN is_hinted integer NOT NULL DEFAULT 0`,
    `ALTER TABLE turns ADD COLUMN is_indexed integer NOT NULL DEFAULT 0`,
    `ALTER TABLE turns ADD COLUMN weight integer GENERATED ALWAYS AS (${WEIGHT}) STORED`,
    `ALTER TABLE turns ADD UNIQUE (id, project_id)`,
  ];
}

/** `turn_terms` holds what a score is made of, `turn_words` finds the turns that have a word. */
function sqliteWords(): string[] {
  return [
    `CREATE TABLE turn_terms (turn_number integer PRIMARY KEY, project_id text NOT NULL, length integer NOT NULL, terms text NOT NULL)`,
    `CREATE INDEX turn_terms_by_project ON turn_terms (project_id, turn_number)`,
    `CREATE VIRTUAL TABLE turn_words USING fts5(words, content='', detail='none', columnsize=0, tokenize='ascii')`,
  ];
}

function postgresWords(): string[] {
  return [
    `CREATE TABLE turn_terms (turn_number bigint PRIMARY KEY, project_id text NOT NULL, length integer NOT NULL, terms text NOT NULL, words tsvector NOT NULL)`,
    `CREATE INDEX turn_terms_by_project ON turn_terms (project_id, turn_number)`,
    `CREATE INDEX turn_words ON turn_terms USING gin (words)`,
  ];
}
