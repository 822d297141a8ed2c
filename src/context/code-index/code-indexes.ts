/** The code index of each unit's worktree, built in the background; an answer never waits for it. */
import { realpathSync } from 'node:fs';
import { extname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '../thread-environment.ts';
import type { FromIndexer, IndexerData, ToIndexer } from './messages.ts';
import type { CodeHit, IndexState } from './worktree-index.ts';

/** How long an answer waits for the list of changed files, and then for reading them. */
const LIST_MS = 150;
const READ_MS = 150;
/** After this the thread is busy or dying, and a search by words answers instead. */
const ANSWER_MS = 2_000;
const MEMORY_MB = 768;
/** After this many deaths the thread is not started again: some file of the worktree kills it. */
const MAX_DEATHS = 3;
/** After this long without a run the thread ends and frees its memory. */
const IDLE_MS = 5 * 60_000;
/** How many indexes of idle worktrees are kept: the next run of the same unit finds its index ready. */
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
  /** Worktrees of one project share what is in their files. Absent: it is shared with nobody. */
  project?: string;
}

/** Each name followed by a NUL; `blobs` in their order, '' for a file that is not as git has it. */
export interface ListedFiles {
  names: Uint8Array;
  blobs: readonly string[];
}

export interface CodeIndexes extends AsyncDisposable {
  /** Begins to index at once, and returns at once. The index of a worktree is kept for the next run that opens it. */
  open(indexed: IndexedWorktree): CodeIndex;
}

export interface CodeIndexesOptions {
  /** The project's files: what git tracks, and what is new and not ignored. */
  list(indexed: IndexedWorktree): Promise<ListedFiles | Uint8Array>;
  /** Where what was learnt of files is kept for other processes; absent: nowhere. */
  folder?: string;
  /** Called with the reason if the index fails or stops. */
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
  /** The thread that knows this worktree. */
  thread: Thread | null;
  /** The thread has the list of files, and sees what changes. */
  isListed: boolean;
  /** The listing under way, or the last. True if the thread has heard of it. */
  listing: Promise<boolean>;
  /** The listing after it, which has not begun: all questions that come meanwhile wait for it. */
  next: Promise<boolean> | null;
}

/** What all worktrees share: the thread, and who uses it. */
interface Indexes extends Required<Omit<CodeIndexesOptions, 'folder'>> {
  folder: string | undefined;
  entries: Map<string, Entry>;
  thread: Thread | null;
  deaths: number;
  /** Numbers worktrees and questions. */
  counted: number;
  resting: NodeJS.Timeout | undefined;
}

/** Starts its thread with the first worktree. It keeps no process alive. */
export function createCodeIndexes({
  list,
  folder,
  debug = () => undefined,
  idleMs = IDLE_MS,
}: CodeIndexesOptions): CodeIndexes {
  const indexes: Indexes = {
    ...{ list, folder, debug, idleMs, entries: new Map() },
    ...{ thread: null, deaths: 0, counted: 0, resting: undefined },
  };
  return {
    open(indexed) {
      const entry = openEntry(indexes, indexed);
      void refresh(indexes, entry);
      let isOpen = true;
      return {
        search: async (query, limit) => (isOpen ? search(indexes, entry, { query, limit }) : NOTHING),
        [Symbol.dispose]() {
          if (isOpen) release(indexes, entry);
          isOpen = false;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(indexes.resting);
      indexes.deaths = MAX_DEATHS;
      await stopThread(indexes);
    },
  };
}

function openEntry(indexes: Indexes, indexed: IndexedWorktree): Entry {
  const { entries } = indexes;
  const root = realpathSync(indexed.worktree);
  const entry: Entry = entries.get(root) ?? {
    ...{ number: indexes.counted++, root, indexed, users: 0, thread: null, isListed: false },
    ...{ listing: Promise.resolve(false), next: null },
  };
  Object.assign(entry, { indexed, users: entry.users + 1 });
  // Last in the order of the map: the one that was opened longest ago goes first.
  entries.delete(root);
  entries.set(root, entry);
  clearTimeout(indexes.resting);
  return entry;
}

function startThread(indexes: Indexes): Thread | null {
  if (indexes.thread || indexes.deaths === MAX_DEATHS) return indexes.thread;
  const script = new URL(`thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);
  const worker = new Worker(script, {
    // This process's own flags may be none that a thread takes.
    execArgv: [],
    env: threadEnvironment(),
    workerData: { folder: indexes.folder } satisfies IndexerData,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 8 },
  });
  const started: Thread = { worker, questions: new Map() };
  worker.on('message', (answer: FromIndexer) => started.questions.get(answer.question)?.(answer));
  // The run does not fail with it: searching by words still works.
  worker.on('error', (error) => indexes.debug(`The code index has failed: ${error.message}`));
  worker.on('exit', () => {
    for (const settle of started.questions.values()) settle(null);
    if (indexes.thread !== started) return;
    indexes.thread = null;
    indexes.deaths++;
  });
  // Last: a listener for messages would keep the process alive.
  worker.unref();
  indexes.thread = started;
  return started;
}

async function stopThread(indexes: Indexes): Promise<void> {
  const last = indexes.thread;
  indexes.thread = null;
  await last?.worker.terminate();
}

/** The thread, once it knows of this worktree. */
function connect(indexes: Indexes, entry: Entry): Thread | null {
  const current = startThread(indexes);
  if (current && entry.thread !== current) {
    entry.thread = current;
    const { project } = entry.indexed;
    post(current, { kind: 'open', index: entry.number, root: entry.root, ...(project ? { project } : {}) });
  }
  return current;
}

/** One listing after the other, and however many ask, no more than one that waits. */
function refresh(indexes: Indexes, entry: Entry): Promise<boolean> {
  entry.next ??= entry.listing.then(() => {
    entry.next = null;
    entry.listing = sendFiles(indexes, entry);
    return entry.listing;
  });
  return entry.next;
}

async function sendFiles(indexes: Indexes, entry: Entry): Promise<boolean> {
  try {
    const listed = await indexes.list(entry.indexed);
    const current = connect(indexes, entry);
    const { names, blobs } = 'names' in listed ? listed : { names: listed, blobs: [] };
    if (current) post(current, { kind: 'files', index: entry.number, names, blobs });
    return current !== null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    indexes.debug(`The worktree's files could not be listed: ${reason}`);
    return false;
  }
}

async function search(
  indexes: Indexes,
  entry: Entry,
  { query, limit }: { query: string; limit: number },
): Promise<FoundByMeaning> {
  const askNow = async () => {
    const current = connect(indexes, entry);
    const question = { question: indexes.counted++, index: entry.number, query, limit };
    return current && (await ask(current, question));
  };
  // Where all changes are seen, the files need not be listed again.
  const known = entry.isListed ? await askNow() : null;
  entry.isListed = known?.isListed ?? false;
  if (known?.isListed) return { index: known.state, hits: known.hits };
  const isCurrent = await within(refresh(indexes, entry), { ms: LIST_MS, otherwise: false });
  const answer = await askNow();
  if (!answer) return NOTHING;
  entry.isListed = isCurrent && (answer.isListed ?? false);
  const isOld = answer.state === 'ready' && !isCurrent;
  return { index: isOld ? 'stale' : answer.state, hits: answer.hits };
}

async function ask(
  thread: Thread,
  asked: { question: number; index: number; query: string; limit: number },
): Promise<FromIndexer | null> {
  const { questions } = thread;
  const answered = new Promise<FromIndexer | null>((resolve) => questions.set(asked.question, resolve));
  post(thread, { kind: 'ask', waitMs: READ_MS, ...asked });
  const answer = await within(answered, { ms: ANSWER_MS, otherwise: null });
  questions.delete(asked.question);
  return answer;
}

function release(indexes: Indexes, entry: Entry): void {
  const { entries, thread, idleMs } = indexes;
  entry.users--;
  const idle = [...entries.values()].filter(({ users }) => users === 0);
  if (idle.length === entries.size) indexes.resting = setTimeout(() => rest(indexes), idleMs).unref();
  for (const { root, number } of idle.slice(0, -MAX_IDLE)) {
    entries.delete(root);
    if (thread) post(thread, { kind: 'close', index: number });
  }
}

function rest(indexes: Indexes): void {
  indexes.debug('The code index rests: nobody works.');
  void stopThread(indexes);
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
