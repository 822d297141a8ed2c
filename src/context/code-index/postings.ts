/** Which chunks have a word: sorted once in a while for most chunks, looked up one by one for the newest. */
import type { ForwardIndex } from './forward-index.ts';

/** So many newest chunks, or this part of all, are looked up one by one. */
const LEAST_UNSORTED = 2_000;
const UNSORTED_PART = 0.25;
/** A word is counted up to 255 times in a chunk. */
const COUNT_BITS = 8;
const MOST_COUNTED = 2 ** COUNT_BITS - 1;
/** So many chunks have numbers that leave room for a count. */
const PACKABLE = 2 ** (32 - COUNT_BITS);

export interface Postings {
  /** Sorts, where too much is unsorted by now. */
  keepUp(words: number): void;
  /** Calls with each chunk that has the word, and how often; removed ones are left out. */
  each(word: number, take: (chunk: number, times: number) => void): void;
}

export function createPostings(
  forward: ForwardIndex,
  { packable = PACKABLE }: { packable?: number } = {},
): Postings {
  let sortedTo = 0;
  let starts = new Uint32Array(1);
  /** Chunks, each with how often it has the word in the lowest bits, as long as all fit. */
  let entries = new Uint32Array(0);
  /** How often, where they do not. */
  let counts: Uint8Array | null = null;

  function sort(words: number): void {
    starts = new Uint32Array(words + 1);
    for (const chunk of forward.chunks())
      for (const term of forward.counts(chunk)!.terms) starts[term + 1]!++;
    for (let word = 0; word < words; word++) starts[word + 1]! += starts[word]!;
    entries = new Uint32Array(forward.sums.entries);
    counts = forward.sums.end > packable ? new Uint8Array(forward.sums.entries) : null;
    const next = starts.slice();
    for (const chunk of forward.chunks()) {
      const own = forward.counts(chunk)!;
      for (let index = 0; index < own.terms.length; index++) {
        const at = next[own.terms[index]!]!++;
        entries[at] = counts ? chunk : (chunk << COUNT_BITS) | own.counts[index]!;
        if (counts) counts[at] = own.counts[index]!;
      }
    }
    sortedTo = forward.sums.end;
  }

  function eachSorted(word: number, take: (chunk: number, times: number) => void): void {
    for (let at = starts[word]!; at < starts[word + 1]!; at++) {
      const chunk = counts ? entries[at]! : entries[at]! >>> COUNT_BITS;
      if (forward.has(chunk)) take(chunk, counts ? counts[at]! : entries[at]! & MOST_COUNTED);
    }
  }

  return {
    keepUp(words) {
      const unsorted = forward.sums.end - sortedTo;
      if (unsorted > Math.max(LEAST_UNSORTED, UNSORTED_PART * forward.sums.size)) sort(words);
    },
    each(word, take) {
      if (word + 1 < starts.length) eachSorted(word, take);
      for (let chunk = sortedTo; chunk < forward.sums.end; chunk++) {
        const own = forward.counts(chunk);
        if (!own) continue;
        const at = position(own.terms, word);
        if (own.terms[at] === word) take(chunk, own.counts[at]!);
      }
    },
  };
}

/** Where a word stands among a chunk's, which are in order, if it is one of them. */
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
