/** The chunks of one worktree by their words: BM25, and the counts from which a model of meaning is fitted. */

const K1 = 1.2;
const B = 0.75;

export interface Scored {
  chunk: number;
  score: number;
}

export type WeightedTerm = readonly [term: string, weight: number];

export function* weighted(terms: Iterable<string>, weight = 1): Iterable<WeightedTerm> {
  for (const term of terms) yield [term, weight];
}

/** Words of a chunk, by the number that the corpus has given each. */
export interface TermCounts {
  terms: Uint32Array;
  counts: Float32Array;
}

export interface Corpus {
  /** Chunks that are there; numbers go on beyond it where some were removed. */
  readonly size: number;
  /** What it takes in memory, about a dozen bytes each: a word counts `WORD_WEIGHT` times, and once in each chunk. */
  readonly weight: number;
  /** Numbers, of chunks as of words, are given in order and never again. A word that counts more than once is named more than once. */
  add(words: Iterable<WeightedTerm>): number;
  remove(chunk: number): void;
  counts(chunk: number): TermCounts | null;
  /** Of words that the corpus knows; each with how often it was asked for. */
  countsOf(terms: Iterable<string>): TermCounts;
  /** The words of all chunks by their numbers, each with in how many of them it is. */
  vocabulary(): Iterable<readonly [term: number, documents: number]>;
  /** In how many chunks the word is. */
  documents(term: number): number;
  chunks(): Iterable<number>;
  search(terms: Iterable<string>, limit: number): Scored[];
}

const WORD_WEIGHT = 20;

interface Word {
  text: string;
  number: number;
  /** Those that have it; removed ones as well, until they are the larger part. */
  chunks: number[];
  /** How many have it now. */
  documents: number;
}

export function createCorpus(): Corpus {
  /** A word that no chunk has is forgotten: generated files have new words each time. */
  const byText = new Map<string, Word>();
  const byNumber = new Map<number, Word>();
  const kept = new Map<number, TermCounts & { length: number }>();
  let next = 0;
  let nextWord = 0;
  let totalLength = 0;
  let removed = 0;
  let inChunks = 0;

  function add(words: Iterable<WeightedTerm>): number {
    const counted = count(words, (text) => (byText.get(text) ?? addWord(text)).number);
    const chunk = next++;
    let length = 0;
    counted.terms.forEach((term, index) => {
      const word = byNumber.get(term)!;
      word.chunks.push(chunk);
      word.documents++;
      length += counted.counts[index]!;
    });
    kept.set(chunk, { ...counted, length });
    totalLength += length;
    inChunks += counted.terms.length;
    return chunk;
  }

  function addWord(text: string): Word {
    const word: Word = { text, number: nextWord++, chunks: [], documents: 0 };
    byText.set(text, word);
    byNumber.set(word.number, word);
    return word;
  }

  function remove(chunk: number): void {
    const gone = kept.get(chunk);
    if (!gone) return;
    kept.delete(chunk);
    totalLength -= gone.length;
    inChunks -= gone.terms.length;
    for (const term of gone.terms) {
      const word = byNumber.get(term)!;
      if (--word.documents > 0) continue;
      byText.delete(word.text);
      byNumber.delete(term);
    }
    if (++removed > 1000 && removed > kept.size) compact();
  }

  function compact(): void {
    for (const word of byNumber.values()) word.chunks = word.chunks.filter((chunk) => kept.has(chunk));
    removed = 0;
  }

  function countsOf(terms: Iterable<string>): TermCounts {
    return count(weighted(terms), (text) => byText.get(text)?.number ?? null);
  }

  function search(terms: Iterable<string>, limit: number): Scored[] {
    const asked = countsOf(terms);
    const average = totalLength / Math.max(kept.size, 1);
    const scores = new Map<number, number>();
    asked.terms.forEach((term, index) => {
      const { documents: having, chunks } = byNumber.get(term)!;
      const weight = asked.counts[index]! * Math.log(1 + (kept.size - having + 0.5) / (having + 0.5));
      for (const chunk of chunks) {
        const entry = kept.get(chunk);
        if (!entry) continue;
        const times = entry.counts[position(entry.terms, term)]!;
        const part = (times * (K1 + 1)) / (times + K1 * (1 - B + (B * entry.length) / average));
        scores.set(chunk, (scores.get(chunk) ?? 0) + weight * part);
      }
    });
    return best(scores, limit);
  }

  return {
    get size() {
      return kept.size;
    },
    get weight() {
      return inChunks + WORD_WEIGHT * byText.size;
    },
    add,
    remove,
    counts: (chunk) => kept.get(chunk) ?? null,
    countsOf,
    *vocabulary() {
      for (const [term, { documents }] of byNumber) yield [term, documents];
    },
    documents: (term) => byNumber.get(term)?.documents ?? 0,
    chunks: () => kept.keys(),
    search,
  };
}

/** Best first; equals in the order of their numbers, so that the same question has the same answer. */
export function best(scores: Iterable<readonly [number, number]>, limit: number): Scored[] {
  return Array.from(scores, ([chunk, score]) => ({ chunk, score }))
    .sort((a, b) => b.score - a.score || a.chunk - b.chunk)
    .slice(0, limit);
}

function count(words: Iterable<WeightedTerm>, numberOf: (term: string) => number | null): TermCounts {
  const counts = new Map<number, number>();
  for (const [term, weight] of words) {
    const number = numberOf(term);
    if (number !== null) counts.set(number, (counts.get(number) ?? 0) + weight);
  }
  const sorted = [...counts].sort(([a], [b]) => a - b);
  return {
    terms: Uint32Array.from(sorted, ([term]) => term),
    counts: Float32Array.from(sorted, ([, times]) => times),
  };
}

/** Where a word stands among a chunk's, which are in order. */
function position(terms: Uint32Array, term: number): number {
  let low = 0;
  let high = terms.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (terms[middle]! < term) low = middle + 1;
    else high = middle;
  }
  return low;
}
