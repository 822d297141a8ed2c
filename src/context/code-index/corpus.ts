/** Chunks by their words: BM25, and the counts from which a model of meaning is fitted. */
import { createForwardIndex, type TermCounts } from './forward-index.ts';
import { fitted, grown } from './grown.ts';
import { createNearest, type Scored } from './nearest.ts';
import { ownText } from './own-text.ts';
import { createPostings } from './postings.ts';

const K1 = 1.2;
const B = 0.75;

export type WeightedTerm = readonly [term: string, weight: number];

export function* weighted(terms: Iterable<string>, weight = 1): Iterable<WeightedTerm> {
  for (const term of terms) yield [term, weight];
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
  /** Gives back the room that it has for more. */
  trim(): void;
  /** Best first, of those that are wanted. */
  search(terms: Iterable<string>, limit: number, isWanted?: (chunk: number) => boolean): Scored[];
}

const WORD_WEIGHT = 20;

export function createCorpus(): Corpus {
  /** A word that no chunk has is forgotten: generated files have new words each time. */
  const byText = new Map<string, number>();
  const texts: string[] = [];
  let documents = new Uint32Array(1024);
  const forward = createForwardIndex();
  const postings = createPostings(forward);
  let scores = new Float64Array(0);

  function numberOf(text: string): number {
    const known = byText.get(text);
    if (known !== undefined) return known;
    const own = ownText(text);
    const number = texts.push(own) - 1;
    documents = grown(documents, texts.length);
    byText.set(own, number);
    return number;
  }

  function add(words: Iterable<WeightedTerm>): number {
    const counted = count(words, numberOf);
    for (const term of counted.terms) documents[term]!++;
    const chunk = forward.add(counted);
    postings.keepUp(texts.length);
    return chunk;
  }

  function remove(chunk: number): void {
    for (const term of forward.remove(chunk)?.terms ?? []) {
      if (--documents[term]! > 0) continue;
      byText.delete(texts[term]!);
      texts[term] = '';
    }
  }

  function countsOf(terms: Iterable<string>): TermCounts {
    return count(weighted(terms), (text) => byText.get(text) ?? null);
  }

  function search(terms: Iterable<string>, limit: number, isWanted?: (chunk: number) => boolean): Scored[] {
    const asked = countsOf(terms);
    const { size, length: totalLength, end } = forward.sums;
    const average = totalLength / Math.max(size, 1);
    if (scores.length < end) scores = new Float64Array(end + 1024);
    else scores.fill(0);
    for (const [index, term] of asked.terms.entries()) {
      const having = documents[term]!;
      const weight = asked.counts[index]! * Math.log(1 + (size - having + 0.5) / (having + 0.5));
      postings.each(term, (chunk, times) => {
        const length = forward.lengthOf(chunk);
        scores[chunk]! += (weight * (times * (K1 + 1))) / (times + K1 * (1 - B + (B * length) / average));
      });
    }
    const nearest = createNearest(limit);
    for (let chunk = 0; chunk < end; chunk++)
      if (scores[chunk]! > 0 && (!isWanted || isWanted(chunk))) nearest.offer(chunk, scores[chunk]!);
    return nearest.found;
  }

  return {
    get size() {
      return forward.sums.size;
    },
    get weight() {
      return forward.sums.entries + WORD_WEIGHT * byText.size;
    },
    add,
    remove,
    counts: forward.counts,
    countsOf,
    *vocabulary() {
      for (let term = 0; term < texts.length; term++)
        if (documents[term]! > 0) yield [term, documents[term]!];
    },
    documents: (term) => documents[term] ?? 0,
    chunks: forward.chunks,
    trim() {
      forward.trim();
      documents = fitted(documents, texts.length);
    },
    search,
  };
}

/** Best first; equals in the order of their numbers, so that the same question has the same answer. */
export function best(scores: Iterable<readonly [number, number]>, limit: number): Scored[] {
  return Array.from(scores, ([chunk, score]) => ({ chunk, score }))
    .sort((a, b) => b.score - a.score || a.chunk - b.chunk)
    .slice(0, limit);
}

const MOST_COUNTED = 255;

function count(words: Iterable<WeightedTerm>, numberOf: (term: string) => number | null): TermCounts {
  const counts = new Map<number, number>();
  for (const [term, weight] of words) {
    const number = numberOf(term);
    if (number !== null) counts.set(number, (counts.get(number) ?? 0) + weight);
  }
  const sorted = [...counts].sort(([a], [b]) => a - b);
  return {
    terms: Uint32Array.from(sorted, ([term]) => term),
    counts: Uint8Array.from(sorted, ([, times]) => Math.min(times, MOST_COUNTED)),
  };
}
