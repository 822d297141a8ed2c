/** The tables of beads: rows that the graph reads often, and their texts. */
import type { Json } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';

/** One row a project. Every change of a bead bumps `revision` first: its lock puts all changes in one order. */
export interface BeadProjectsTable {
  project_id: string;
  revision: number;
}

/** What `next` needs of a bead, so that all of them can be read quickly. */
export interface BeadsTable {
  project_id: string;
  id: string;
  type: string;
  /** One of ours, or any that an issue file brought. */
  status: string;
  priority: number;
  /** The bead that its dependency of type `parent-child` names: its epic. */
  epic: string | null;
  /** Names of required fields that it lacks, with a blank between; empty: none. */
  missing: string;
  /** The ids that it waits for, with a blank between: a part of `dependencies`, as the graph reads it. */
  needs: string;
  /** All of them, with their types: a list of `Dependency`. */
  dependencies: Json;
  created_at: string;
  /** `created_at` as milliseconds, so that times of different zones can be compared. */
  created_ms: number;
  /** The project's revision when it was last changed. */
  revision: number;
  title: string;
  labels: Json;
  assignee: string | null;
  /** Who works on it, and the number that each of their changes must carry. */
  claim_worker: string | null;
  claim_fence: number | null;
  claimed_at: string | null;
  updated_at: string;
  closed_at: string | null;
  close_reason: string | null;
}

/** What is long, or seldom asked for. */
export interface BeadTextsTable {
  project_id: string;
  id: string;
  body: string;
  /** A `BeadFields`. */
  fields: Json;
}

/** The lines of issue files, in order, as they were: those of beads and those that are no issue. */
export interface BeadLinesTable {
  project_id: string;
  position: number;
  /** `null`: the line is no issue. */
  bead_id: string | null;
  /** With what ended the line; `null`: Pulse made the bead, and no file has it yet. */
  source: string | null;
}

type BeadTables = {
  bead_projects: BeadProjectsTable;
  beads: BeadsTable;
  bead_texts: BeadTextsTable;
  bead_lines: BeadLinesTable;
};

/** The store, with the tables of beads in its types. */
export function withBeadTables(db: Db) {
  return db.withTables<BeadTables>();
}
