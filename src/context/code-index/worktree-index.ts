/** What is known of one worktree's code: which versions of files it has. What is in them its project knows. */
import { createHash } from 'node:crypto';
import { type CodePool, createCodePool, type FileVersion, type PoolParts } from './code-pool.ts';
import { grown } from './grown.ts';
import { type Place, type Rankings, rankChunks } from './ranking.ts';
import { bytesOf, isGenerated, stampOf, textOf, writtenIn } from './source-file.ts';
import type { SyntaxChunker } from './syntax-chunks.ts';
import { termsOf } from './terms.ts';

/**
 * `lexical`: nothing is indexed yet. `partial`: some files, or no model of meaning yet. `ready`: everything as it is.
 * `stale`: everything, but files have changed since.
 */
export type IndexState = 'lexical' | 'partial' | 'ready' | 'stale';

export interface CodeHit {
  /** From the worktree's root. */
  path: string;
  line: number;
  text: string;
}

export interface WorktreeIndex {
  readonly chunks: number;
  /** Of its corpus. */
  readonly weight: number;
  /** The project's files as they are now, with the blobs of those that git has; what differs is looked at by `work`. */
  refresh(paths: readonly string[], blobs?: readonly string[]): void;
  /** Whether the file is one that was listed and indexed. */
  has(path: string): boolean;
  /** A change of such a file was seen. */
  touch(path: string): void;
  /** Some milliseconds of what is to be done. False when nothing was. */
  work(): Promise<boolean>;
  /** Whether all files of the last `refresh` have been read. */
  isRead(): boolean;
  state(): IndexState;
  search(query: string, limit: number): CodeHit[];
  /** What each way of searching finds, before they are joined. */
  gather(query: string): Gathered;
  /** Gives back what it has of its project. */
  close(): void;
}

export interface Gathered {
  rankings: Rankings;
  places: ReadonlyMap<number, Place>;
  /** The words of the question, each with how much it says. */
  rarity: ReadonlyMap<string, number>;
}

const SLICE_MS = 8;
/** Beyond either the index stays partial: a thread that runs out of memory can take the whole process with it. */
const MAX_CHUNKS = 120_000;
const MAX_WEIGHT = 20_000_000;
const CANDIDATES = 100;
/** So many have their nearness to the question where words or company have found them: without one the model would speak against them. */
const NEAREST = 400;
const MAX_HITS_A_FILE = 3;

interface IndexedFile {
  /** Of a file that is not as git has it, or that has been looked at since; `null`: git knows it. */
  stamp: string | null;
  /** The blob that git named; '': it named none. */
  listed: string;
  blob: string;
  chunks: readonly number[];
}

/** What is known, and what is under way. */
interface Knowledge {
  root: string;
  pool: CodePool;
  chunker: SyntaxChunker;
  maxChunks: number;
  maxWeight: number;
  files: Map<string, IndexedFile>;
  /** By chunk: 1 if it is of this worktree. */
  isOwn: Uint8Array;
  ownChunks: number;
  /** Files that have changed since they were first read: somebody works on them. */
  worked: Set<string>;
  reading: AsyncGenerator<void, void> | null;
  /** Listed while another list was being read: begun after it, or a first reading would never end under questions. */
  listedNext: Listing | null;
  /** Files of which a change was seen, to be looked at before everything else. */
  touched: Set<string>;
  isComplete: boolean;
  isCut: boolean;
}

interface Listing {
  paths: readonly string[];
  /** In the order of the paths: the blob of a file that is as git has it, else ''. */
  blobs: readonly string[];
}

export interface WorktreeIndexOptions extends PoolParts {
  /** Of its project; absent: it has one of its own. */
  pool?: CodePool;
  maxChunks?: number;
  maxWeight?: number;
}

export function createWorktreeIndex(
  root: string,
  { pool, maxChunks = MAX_CHUNKS, maxWeight = MAX_WEIGHT, ...parts }: WorktreeIndexOptions,
): WorktreeIndex {
  const known: Knowledge = {
    ...{ root, pool: pool ?? createCodePool(parts), chunker: parts.chunker, maxChunks, maxWeight },
    ...{ files: new Map(), isOwn: new Uint8Array(1024), ownChunks: 0, worked: new Set() },
    ...{ reading: null, listedNext: null, touched: new Set(), isComplete: false, isCut: false },
  };
  return {
    get chunks() {
      return known.ownChunks;
    },
    get weight() {
      return known.pool.corpus.weight;
    },
    refresh(paths, blobs = []) {
      const listing = { paths, blobs };
      if (known.reading) known.listedNext = listing;
      else known.reading = readFiles(known, listing);
    },
    has: (path) => known.files.has(path),
    touch: (path) => void known.touched.add(path),
    work: () => work(known),
    isRead: () => known.reading === null && known.touched.size === 0,
    state: () => stateOf(known),
    search: (query, limit) => search(known, { query, limit }),
    gather: (query) => gather(known, query),
    close() {
      for (const path of [...known.files.keys()]) dropFile(known, path);
    },
  };
}

async function work(known: Knowledge): Promise<boolean> {
  const { pool } = known;
  const until = performance.now() + SLICE_MS;
  // A step at least, however long the machine let this one wait: to have done nothing says that nothing is left.
  for (let hasWorked = false; !hasWorked || performance.now() < until; hasWorked = true) {
    const [touched] = known.touched;
    if (touched !== undefined) await lookAgain(known, touched);
    else if (known.reading) {
      if ((await known.reading.next()).done) beginNextReading(known);
    } else if (pool.isFitting() || isFitDue(known)) pool.learn();
    else {
      if (hasWorked) pool.rest();
      return hasWorked;
    }
  }
  return true;
}

function beginNextReading(known: Knowledge): void {
  known.reading = known.listedNext && readFiles(known, known.listedNext);
  known.listedNext = null;
}

async function* readFiles(known: Knowledge, listing: Listing): AsyncGenerator<void, void> {
  const { files, chunker, pool, maxChunks, maxWeight } = known;
  const isFirst = !known.isComplete && !known.isCut;
  const present = new Set(listing.paths);
  for (const path of files.keys()) if (!present.has(path)) dropFile(known, path);
  const changed: ChangedFile[] = [];
  for (const [index, path] of listing.paths.entries()) {
    const change = changeOf(known, path, listing.blobs[index] ?? '');
    if (change === 'gone') dropFile(known, path);
    else if (change) changed.push(change);
    if (index % 200 === 199) yield;
  }
  // Code before data: it is what is asked for, and there may be no room for both.
  changed.sort((a, b) => Number(chunker.knows(b.path)) - Number(chunker.knows(a.path)));
  known.isCut = false;
  for (const file of changed) {
    dropFile(known, file.path);
    known.isCut = known.ownChunks >= maxChunks || pool.corpus.weight >= maxWeight;
    if (known.isCut) break;
    await addFile(known, file);
    if (!isFirst) known.worked.add(file.path);
    yield;
  }
  known.isComplete = !known.isCut;
}

interface ChangedFile {
  path: string;
  stamp: string | null;
  /** '': what is in it says which version it is. */
  blob: string;
}

function changeOf({ root, files }: Knowledge, path: string, blob: string): ChangedFile | 'gone' | null {
  const file = files.get(path);
  if (blob !== '') {
    if (isGenerated(path)) return 'gone';
    return file?.listed === blob && file.stamp === null ? null : { path, stamp: null, blob };
  }
  const stamp = stampOf(root, path);
  if (stamp === null) return 'gone';
  return file?.stamp === stamp ? null : { path, stamp, blob };
}

/** A file that is away is not added: it may come back, and then it is as good as new. */
async function addFile(known: Knowledge, { path, stamp, blob: listed }: ChangedFile): Promise<void> {
  const { root, pool, files } = known;
  const isKnown = listed !== '' && pool.knows({ path, blob: listed });
  const version = isKnown ? versionOf(root, { path, blob: listed }) : versionNow(root, path);
  const chunks = version && (await pool.take(version));
  if (!chunks) return;
  files.set(path, { stamp, listed, blob: version.blob, chunks });
  known.ownChunks += chunks.length;
  for (const chunk of chunks) {
    known.isOwn = grown(known.isOwn, chunk + 1);
    known.isOwn[chunk] = 1;
  }
}

/** It may have changed since it was listed: what is in it says which version it is. `null`: it is away. */
function versionNow(root: string, path: string): FileVersion | null {
  const bytes = bytesOf(root, path);
  return bytes && { path, blob: blobOf(bytes), text: () => writtenIn(bytes) ?? '' };
}

/** The very version, which the pool knows; it is read only where the pool cannot read what it knows. */
function versionOf(root: string, { path, blob }: Pick<FileVersion, 'path' | 'blob'>): FileVersion {
  return {
    ...{ path, blob },
    text() {
      const now = versionNow(root, path);
      return now?.blob === blob ? now.text() : null;
    },
  };
}

/** As git names it. */
function blobOf(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

function dropFile(known: Knowledge, path: string): void {
  const file = known.files.get(path);
  if (!file) return;
  known.files.delete(path);
  known.ownChunks -= file.chunks.length;
  for (const chunk of file.chunks) known.isOwn[chunk] = 0;
  known.pool.giveBack({ path, blob: file.blob });
}

/** A change was seen of a file that git had listed. */
async function lookAgain(known: Knowledge, path: string): Promise<void> {
  known.touched.delete(path);
  const stamp = stampOf(known.root, path);
  if (stamp !== null && known.files.get(path)?.stamp === stamp) return;
  dropFile(known, path);
  if (stamp === null || known.isCut) return;
  known.worked.add(path);
  await addFile(known, { path, stamp, blob: '' });
}

/** After the first reading, and when the code is no longer what the model was fitted on. */
function isFitDue({ isComplete, isCut, pool }: Knowledge): boolean {
  return (isComplete || isCut) && pool.isFitDue();
}

function stateOf(known: Knowledge): IndexState {
  const { files, isComplete, pool, reading, touched } = known;
  if (files.size === 0 && !isComplete) return 'lexical';
  if (!isComplete || (!pool.meaning() && (pool.isFitting() || isFitDue(known)))) return 'partial';
  return reading || touched.size > 0 ? 'stale' : 'ready';
}

function search(known: Knowledge, { query, limit }: { query: string; limit: number }): CodeHit[] {
  const { rankings, places, rarity } = gather(known, query);
  return hitsOf(known.root, { ranked: rankChunks(rankings, { places, rarity }), limit, rarity });
}

function gather({ pool, isOwn, worked }: Knowledge, query: string): Gathered {
  const { corpus } = pool;
  const terms = [...new Set(termsOf(query))];
  const counts = corpus.countsOf(terms);
  const rarity = new Map(
    terms.map((term) => {
      const [number] = corpus.countsOf([term]).terms;
      const having = number === undefined ? 0 : corpus.documents(number);
      return [term, Math.log(1 + corpus.size / (having + 1))];
    }),
  );
  const vectors = pool.vectors();
  const asked = vectors?.model.placeQuestion(query);
  const isWanted = (chunk: number) => isOwn[chunk] === 1;
  const words = corpus.search(terms, CANDIDATES, isWanted);
  const company = pool.meaning()?.search(counts, CANDIDATES, isWanted) ?? [];
  const nearest = asked ? vectors!.places.search(asked, NEAREST, isWanted) : [];
  const found = new Set([...words, ...company].map(({ chunk }) => chunk));
  const near = nearest.filter(({ chunk }, index) => index < CANDIDATES || found.has(chunk));
  const rankings = { words, company, vectors: near };
  const places = new Map<number, Place>();
  for (const { chunk } of Object.values(rankings).flat()) {
    const place = pool.places.get(chunk);
    if (place) places.set(chunk, { ...place, isChanged: worked.has(place.path) });
  }
  return { rankings, places, rarity };
}

/** In the files as they are now: what has gone is no answer. */
function hitsOf(
  root: string,
  { ranked, limit, rarity }: { ranked: Place[]; limit: number; rarity: ReadonlyMap<string, number> },
): CodeHit[] {
  const texts = new Map<string, string[] | null>();
  const seen = new Map<string, number>();
  const hits: CodeHit[] = [];
  for (const place of ranked) {
    if (hits.length === limit) break;
    const times = seen.get(place.path) ?? 0;
    if (times === MAX_HITS_A_FILE) continue;
    if (!texts.has(place.path)) texts.set(place.path, textOf(root, place.path)?.split('\n') ?? null);
    const hit = bestLine(place, { lines: texts.get(place.path) ?? [], rarity });
    if (!hit || hits.some(({ path, line }) => path === hit.path && line === hit.line)) continue;
    seen.set(place.path, times + 1);
    hits.push(hit);
  }
  return hits;
}

/** The line that has most of what was asked for, else the one that names the chunk. */
function bestLine(
  { path, startLine, endLine, name }: Place,
  { lines, rarity }: { lines: string[]; rarity: ReadonlyMap<string, number> },
): CodeHit | null {
  let found: (CodeHit & { score: number }) | null = null;
  for (let line = startLine; line <= Math.min(endLine, lines.length); line++) {
    const text = lines[line - 1]!;
    if (text.trim() === '') continue;
    const words = new Set(termsOf(text));
    let score = name !== null && text.includes(name) ? 0.5 : 0;
    for (const [term, weight] of rarity) if (words.has(term)) score += weight;
    if (!found || score > found.score) found = { path, line, text, score };
  }
  return found && { path: found.path, line: found.line, text: found.text };
}
