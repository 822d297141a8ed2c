/** Which words each chunk has, one chunk behind the other in flat arrays. */
import { fitted, grown } from './grown.ts';

/** Words of a chunk, by the number that the corpus has given each, in order. */
export interface TermCounts {
  terms: Uint32Array;
  /** At most 255. */
  counts: Uint8Array;
}

interface ForwardSums {
  /** Chunks that were ever added; their numbers are below it. */
  end: number;
  /** Those that are there. */
  size: number;
  /** The words of chunks, together. */
  entries: number;
  /** The same, each as often as it is there. */
  length: number;
}

export interface ForwardIndex {
  readonly sums: Readonly<ForwardSums>;
  add(counted: TermCounts): number;
  /** What it had; `null`: there is no such chunk. */
  remove(chunk: number): TermCounts | null;
  has(chunk: number): boolean;
  lengthOf(chunk: number): number;
  counts(chunk: number): TermCounts | null;
  chunks(): Iterable<number>;
  /** Gives back the room that it has for more. */
  trim(): void;
}

export function createForwardIndex(): ForwardIndex {
  let starts = new Uint32Array(256);
  let sizes = new Uint32Array(256);
  let lengths = new Float32Array(256);
  let isHere = new Uint8Array(256);
  let terms = new Uint32Array(4096);
  let counts = new Uint8Array(4096);
  let used = 0;
  const sums: ForwardSums = { end: 0, size: 0, entries: 0, length: 0 };

  function add(counted: TermCounts): number {
    const chunk = sums.end++;
    const count = counted.terms.length;
    starts = grown(starts, sums.end);
    sizes = grown(sizes, sums.end);
    lengths = grown(lengths, sums.end);
    isHere = grown(isHere, sums.end);
    terms = grown(terms, used + count);
    counts = grown(counts, used + count);
    terms.set(counted.terms, used);
    counts.set(counted.counts, used);
    let length = 0;
    for (const each of counted.counts) length += each;
    starts[chunk] = used;
    sizes[chunk] = count;
    lengths[chunk] = length;
    isHere[chunk] = 1;
    used += count;
    sums.entries += count;
    sums.length += length;
    sums.size++;
    return chunk;
  }

  function remove(chunk: number): TermCounts | null {
    const gone = countsOf(chunk);
    if (!gone) return null;
    isHere[chunk] = 0;
    sums.size--;
    sums.entries -= gone.terms.length;
    sums.length -= lengths[chunk]!;
    const had = { terms: gone.terms.slice(), counts: gone.counts.slice() };
    if (used > 65_536 && used > 2 * sums.entries) compact();
    return had;
  }

  function compact(): void {
    const into = { terms: new Uint32Array(sums.entries), counts: new Uint8Array(sums.entries) };
    let at = 0;
    for (const chunk of chunks()) {
      const own = countsOf(chunk)!;
      into.terms.set(own.terms, at);
      into.counts.set(own.counts, at);
      starts[chunk] = at;
      at += own.terms.length;
    }
    terms = into.terms;
    counts = into.counts;
    used = at;
  }

  function trim(): void {
    starts = fitted(starts, sums.end);
    sizes = fitted(sizes, sums.end);
    lengths = fitted(lengths, sums.end);
    isHere = fitted(isHere, sums.end);
    terms = fitted(terms, used);
    counts = fitted(counts, used);
  }

  function countsOf(chunk: number): TermCounts | null {
    if (isHere[chunk] !== 1) return null;
    const from = starts[chunk]!;
    const to = from + sizes[chunk]!;
    return { terms: terms.subarray(from, to), counts: counts.subarray(from, to) };
  }

  function* chunks(): Iterable<number> {
    for (let chunk = 0; chunk < sums.end; chunk++) if (isHere[chunk] === 1) yield chunk;
  }

  return {
    ...{ sums, add, remove, chunks, trim },
    has: (chunk) => isHere[chunk] === 1,
    lengthOf: (chunk) => lengths[chunk]!,
    counts: countsOf,
  };
}
