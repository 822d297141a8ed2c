/** What is known of one worktree's code. Derived from the files alone: to lose it costs the time to read them again. */
import { type Corpus, createCorpus, weighted } from './corpus.ts';
import { lineWindows } from './line-windows.ts';
import { fitMeaning, type Meaning } from './meaning.ts';
import { type Place, type Rankings, rankChunks } from './ranking.ts';
import { stampOf, textOf } from './source-file.ts';
import type { SyntaxChunker } from './syntax-chunks.ts';
import { termsOf } from './terms.ts';
import { createVectorPlaces, type VectorPlaces } from './vector-places.ts';
import type { WordVectors } from './word-vectors.ts';

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
  /** The project's files as they are now; what differs is looked at by `work`. */
  refresh(paths: readonly string[]): void;
  /** Some milliseconds of what is to be done. False when nothing was. */
  work(): Promise<boolean>;
  /** Whether all files of the last `refresh` have been read. */
  isRead(): boolean;
  state(): IndexState;
  search(query: string, limit: number): CodeHit[];
  /** What each way of searching finds, before they are joined. */
  gather(query: string): Gathered;
}

export interface Gathered {
  rankings: Rankings;
  places: ReadonlyMap<number, Place>;
  /** The words of the question, each with how much it says. */
  rarity: ReadonlyMap<string, number>;
}

const SLICE_MS = 8;
/** Beyond either the index stays partial: a thread that runs out of memory can take the whole process with it. */
const MAX_CHUNKS = 60_000;
const MAX_WEIGHT = 10_000_000;
const CANDIDATES = 100;
const MAX_HITS_A_FILE = 3;
const NAME_WEIGHT = 2;

interface IndexedFile {
  stamp: string;
  chunks: number[];
}

/** What is known, and what is under way. */
interface Knowledge {
  root: string;
  chunker: SyntaxChunker;
  maxChunks: number;
  maxWeight: number;
  corpus: Corpus;
  files: Map<string, IndexedFile>;
  places: Map<number, Place>;
  meaning: Meaning | null;
  openModel: () => WordVectors;
  /** Once there is a chunk: before that nobody waits for the model's file. */
  vectors: { model: WordVectors; places: VectorPlaces } | null;
  reading: AsyncGenerator<void, void> | null;
  /** Listed while another list was being read: begun after it, or a first reading would never end under questions. */
  listedNext: readonly string[] | null;
  fitting: Generator<void, Meaning | null> | null;
  isComplete: boolean;
  isCut: boolean;
  changedSinceFit: number;
}

export function createWorktreeIndex(
  root: string,
  {
    chunker,
    openModel,
    maxChunks = MAX_CHUNKS,
    maxWeight = MAX_WEIGHT,
  }: { chunker: SyntaxChunker; openModel: () => WordVectors; maxChunks?: number; maxWeight?: number },
): WorktreeIndex {
  const known: Knowledge = {
    ...{ root, chunker, maxChunks, maxWeight },
    ...{ corpus: createCorpus(), files: new Map(), places: new Map(), meaning: null },
    ...{ openModel, vectors: null },
    ...{ reading: null, listedNext: null, fitting: null },
    ...{ isComplete: false, isCut: false, changedSinceFit: 0 },
  };
  return {
    get chunks() {
      return known.corpus.size;
    },
    get weight() {
      return known.corpus.weight;
    },
    refresh(paths) {
      if (known.reading) known.listedNext = paths;
      else known.reading = readFiles(known, paths);
    },
    work: () => work(known),
    isRead: () => known.reading === null,
    state: () => stateOf(known),
    search: (query, limit) => search(known, { query, limit }),
    gather: (query) => gather(known, query),
  };
}

async function work(known: Knowledge): Promise<boolean> {
  const until = performance.now() + SLICE_MS;
  let hasWorked = false;
  while (performance.now() < until) {
    if (known.reading) {
      if ((await known.reading.next()).done) beginNextReading(known);
    } else if (known.fitting || isFitDue(known)) learn(known);
    else return hasWorked;
    hasWorked = true;
  }
  return hasWorked;
}

function beginNextReading(known: Knowledge): void {
  known.reading = known.listedNext && readFiles(known, known.listedNext);
  known.listedNext = null;
}

async function* readFiles(known: Knowledge, paths: readonly string[]): AsyncGenerator<void, void> {
  const { root, files, chunker, corpus, maxChunks, maxWeight } = known;
  const isFirst = !known.isComplete && !known.isCut;
  const present = new Set(paths);
  for (const path of files.keys()) if (!present.has(path)) dropFile(known, path);
  const changed: { path: string; stamp: string }[] = [];
  for (const [index, path] of paths.entries()) {
    const stamp = stampOf(root, path);
    if (stamp === null) dropFile(known, path);
    else if (files.get(path)?.stamp !== stamp) changed.push({ path, stamp });
    if (index % 200 === 199) yield;
  }
  // Code before data: it is what is asked for, and there may be no room for both.
  changed.sort((a, b) => Number(chunker.knows(b.path)) - Number(chunker.knows(a.path)));
  known.isCut = false;
  for (const { path, stamp } of changed) {
    dropFile(known, path);
    known.isCut = corpus.size >= maxChunks || corpus.weight >= maxWeight;
    if (known.isCut) break;
    const chunks = await addFile(known, path, !isFirst);
    files.set(path, { stamp, chunks });
    known.changedSinceFit += chunks.length;
    yield;
  }
  known.isComplete = !known.isCut;
}

async function addFile(known: Knowledge, path: string, isChanged: boolean): Promise<number[]> {
  const { corpus, places } = known;
  const text = textOf(known.root, path);
  if (text === null) return [];
  const lines = text.split('\n');
  const found = (await known.chunker.chunks(path, text)) ?? lineWindows({ from: 1, to: lines.length });
  return found.map((chunk) => {
    const body = lines.slice(chunk.startLine - 1, chunk.endLine).join('\n');
    const number = corpus.add([
      ...weighted(termsOf(path)),
      ...weighted(termsOf(chunk.name ?? ''), NAME_WEIGHT),
      ...weighted(termsOf(body)),
    ]);
    places.set(number, { ...chunk, path, isChanged });
    placeVector(known, { chunk: number, place: places.get(number)!, body });
    known.meaning?.place(number, corpus.counts(number)!);
    return number;
  });
}

function placeVector(
  known: Knowledge,
  { chunk, place, body }: { chunk: number; place: Place; body: string },
): void {
  if (!known.vectors) {
    const model = known.openModel();
    known.vectors = { model, places: createVectorPlaces(model.dims) };
  }
  const { name, container, path } = place;
  const fields = { body, name: name ?? '', path, container: container ?? '' };
  const vector = known.vectors.model.placeChunk(fields);
  if (vector) known.vectors.places.place(chunk, vector);
}

function dropFile(known: Knowledge, path: string): void {
  const file = known.files.get(path);
  if (!file) return;
  known.files.delete(path);
  known.changedSinceFit += file.chunks.length;
  for (const chunk of file.chunks) {
    known.corpus.remove(chunk);
    known.places.delete(chunk);
    known.vectors?.places.forget(chunk);
    known.meaning?.forget(chunk);
  }
}

/** After the first reading, and when the code is no longer what the model was fitted on. */
function isFitDue({ isComplete, isCut, changedSinceFit, meaning, corpus }: Knowledge): boolean {
  return (isComplete || isCut) && changedSinceFit > (meaning ? Math.max(50, corpus.size / 4) : 0);
}

function learn(known: Knowledge): void {
  const { corpus } = known;
  if (!known.fitting) {
    known.fitting = fitMeaning(corpus);
    known.changedSinceFit = 0;
  }
  const { done, value: meaning } = known.fitting.next();
  if (!done) return;
  known.fitting = null;
  known.meaning = meaning;
  // Files have been read meanwhile.
  for (const chunk of corpus.chunks())
    if (meaning && !meaning.has(chunk)) meaning.place(chunk, corpus.counts(chunk)!);
}

function stateOf(known: Knowledge): IndexState {
  const { files, isComplete, meaning, fitting, reading } = known;
  if (files.size === 0 && !isComplete) return 'lexical';
  if (!isComplete || (!meaning && (fitting !== null || isFitDue(known)))) return 'partial';
  return reading ? 'stale' : 'ready';
}

function search(known: Knowledge, { query, limit }: { query: string; limit: number }): CodeHit[] {
  const { rankings, places, rarity } = gather(known, query);
  return hitsOf(known.root, { ranked: rankChunks(rankings, { places, rarity }), limit, rarity });
}

function gather({ corpus, meaning, vectors, places }: Knowledge, query: string): Gathered {
  const terms = [...new Set(termsOf(query))];
  const rarity = new Map(
    terms.map((term) => {
      const [number] = corpus.countsOf([term]).terms;
      const having = number === undefined ? 0 : corpus.documents(number);
      return [term, Math.log(1 + corpus.size / (having + 1))];
    }),
  );
  const asked = vectors?.model.placeQuestion(query);
  const rankings = {
    words: corpus.search(terms, CANDIDATES),
    company: meaning?.search(corpus.countsOf(terms), CANDIDATES) ?? [],
    vectors: asked ? vectors!.places.search(asked, CANDIDATES) : [],
  };
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
