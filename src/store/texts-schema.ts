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
  /** 1: an anchor hint has named it, and its salience has risen by that. */
  is_hinted: Generated<number>;
  /** 1: it can be found by its words. */
  is_indexed: Generated<number>;
  /** Made by the database of phase and salience: what a slice prefers. */
  weight: GeneratedAlways<number>;
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
