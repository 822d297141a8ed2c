/** The tables of texts that are not their session's or iteration's own row. */
import type { Generated, GeneratedAlways } from 'kysely';

export interface TurnsTable {
  /** In the order in which they were written. */
  number: Generated<number>;
  /** Unique within its project. */
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
  /** The entry of another transcript that it stands below: `parent_id` is its turn, once that is here. */
  named_parent_id: Generated<string | null>;
  /** 1: an anchor hint has named it, and its salience has risen by that. */
  is_hinted: Generated<number>;
  /** 1: it can be found by its words. */
  is_indexed: Generated<number>;
  /** Made by the database of phase and salience: what a slice prefers. */
  weight: GeneratedAlways<number>;
}

/** An entry of an imported transcript that is no turn: other transcripts may name it. */
export interface TranscriptEntriesTable {
  project_id: string;
  id: string;
  turn_id: string | null;
  named_parent_id: string | null;
}

/** The words of a turn by their hashes (context/search/term-hashes.ts), with how often each is there. */
export interface TurnTermsTable {
  turn_number: number;
  project_id: string;
  length: number;
  terms: string;
  /** PostgreSQL alone; SQLite has `turn_words`. */
  words?: string;
}

/** Of SQLite alone: the turns that have a word. */
export interface TurnWordsTable {
  rowid: number;
  words: string;
}

/** A model of a service that has placed turns, as the config named it. Keys are never stored. */
export interface EmbeddersTable {
  id: string;
  service: string;
  url: string;
  model: string;
  asked_dimensions: number | null;
  /** Of its vectors; `null`: it has not answered yet. */
  dimension: number | null;
  /** In a row; `error` is what the last one said, and before `retry_at` nobody asks again. */
  failures: Generated<number>;
  error: string | null;
  retry_at: string | null;
  created_at: string;
}

/** Who places the turns of a project. */
export interface EmbedderProjectsTable {
  embedder_id: string;
  project_id: string;
  lease_owner: string | null;
  lease_until: string | null;
}

export interface TurnVectorsTable {
  /** In the order in which they were written. */
  number: Generated<number>;
  embedder_id: string;
  project_id: string;
  turn_number: number;
  /** What a step of each byte is worth. */
  scale: number;
  /** A byte for each dimension; none: the turn has no place. */
  bytes: Uint8Array;
}

/** The keys of slices' tokens: the newest signs, older ones still check. */
export interface SliceKeysTable {
  id: string;
  secret: Uint8Array;
  created_at: string;
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
