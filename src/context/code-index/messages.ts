/** What is said between Pulse and the thread that indexes. */
import type { CodeHit, IndexState } from './worktree-index.ts';

export type ToIndexer =
  /** Worktrees of one project share what is in their files; without a project it is shared with nobody. */
  | { kind: 'open'; index: number; root: string; project?: string }
  /** The project's files, each followed by a NUL; `blobs` in their order, '' for a file that is not as git has it. */
  | { kind: 'files'; index: number; names: Uint8Array; blobs?: readonly string[] }
  /** Waits for files to be read, but no longer than `waitMs`. */
  | { kind: 'ask'; index: number; question: number; query: string; limit: number; waitMs: number }
  | { kind: 'close'; index: number };

export interface FromIndexer {
  question: number;
  state: IndexState;
  hits: CodeHit[];
  /** The list of files is as it was when it came, and all changes of them have been seen. */
  isListed?: boolean;
}

/** What the thread is started with. */
export interface IndexerData {
  /** Where what was learnt is kept; absent: nowhere. */
  folder?: string;
}
