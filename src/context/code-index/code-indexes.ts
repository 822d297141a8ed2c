/** The code index of each unit's worktree, built in the background; an answer never waits for it. */
import { realpathSync } from 'node:fs';
import { extname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FromIndexer, ToIndexer } from './messages.ts';
import type { CodeHit, IndexState } from './worktree-index.ts';

/** To see what has changed in the worktree, and again to read it, before an answer is given without. */
const LIST_MS = 150;
const READ_MS = 150;
/** The thread is busy, or dying: words answer instead. */
const ANSWER_MS = 2_000;
const MEMORY_MB = 768;
/** A thread that dies this often in one process is not started again: something in the code to be read does it. */
const MAX_DEATHS = 3;
/** After this long without a run the thread ends, and all memory with it. */
const IDLE_MS = 5 * 60_000;
/** Worktrees that nobody works in now: the next run of the same unit finds its index as it left it. */
const MAX_IDLE = 4;

export interface FoundByMeaning {
  index: IndexState;
  /** Best first. */
  hits: CodeHit[];
}

export interface CodeIndex extends Disposable {
  /** Within moments, with what is known by then; `lexical` without hits where nothing is. Does not throw. */
  search(query: string, limit: number): Promise<FoundByMeaning>;
}

export interface IndexedWorktree {
  worktree: string;
  /** Paths in it that are nobody's code, besides what git ignores. */
  except: readonly string[];
}

export interface CodeIndexes extends AsyncDisposable {
  /** Begins to index at once, and returns at once. The index of a worktree is kept for whoever opens it next. */
  open(indexed: IndexedWorktree): CodeIndex;
}

export interface CodeIndexesOptions {
  /** The project's files, each followed by a NUL: what git tracks, and what is new and not ignored. */
  list(indexed: IndexedWorktree): Promise<Uint8Array>;
  /** Told why there is no index, or none any more. */
  debug?(text: string): void;
  idleMs?: number;
}

interface Thread {
  worker: Worker;
  questions: Map<number, (answer: FromIndexer | null) => void>;
}

interface Entry {
  number: number;
  root: string;
  indexed: IndexedWorktree;
  users: number;
  /** The one that has been told of it. */
  thread: Thread | null;
  /** The listing under way, or the last. True if the thread has heard of it. */
  listing: Promise<boolean>;
  /** The one after it, which has not begun: whoever asks meanwhile waits for the same. */
  next: Promise<boolean> | null;
}

/** Starts its thread with the first worktree. It keeps no process alive. */
export function createCodeIndexes({
  list,
  debug = () => undefined,
  idleMs = IDLE_MS,
}: CodeIndexesOptions): CodeIndexes {
  const entries = new Map<string, Entry>();
  let thread: Thread | null = null;
  let deaths = 0;
  let counted = 0;
  let resting: NodeJS.Timeout | undefined;

  function start(): Thread | null {
    if (thread || deaths === MAX_DEATHS) return thread;
    const script = new URL(`thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);
    const worker = new Worker(script, {
      // This process's own flags may be none that a thread takes.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 8 },
    });
    const started: Thread = { worker, questions: new Map() };
    worker.on('message', (answer: FromIndexer) => started.questions.get(answer.question)?.(answer));
    // No matter of the run: searching by words goes on.
    worker.on('error', (error) => debug(`The code index has failed: ${error.message}`));
    worker.on('exit', () => {
      for (const settle of started.questions.values()) settle(null);
      if (thread !== started) return;
      thread = null;
      deaths++;
    });
    // Last: whoever listens for messages keeps the process alive otherwise.
    worker.unref();
    thread = started;
    return started;
  }

  /** The thread, once it knows of this worktree. */
  function connect(entry: Entry): Thread | null {
    const current = start();
    if (current && entry.thread !== current) {
      entry.thread = current;
      post(current, { kind: 'open', index: entry.number, root: entry.root });
    }
    return current;
  }

  /** One listing after the other, and however many ask, no more than one that waits. */
  function refresh(entry: Entry): Promise<boolean> {
    entry.next ??= entry.listing.then(() => {
      entry.next = null;
      entry.listing = tell(entry);
      return entry.listing;
    });
    return entry.next;
  }

  async function tell(entry: Entry): Promise<boolean> {
    try {
      const names = await list(entry.indexed);
      const current = connect(entry);
      if (current) post(current, { kind: 'files', index: entry.number, names });
      return current !== null;
    } catch (error) {
      debug(`The worktree's files could not be listed: ${error instanceof Error ? error.message : error}`);
      return false;
    }
  }

  async function search(
    entry: Entry,
    { query, limit }: { query: string; limit: number },
  ): Promise<FoundByMeaning> {
    const isCurrent = await within(refresh(entry), { ms: LIST_MS, otherwise: false });
    const current = connect(entry);
    const answer = current && (await ask(current, { index: entry.number, query, limit }));
    if (!answer) return NOTHING;
    const isOld = answer.state === 'ready' && !isCurrent;
    return { index: isOld ? 'stale' : answer.state, hits: answer.hits };
  }

  async function ask(
    asked: Thread,
    question: { index: number; query: string; limit: number },
  ): Promise<FromIndexer | null> {
    const number = counted++;
    const answered = new Promise<FromIndexer | null>((resolve) => asked.questions.set(number, resolve));
    post(asked, { kind: 'ask', question: number, waitMs: READ_MS, ...question });
    const answer = await within(answered, { ms: ANSWER_MS, otherwise: null });
    asked.questions.delete(number);
    return answer;
  }

  async function stop(): Promise<void> {
    const last = thread;
    thread = null;
    await last?.worker.terminate();
  }

  function rest(): void {
    debug('The code index rests: nobody works.');
    void stop();
  }

  function release(entry: Entry): void {
    entry.users--;
    const idle = [...entries.values()].filter(({ users }) => users === 0);
    if (idle.length === entries.size) resting = setTimeout(rest, idleMs).unref();
    // Those that were opened longest ago come first.
    for (const { root, number } of idle.slice(0, -MAX_IDLE)) {
      entries.delete(root);
      if (thread) post(thread, { kind: 'close', index: number });
    }
  }

  return {
    open(indexed) {
      const root = realpathSync(indexed.worktree);
      const known = entries.get(root);
      const entry: Entry = known ?? {
        ...{ number: counted++, root, indexed, users: 0, thread: null, listing: Promise.resolve(false) },
        next: null,
      };
      Object.assign(entry, { indexed, users: entry.users + 1 });
      entries.delete(root);
      entries.set(root, entry);
      clearTimeout(resting);
      void refresh(entry);
      let isOpen = true;
      return {
        search: async (query, limit) => (isOpen ? search(entry, { query, limit }) : NOTHING),
        [Symbol.dispose]() {
          if (isOpen) release(entry);
          isOpen = false;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(resting);
      deaths = MAX_DEATHS;
      await stop();
    },
  };
}

const NOTHING: FoundByMeaning = { index: 'lexical', hits: [] };

function post({ worker }: Thread, message: ToIndexer): void {
  worker.postMessage(message);
}

async function within<T, U>(
  promise: Promise<T>,
  { ms, otherwise }: { ms: number; otherwise: U },
): Promise<T | U> {
  const late = new AbortController();
  try {
    return await Promise.race([promise, delay(ms, otherwise, { signal: late.signal })]);
  } finally {
    late.abort();
  }
}
