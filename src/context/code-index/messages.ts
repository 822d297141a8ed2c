/** What is said between Pulse and the thread that indexes. */
import type { CodeHit, IndexState } from './worktree-index.ts';

export type ToIndexer =
  | { kind: 'open'; index: number; root: string }
  /** The project's files, each followed by a NUL. */
  | { kind: 'files'; index: number; names: Uint8Array }
  /** Waits for files to be read, but no longer than `waitMs`. */
  | { kind: 'ask'; index: number; question: number; query: string; limit: number; waitMs: number }
  | { kind: 'close'; index: number };

export interface FromIndexer {
  question: number;
  state: IndexState;
  hits: CodeHit[];
}
