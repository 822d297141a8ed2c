/** The tables of texts that are not their session's or iteration's own row. */
import type { Generated } from 'kysely';

export interface TurnsTable {
  id: string;
  parent_id: string | null;
  project_id: string;
  session_id: string | null;
  iteration_number: number | null;
  role: string;
  phase: string;
  content: string;
  content_hash: string;
  salience: number;
  depth: number;
  created_at: string;
  /** Which text of its iteration the content is; `null`: it stands in the row. */
  content_from: Generated<'output' | 'task' | null>;
}

/** Many texts or events of an ended session, as compressed JSON (packs.ts). */
export interface PacksTable {
  session_id: string;
  kind: 'texts' | 'events';
  /** Iterations, or numbers of events. */
  first_number: number;
  last_number: number;
  packed_at: string;
  bytes: Uint8Array;
}
