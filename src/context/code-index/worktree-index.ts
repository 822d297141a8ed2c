/** What is known of one worktree's code. Derived from the files alone: to lose it costs the time to read them again. */
import { best, type Corpus, createCorpus, weighted } from './corpus.ts';
import { type Chunk, lineWindows } from './line-windows.ts';
import { fitMeaning, type Meaning } from './meaning.ts';
import { stampOf, textOf } from './source-file.ts';
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
  /** The project's files as they are now; what differs is looked at by `work`. */
  refresh(paths: readonly string[]): void;
  /** Some milliseconds of what is to be done. False when nothing was. */
  work(): Promise<boolean>;
  /** Whether all files of the last `refresh` have been read. */
  isRead(): boolean;
  state(): IndexState;
  search(query: string, limit: number): CodeHit[];
}

const SLICE_MS = 8;
/** Beyond either the index stays partial: a thread that runs out of memory can take the whole process with it. */
const MAX_CHUNKS = 60_000;
const MAX_WEIGHT = 10_000_000;
const CANDIDATES = 100;
const MAX_HITS_A_FILE = 3;
const NAME_WEIGHT = 2;
/** Reciprocal ranks: measured on questions whose answers are known, see the test of its quality. */
const RANK_OFFSET = 10;
const MEANING_WEIGHT = 0.4;

interface IndexedFile {
  stamp: string;
  chunks: number[];
}

interface Place extends Chunk {
  path: string;
}

export function createWorktreeIndex(
  root: string,
  {
    chunker,
    maxChunks = MAX_CHUNKS,
    maxWeight = MAX_WEIGHT,
  }: { chunker: SyntaxChunker; maxChunks?: number; maxWeight?: number },
): WorktreeIndex {
  const corpus = createCorpus();
  const files = new Map<string, IndexedFile>();
  const places = new Map<number, Place>();
  let meaning: Meaning | null = null;
  let reading: AsyncGenerator<void, void> | null = null;
  /** Listed while another list was being read: begun after it, or a first reading would never end under questions. */
  let listedNext: readonly string[] | null = null;
  let fitting: Generator<void, Meaning | null> | null = null;
  let isComplete = false;
  let isCut = false;
  let changedSinceFit = 0;

  async function* read(paths: readonly string[]): AsyncGenerator<void, void> {
    const present = new Set(paths);
    for (const path of files.keys()) if (!present.has(path)) drop(path);
    const changed: { path: string; stamp: string }[] = [];
    for (const [index, path] of paths.entries()) {
      const stamp = stampOf(root, path);
      if (stamp === null) drop(path);
      else if (files.get(path)?.stamp !== stamp) changed.push({ path, stamp });
      if (index % 200 === 199) yield;
    }
    // Code before data: it is what is asked for, and there may be no room for both.
    changed.sort((a, b) => Number(chunker.knows(b.path)) - Number(chunker.knows(a.path)));
    isCut = false;
    for (const { path, stamp } of changed) {
      drop(path);
      isCut = corpus.size >= maxChunks || corpus.weight >= maxWeight;
      if (isCut) break;
      const chunks = await add(path);
      files.set(path, { stamp, chunks });
      changedSinceFit += chunks.length;
      yield;
    }
    isComplete = !isCut;
  }

  async function add(path: string): Promise<number[]> {
    const text = textOf(root, path);
    if (text === null) return [];
    const lines = text.split('\n');
    const found = (await chunker.chunks(path, text)) ?? lineWindows({ from: 1, to: lines.length });
    return found.map((chunk) => {
      const body = lines.slice(chunk.startLine - 1, chunk.endLine).join('\n');
      const number = corpus.add([
        ...weighted(termsOf(path)),
        ...weighted(termsOf(chunk.name ?? ''), NAME_WEIGHT),
        ...weighted(termsOf(body)),
      ]);
      places.set(number, { ...chunk, path });
      meaning?.place(number, corpus.counts(number)!);
      return number;
    });
  }

  function drop(path: string): void {
    const file = files.get(path);
    if (!file) return;
    files.delete(path);
    changedSinceFit += file.chunks.length;
    for (const chunk of file.chunks) {
      corpus.remove(chunk);
      places.delete(chunk);
      meaning?.forget(chunk);
    }
  }

  /** After the first reading, and when the code is no longer what the model was fitted on. */
  function isFitDue(): boolean {
    return (isComplete || isCut) && changedSinceFit > (meaning ? Math.max(50, corpus.size / 4) : 0);
  }

  function learn(): void {
    if (!fitting) {
      fitting = fitMeaning(corpus);
      changedSinceFit = 0;
    }
    const { done, value } = fitting.next();
    if (!done) return;
    fitting = null;
    meaning = value;
    // Files have been read meanwhile.
    for (const chunk of corpus.chunks())
      if (meaning && !meaning.has(chunk)) meaning.place(chunk, corpus.counts(chunk)!);
  }

  function nextReading(): void {
    reading = listedNext && read(listedNext);
    listedNext = null;
  }

  async function work(): Promise<boolean> {
    const until = performance.now() + SLICE_MS;
    let hasWorked = false;
    while (performance.now() < until) {
      if (reading) {
        if ((await reading.next()).done) nextReading();
      } else if (fitting || isFitDue()) learn();
      else return hasWorked;
      hasWorked = true;
    }
    return hasWorked;
  }

  function state(): IndexState {
    if (files.size === 0 && !isComplete) return 'lexical';
    if (!isComplete || (!meaning && (fitting !== null || isFitDue()))) return 'partial';
    return reading ? 'stale' : 'ready';
  }

  function search(query: string, limit: number): CodeHit[] {
    const terms = [...new Set(termsOf(query))];
    const scores = new Map<number, number>();
    const rank = (found: { chunk: number }[], weight: number) => {
      for (const [index, { chunk }] of found.entries()) {
        scores.set(chunk, (scores.get(chunk) ?? 0) + weight / (RANK_OFFSET + index));
      }
    };
    rank(corpus.search(terms, CANDIDATES), 1);
    rank(meaning?.search(corpus.countsOf(terms), CANDIDATES) ?? [], MEANING_WEIGHT);
    const ranked = best(scores, 2 * CANDIDATES).flatMap(({ chunk }) => places.get(chunk) ?? []);
    return hitsOf(root, { ranked, terms, limit, corpus });
  }

  return {
    get chunks() {
      return corpus.size;
    },
    get weight() {
      return corpus.weight;
    },
    refresh(paths) {
      if (reading) listedNext = paths;
      else reading = read(paths);
    },
    work,
    isRead: () => reading === null,
    state,
    search,
  };
}

/** In the files as they are now: what has gone is no answer. */
function hitsOf(
  root: string,
  { ranked, terms, limit, corpus }: { ranked: Place[]; terms: string[]; limit: number; corpus: Corpus },
): CodeHit[] {
  const rarity = new Map(
    terms.map((term) => {
      const [number] = corpus.countsOf([term]).terms;
      const having = number === undefined ? 0 : corpus.documents(number);
      return [term, Math.log(1 + corpus.size / (having + 1))];
    }),
  );
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
