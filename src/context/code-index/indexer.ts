/** Several worktrees' indexes, worked on a few milliseconds at a time, so that questions are answered in between. */
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openBlobCache } from './blob-cache.ts';
import { type CodePool, createCodePool, type PoolParts } from './code-pool.ts';
import type { FromIndexer, ToIndexer } from './messages.ts';
import { createSyntaxChunker } from './syntax-chunks.ts';
import { createTreeWatch, type TreeWatch } from './tree-watch.ts';
import { loadWordVectors } from './word-vectors.ts';
import { createWorktreeIndex, type WorktreeIndex } from './worktree-index.ts';

/** Of all indexes together; beyond it the one that was asked longest ago is forgotten, and built again when it is asked. */
const MAX_CHUNKS = 240_000;
const MAX_WEIGHT = 40_000_000;

type Ask = Extract<ToIndexer, { kind: 'ask' }>;
type Open = Extract<ToIndexer, { kind: 'open' }>;

interface Held {
  root: string;
  project: string | null;
  index: WorktreeIndex;
  /** The list of files as it came last: an index that was forgotten starts from it. */
  listing: { paths: string[]; blobs: readonly string[] } | null;
  watch: TreeWatch;
  /** Something may be there that the list does not have. */
  isUnlisted: boolean;
  isForgotten: boolean;
  lastAsked: number;
  waiting: Map<Ask, NodeJS.Timeout>;
}

export interface Indexer {
  receive(message: ToIndexer): void;
}

export interface IndexerOptions {
  maxChunks?: number;
  maxWeight?: number;
  /** Where what was learnt is kept. */
  folder?: string;
}

export function createIndexer(
  answer: (message: FromIndexer) => void,
  { maxChunks = MAX_CHUNKS, maxWeight = MAX_WEIGHT, folder }: IndexerOptions = {},
): Indexer {
  const reading = { chunker: createSyntaxChunker(), openModel: loadWordVectors };
  const held = new Map<number, Held>();
  const indexIn = createPools(reading, folder);
  let isWorking = false;
  let turn = 0;

  function receive(message: ToIndexer): void {
    if (message.kind === 'open') open(message);
    const entry = held.get(message.index);
    if (!entry) {
      // Closed before the question came.
      if (message.kind === 'ask') answer({ question: message.question, state: 'lexical', hits: [] });
      return;
    }
    if (message.kind === 'files') readListing(entry, message);
    if (message.kind === 'ask') void ask(entry, message);
    if (message.kind === 'close') close(entry, message.index);
    void work();
  }

  function open({ index, root, project: given }: Open): void {
    const project = given ?? null;
    const entry: Held = {
      ...{ root, project, index: indexIn(root, project), listing: null, isForgotten: false },
      ...{ lastAsked: turn++, waiting: new Map(), isUnlisted: true },
      watch: createTreeWatch(root, (path) => noteChange(entry, path) && void work()),
    };
    held.set(index, entry);
  }

  async function ask(entry: Held, message: Ask): Promise<void> {
    entry.lastAsked = turn++;
    if (entry.isForgotten) {
      entry.isForgotten = false;
      if (entry.listing) entry.index.refresh(entry.listing.paths, entry.listing.blobs);
    }
    // An index that has nothing yet is not waited for: words are searched for at once.
    const waitMs = entry.index.state() === 'lexical' ? 0 : message.waitMs;
    entry.waiting.set(
      message,
      setTimeout(() => reply(entry, message), waitMs),
    );
    // Changes that were made before the question are seen before it is answered.
    await nextTurn();
    await nextTurn();
    replyIfRead(entry);
    void work();
  }

  function replyIfRead(entry: Held): void {
    if (entry.index.isRead() && entry.listing)
      for (const message of entry.waiting.keys()) reply(entry, message);
  }

  function reply(entry: Held, message: Ask): void {
    clearTimeout(entry.waiting.get(message));
    if (!entry.waiting.delete(message)) return;
    const { question, query, limit } = message;
    const isListed = entry.listing !== null && entry.watch.isLive() && !entry.isUnlisted;
    answer({ question, state: entry.index.state(), hits: entry.index.search(query, limit), isListed });
  }

  function close(entry: Held, index: number): void {
    for (const message of entry.waiting.keys()) reply(entry, message);
    entry.watch[Symbol.dispose]();
    entry.index.close();
    held.delete(index);
  }

  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    for (let entry = await workOnOne(held); entry; entry = await workOnOne(held)) {
      replyIfRead(entry);
      forgetBeyond(entry);
      await nextTurn();
    }
    isWorking = false;
  }

  function forgetBeyond(growing: Held): void {
    const oldest = tooMuch([...held.values()], { growing, maxChunks, maxWeight });
    if (!oldest) return;
    oldest.index.close();
    oldest.index = indexIn(oldest.root, oldest.project);
    oldest.isForgotten = true;
  }

  return { receive };
}

/** The one that was asked last comes first. */
async function workOnOne(held: ReadonlyMap<number, Held>): Promise<Held | null> {
  const byNeed = [...held.values()].sort((a, b) => b.lastAsked - a.lastAsked);
  for (const entry of byNeed) if (await entry.index.work()) return entry;
  return null;
}

function readListing(entry: Held, { names, blobs = [] }: Extract<ToIndexer, { kind: 'files' }>): void {
  entry.listing = { paths: pathsOf(names), blobs };
  // What changed between the listing and a new watch was not seen: it needs another listing.
  entry.isUnlisted = !entry.watch.follow(entry.listing.paths);
  if (!entry.isForgotten) entry.index.refresh(entry.listing.paths, blobs);
}

/** Whether there is work. What is not known must be listed: it may be ignored. */
function noteChange(entry: Held, path: string): boolean {
  const isKnown = entry.index.has(path) && basename(path) !== '.gitignore';
  if (isKnown) entry.index.touch(path);
  else if (path !== '.git') entry.isUnlisted = true;
  return isKnown;
}

/** Worktrees of one project have their files in one pool. */
function createPools(reading: PoolParts, folder: string | undefined) {
  const pools = new Map<string, CodePool>();
  return (root: string, project: string | null): WorktreeIndex => {
    if (project === null) return createWorktreeIndex(root, reading);
    const cache = folder === undefined || pools.has(project) ? null : openBlobCache(folder, { project });
    const pool = pools.get(project) ?? createCodePool({ ...reading, cache });
    pools.set(project, pool);
    return createWorktreeIndex(root, { ...reading, pool });
  };
}

/** The one to forget where all together are too much; `null`: they are not. */
function tooMuch(
  all: readonly Held[],
  { growing, maxChunks, maxWeight }: { growing: Held; maxChunks: number; maxWeight: number },
): Held | null {
  const sum = (what: 'chunks' | 'weight') => all.reduce((total, { index }) => total + index[what], 0);
  if (sum('chunks') <= maxChunks && sum('weight') <= maxWeight) return null;
  const others = all.filter((entry) => entry !== growing && entry.index.chunks > 0);
  return others.sort((a, b) => a.lastAsked - b.lastAsked)[0] ?? null;
}

function pathsOf(names: Uint8Array): string[] {
  return Buffer.from(names).toString('utf8').split('\0').filter(Boolean);
}
