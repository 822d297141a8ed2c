/**
 * The code of a project: each version of a file once, however many worktrees have it. Derived from the files alone: to
 * lose it costs the time to read them again.
 */
import type { BlobCache } from './blob-cache.ts';
import { type Corpus, createCorpus, weighted } from './corpus.ts';
import { type Chunk, lineWindows } from './line-windows.ts';
import { fitMeaning, type Meaning, MIN_CHUNKS } from './meaning.ts';
import { ownText } from './own-text.ts';
import { type LearntChunk, readLearnt, writeLearnt } from './stored-file.ts';
import type { SyntaxChunker } from './syntax-chunks.ts';
import { termsOf } from './terms.ts';
import { createVectorPlaces, type VectorPlaces } from './vector-places.ts';
import type { WordVectors } from './word-vectors.ts';

const NAME_WEIGHT = 2;

export interface PooledPlace extends Chunk {
  path: string;
}

export interface PoolParts {
  chunker: SyntaxChunker;
  openModel: () => WordVectors;
  /** What other processes have learnt. */
  cache?: BlobCache | null;
}

export interface FileVersion {
  path: string;
  /** Names what is in it. */
  blob: string;
  /** '': nobody has written it. `null`: it cannot be read now. Asked only where the version is not known. */
  text(): string | null;
}

export interface CodePool {
  readonly corpus: Corpus;
  readonly places: ReadonlyMap<number, PooledPlace>;
  meaning(): Meaning | null;
  vectors(): { model: WordVectors; places: VectorPlaces } | null;
  /** Its chunks, until it is given back as often as it was taken. `null`: it cannot be read now, and was not taken. */
  take(version: FileVersion): Promise<readonly number[] | null>;
  giveBack(version: Pick<FileVersion, 'path' | 'blob'>): void;
  /** Whether it need not be read. */
  knows(version: Pick<FileVersion, 'path' | 'blob'>): boolean;
  /** The code is no longer what the model was fitted on, or there is none. Of little code there is never one. */
  isFitDue(): boolean;
  isFitting(): boolean;
  /** A step of a fit. */
  learn(): void;
  /** Nothing is left to do: keeps what was learnt, and after a fit gives back the room for more. */
  rest(): void;
}

interface Version {
  chunks: readonly number[];
  users: number;
}

export function createCodePool({ chunker, openModel, cache = null }: PoolParts): CodePool {
  const corpus = createCorpus();
  const places = new Map<number, PooledPlace>();
  const versions = new Map<string, Version>();
  let vectors: { model: WordVectors; places: VectorPlaces } | null = null;
  let meaning: Meaning | null = null;
  let fitting: Generator<void, Meaning | null> | null = null;
  let changedSinceFit = 0;
  /** Not after each change: what is given back is soon asked for again. */
  let isRoomy = false;

  /** Once there is a chunk: before that nobody waits for the model's file. */
  function openVectors() {
    if (vectors) return vectors;
    const model = openModel();
    vectors = { model, places: createVectorPlaces(model.dims) };
    return vectors;
  }

  async function take(version: FileVersion): Promise<readonly number[] | null> {
    const key = keyOf(version);
    const known = versions.get(key);
    if (known) {
      known.users++;
      return known.chunks;
    }
    const learnt = await learntOf(key, version, { cache, chunker, model: () => openVectors().model });
    if (!learnt) return null;
    const ofPath = [...weighted(termsOf(version.path))];
    const chunks = learnt.map(({ words, vector, ...chunk }) => {
      const number = corpus.add([...ofPath, ...words]);
      places.set(number, { ...chunk, path: version.path });
      if (vector) openVectors().places.place(number, fromBytes(vector));
      meaning?.place(number, corpus.counts(number)!);
      return number;
    });
    changedSinceFit += chunks.length;
    versions.set(key, { chunks, users: 1 });
    return chunks;
  }

  function giveBack(version: Pick<FileVersion, 'path' | 'blob'>): void {
    const key = keyOf(version);
    const known = versions.get(key);
    if (!known || --known.users > 0) return;
    versions.delete(key);
    changedSinceFit += known.chunks.length;
    for (const chunk of known.chunks) {
      corpus.remove(chunk);
      places.delete(chunk);
      vectors?.places.forget(chunk);
      meaning?.forget(chunk);
    }
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
    isRoomy = true;
    // Files have been read meanwhile.
    for (const chunk of corpus.chunks())
      if (meaning && !meaning.has(chunk)) meaning.place(chunk, corpus.counts(chunk)!);
  }

  function rest(): void {
    cache?.flush();
    if (!isRoomy) return;
    isRoomy = false;
    corpus.trim();
    vectors?.places.trim();
    meaning?.trim();
  }

  return {
    ...{ corpus, places, take, giveBack, learn },
    meaning: () => meaning,
    vectors: () => vectors,
    knows: (version) => versions.has(keyOf(version)) || (cache?.read(keyOf(version)) ?? null) !== null,
    isFitDue: () =>
      corpus.size >= MIN_CHUNKS && changedSinceFit > (meaning ? Math.max(50, corpus.size / 4) : 0),
    isFitting: () => fitting !== null,
    rest,
  };
}

/** The path is a part of it: its words count. */
function keyOf({ path, blob }: Pick<FileVersion, 'path' | 'blob'>): string {
  return `${blob} ${path}`;
}

/** `null`: it cannot be read now. */
async function learntOf(
  key: string,
  { path, text }: FileVersion,
  { cache, chunker, model }: { cache: BlobCache | null; chunker: SyntaxChunker; model: () => WordVectors },
): Promise<LearntChunk[] | null> {
  const stored = cache?.read(key);
  const known = stored && readLearnt(stored, model().dims);
  if (known) return known;
  const source = text();
  // Nothing is known of it then, and nothing is kept: it would be believed for ever.
  if (source === null) return null;
  const learnt = source === '' ? [] : await learnFile({ path, text: source }, chunker, model());
  cache?.write(key, writeLearnt(learnt));
  return learnt;
}

async function learnFile(
  { path, text }: { path: string; text: string },
  chunker: SyntaxChunker,
  model: WordVectors,
): Promise<LearntChunk[]> {
  const lines = text.split('\n');
  const found = (await chunker.chunks(path, text)) ?? lineWindows({ from: 1, to: lines.length });
  return found.map((chunk) => {
    const body = lines.slice(chunk.startLine - 1, chunk.endLine).join('\n');
    const { name, container } = chunk;
    const counts = new Map<string, number>();
    const count = (terms: Iterable<string>, weight: number) => {
      for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + weight);
    };
    count(termsOf(name ?? ''), NAME_WEIGHT);
    count(termsOf(body), 1);
    const place = model.placeChunk({ body, name: name ?? '', path, container: container ?? '' });
    const named = { name: name && ownText(name), container: container && ownText(container) };
    return { ...chunk, ...named, words: [...counts], vector: place && inBytes(place) };
  });
}

function fromBytes({ bytes, scale }: { bytes: Int8Array; scale: number }): Float32Array {
  return Float32Array.from(bytes, (each) => each * scale);
}

function inBytes(place: Float32Array): { bytes: Int8Array; scale: number } {
  let largest = 0;
  for (const part of place) largest = Math.max(largest, Math.abs(part));
  const scale = Math.fround(largest / 127) || 1;
  return { scale, bytes: Int8Array.from(place, (part) => Math.round(part / scale)) };
}
