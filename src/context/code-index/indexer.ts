/** Several worktrees' indexes, worked on a few milliseconds at a time, so that questions are answered in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FromIndexer, ToIndexer } from './messages.ts';
import { createSyntaxChunker } from './syntax-chunks.ts';
import { loadWordVectors } from './word-vectors.ts';
import { createWorktreeIndex, type WorktreeIndex } from './worktree-index.ts';

/** Of all indexes together; beyond it the one that was asked longest ago is forgotten, and built again when it is asked. */
const MAX_CHUNKS = 120_000;
const MAX_WEIGHT = 20_000_000;

type Ask = Extract<ToIndexer, { kind: 'ask' }>;

interface Held {
  root: string;
  index: WorktreeIndex;
  /** The list of files as it came last: an index that was forgotten starts from it. */
  names: Uint8Array | null;
  isForgotten: boolean;
  lastAsked: number;
  waiting: Map<Ask, NodeJS.Timeout>;
}

export interface Indexer {
  receive(message: ToIndexer): void;
}

export function createIndexer(
  answer: (message: FromIndexer) => void,
  { maxChunks = MAX_CHUNKS, maxWeight = MAX_WEIGHT }: { maxChunks?: number; maxWeight?: number } = {},
): Indexer {
  const reading = { chunker: createSyntaxChunker(), openModel: loadWordVectors };
  const held = new Map<number, Held>();
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
    if (message.kind === 'files') read(entry, message.names);
    if (message.kind === 'ask') ask(entry, message);
    if (message.kind === 'close') close(entry, message.index);
    void work();
  }

  function open({ index, root }: Extract<ToIndexer, { kind: 'open' }>): void {
    held.set(index, {
      ...{ root, index: createWorktreeIndex(root, reading), names: null, isForgotten: false },
      ...{ lastAsked: turn++, waiting: new Map() },
    });
  }

  function read(entry: Held, names: Uint8Array): void {
    entry.names = names;
    if (!entry.isForgotten) entry.index.refresh(pathsOf(names));
  }

  function ask(entry: Held, message: Ask): void {
    entry.lastAsked = turn++;
    if (entry.isForgotten) {
      entry.isForgotten = false;
      if (entry.names) entry.index.refresh(pathsOf(entry.names));
    }
    // An index that has nothing yet is not waited for: words are searched for at once.
    const waitMs = entry.index.state() === 'lexical' ? 0 : message.waitMs;
    entry.waiting.set(
      message,
      setTimeout(() => reply(entry, message), waitMs),
    );
    replyIfRead(entry);
  }

  function replyIfRead(entry: Held): void {
    if (entry.index.isRead() && entry.names)
      for (const message of entry.waiting.keys()) reply(entry, message);
  }

  function reply(entry: Held, message: Ask): void {
    clearTimeout(entry.waiting.get(message));
    entry.waiting.delete(message);
    const { question, query, limit } = message;
    answer({ question, state: entry.index.state(), hits: entry.index.search(query, limit) });
  }

  function close(entry: Held, index: number): void {
    for (const message of entry.waiting.keys()) reply(entry, message);
    held.delete(index);
  }

  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    for (let entry = await workOnOne(); entry; entry = await workOnOne()) {
      replyIfRead(entry);
      forgetBeyond(entry);
      await nextTurn();
    }
    isWorking = false;
  }

  /** The one that was asked last comes first. */
  async function workOnOne(): Promise<Held | null> {
    const byNeed = [...held.values()].sort((a, b) => b.lastAsked - a.lastAsked);
    for (const entry of byNeed) if (await entry.index.work()) return entry;
    return null;
  }

  function forgetBeyond(growing: Held): void {
    const all = [...held.values()];
    const sum = (what: 'chunks' | 'weight') => all.reduce((total, { index }) => total + index[what], 0);
    if (sum('chunks') <= maxChunks && sum('weight') <= maxWeight) return;
    const others = all.filter((entry) => entry !== growing && entry.index.chunks > 0);
    const oldest = others.sort((a, b) => a.lastAsked - b.lastAsked)[0];
    if (!oldest) return;
    oldest.index = createWorktreeIndex(oldest.root, reading);
    oldest.isForgotten = true;
  }

  return { receive };
}

function pathsOf(names: Uint8Array): string[] {
  return Buffer.from(names).toString('utf8').split('\0').filter(Boolean);
}
