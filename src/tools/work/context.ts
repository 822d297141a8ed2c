/** What the work tools of one run are given, and what they remember during it. */
import type { Sandbox } from '../../process/sandbox.ts';
import type { Queue } from './queue.ts';

export interface WorkLimits {
  /** A shell call without a timeout of its own. */
  shellTimeoutMs: number;
  maxShellTimeoutMs: number;
  /** Of what a command prints, beginning and end together; of a file, of a search. */
  maxOutputBytes: number;
  maxReadLines: number;
  /** Paths, entries or hits in one answer. */
  maxResults: number;
  /** A larger file is read in parts and never edited. */
  maxEditBytes: number;
  searchTimeoutMs: number;
}

export const DEFAULT_WORK_LIMITS: WorkLimits = {
  shellTimeoutMs: 2 * 60_000,
  maxShellTimeoutMs: 10 * 60_000,
  maxOutputBytes: 48 * 1024,
  maxReadLines: 2000,
  maxResults: 200,
  maxEditBytes: 32 * 1024 * 1024,
  searchTimeoutMs: 30_000,
};

export interface SearchHit {
  /** From the worktree's root. */
  path: string;
  line: number;
  text: string;
}

export interface FoundByMeaning {
  /** How much of the worktree the index knows (docs/protocol/context.md, Code index). */
  index: 'lexical' | 'partial' | 'ready' | 'stale';
  /** Best first. */
  hits: SearchHit[];
}

export interface WorkContext {
  /** The run's worktree. */
  worktree: string;
  /** What `shell` starts carries `<run id>.shell`, the way setup and verification carry theirs. */
  runId: string;
  /** The complete environment of what `shell` starts; nothing is inherited. */
  environment: Record<string, string>;
  /** Encloses what `shell` starts. */
  sandbox?: Sandbox | null;
  limits?: Partial<WorkLimits>;
  /** Folders that no command may write to, wherever they lie: the user's checkout, Pulse's own. */
  kept?: readonly string[];
  /** Paths that are nobody's code, besides what git ignores: `semantic_search` leaves them out. */
  notCode?: readonly string[];
  /** Why this file of the worktree may not be changed now, from its root; `null`: it may. */
  refuseEdit?(path: string): Promise<string | null>;
  /** The code index's answer to `semantic_search`. Without one, and while it has nothing, words are searched for. */
  findByMeaning?(query: string, limit: number): Promise<FoundByMeaning>;
}

/** A context with everything settled: what each tool is made of. */
export interface Work {
  /** Without symlinks. */
  root: string;
  runId: string;
  environment: Record<string, string>;
  sandbox: Sandbox | null;
  limits: WorkLimits;
  kept: readonly string[];
  notCode: readonly string[];
  refuseEdit: NonNullable<WorkContext['refuseEdit']>;
  findByMeaning: NonNullable<WorkContext['findByMeaning']>;
  /** By real path, the hash of what the agent has last seen or written there. */
  seen: Map<string, string>;
  /** Changes of files, one after the other: between the check of one and its rename no other may come. */
  edits: Queue;
  /** Aborted when the run is over. */
  signal: AbortSignal;
}
