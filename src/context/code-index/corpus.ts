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
  /** Words seen so far: each has a number below it. */
  readonly vocabulary: number;
  /** The numbers are given in order and never again. A word that counts more than once is named more than once. */
  add(words: Iterable<WeightedTerm>): number;
  remove(chunk: number): void;
  counts(chunk: number): TermCounts | null;
  /** Of words that the corpus knows; each with how often it was asked for. */
  countsOf(terms: Iterable<string>): TermCounts;
  /** In how many chunks the word is. */
  documents(term: number): number;
  chunks(): Iterable<number>;
  search(terms: Iterable<string>, limit: number): Scored[];
}

export function createCorpus(): Corpus {
  const numbers = new Map<string, number>();
  const postings: number[][] = [];
  const documents: number[] = [];
  const kept = new Map<number, TermCounts & { length: number }>();
  let next = 0;
  let totalLength = 0;
  let removed = 0;

  function add(words: Iterable<WeightedTerm>): number {
    const counted = count(words, (term) => {
      const known = numbers.get(term) ?? numbers.size;
      numbers.set(term, known);
      return known;
    });
    const chunk = next++;
    let length = 0;
    counted.terms.forEach((term, index) => {
      postings[term] ??= [];
      postings[term].push(chunk);
      documents[term] = (documents[term] ?? 0) + 1;
      length += counted.counts[index]!;
    });
    kept.set(chunk, { ...counted, length });
    totalLength += length;
    return chunk;
  }

  function remove(chunk: number): void {
    const gone = kept.get(chunk);
    if (!gone) return;
    kept.delete(chunk);
    totalLength -= gone.length;
    for (const term of gone.terms) documents[term]!--;
    if (++removed > 1000 && removed > kept.size) compact();
  }

  /** Removed chunks stay in the lists until they are the larger part of them. */
  function compact(): void {
    for (const [term, list] of postings.entries()) {
      if (list) postings[term] = list.filter((chunk) => kept.has(chunk));
    }
    removed = 0;
  }

  function countsOf(terms: Iterable<string>): TermCounts {
    return count(weighted(terms), (term) => numbers.get(term) ?? null);
  }

  function search(terms: Iterable<string>, limit: number): Scored[] {
    const asked = countsOf(terms);
    const average = totalLength / Math.max(kept.size, 1);
    const scores = new Map<number, number>();
    asked.terms.forEach((term, index) => {
      const having = documents[term] ?? 0;
      const weight = asked.counts[index]! * Math.log(1 + (kept.size - having + 0.5) / (having + 0.5));
      for (const chunk of postings[term] ?? []) {
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
    get vocabulary() {
      return numbers.size;
    },
    add,
    remove,
    counts: (chunk) => kept.get(chunk) ?? null,
    countsOf,
    documents: (term) => documents[term] ?? 0,
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
