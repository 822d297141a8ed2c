/**
 * Latent semantic analysis, fitted on the corpus itself: words that keep the same company come to lie close together,
 * so a question finds code that uses other words for the same thing. Nothing is downloaded and nothing leaves the machine.
 */
import type { Corpus } from './corpus.ts';
import type { TermCounts } from './forward-index.ts';
import { addProducts, eigenvectors, orthonormalise } from './matrix.ts';
import type { Scored } from './nearest.ts';
import { createVectorPlaces } from './vector-places.ts';

const DIMENSIONS = 96;
const OVERSAMPLING = 8;
/** A model with as many axes as there are things to tell apart has learnt nothing. */
const CHUNKS_AN_AXIS = 6;
/** Below it two texts have nothing to do with each other. Places of a byte an axis are not exact, so it is a little above 0.1. */
const NEAR = 0.105;
const ROUNDS = 3;
/** Beyond it the model is fitted on a part of the chunks, evenly taken; all of them get their place in it. */
const MAX_FITTED = 15_000;
/** Fewer chunks say nothing about the company that words keep. */
export const MIN_CHUNKS = 24;
/** A word that is in more of the chunks than this tells none of them apart. */
const COMMON = 0.4;
/** Beyond it the rarest words have no place: each costs memory and time, and they are what a search by words is good at. */
const MAX_WORDS = 60_000;
const ROWS_A_SLICE = 400;

export interface Meaning {
  /** Gives a chunk its place; again after it has changed. */
  place(chunk: number, counts: TermCounts): void;
  has(chunk: number): boolean;
  chunks(): Iterable<number>;
  forget(chunk: number): void;
  /** Gives back the room that it has for more. */
  trim(): void;
  search(counts: TermCounts, limit: number, isWanted?: (chunk: number) => boolean): Scored[];
}

/** A chunk's words that have a place in the model: which row of the axes is theirs, and how much each says. */
interface Row {
  rows: Uint32Array;
  weights: Float32Array;
}

/** Yields whenever others should have their turn; a fit takes seconds on a large worktree. `null`: too little to learn from. */
export function* fitMeaning(
  corpus: Corpus,
  { maxWords = MAX_WORDS }: { maxWords?: number } = {},
): Generator<void, Meaning | null> {
  if (corpus.size < MIN_CHUNKS) return null;
  const { weigh, words } = createWeighing(corpus, maxWords);
  const every = Math.ceil(corpus.size / MAX_FITTED);
  const rows: Row[] = [];
  let index = 0;
  for (const chunk of [...corpus.chunks()]) {
    const counts = index++ % every === 0 ? corpus.counts(chunk) : null;
    if (counts) rows.push(weigh(counts));
    if (index % ROWS_A_SLICE === 0) yield;
  }
  const width = Math.min(DIMENSIONS + OVERSAMPLING, Math.ceil(rows.length / CHUNKS_AN_AXIS));
  const axes = yield* leadingAxes(rows, { words, width });
  const meaning = createMeaning({ ...narrowed(axes, width), weigh });
  index = 0;
  for (const chunk of [...corpus.chunks()]) {
    const counts = corpus.counts(chunk);
    if (counts) meaning.place(chunk, counts);
    if (++index % ROWS_A_SLICE === 0) yield;
  }
  // Removed since they were placed.
  for (const chunk of meaning.chunks()) if (!corpus.counts(chunk)) meaning.forget(chunk);
  return meaning;
}

type Weigh = (counts: TermCounts) => Row;

/** By rarity as it was at the fit: a word that came later has no place. */
function createWeighing(corpus: Corpus, maxWords: number): { weigh: Weigh; words: number } {
  const most = Math.max(corpus.size * COMMON, 2);
  const telling: (readonly [term: number, documents: number])[] = [];
  for (const word of corpus.vocabulary()) if (word[1] >= 2 && word[1] <= most) telling.push(word);
  if (telling.length > maxWords) telling.sort(([, a], [, b]) => b - a).splice(maxWords);
  let last = 0;
  for (const [term] of telling) last = Math.max(last, term);
  /** By word, one more than its row; 0 for none. */
  const rowOf = new Uint32Array(last + 1);
  const rarity = new Float32Array(telling.length);
  for (const [row, [term, having]] of telling.entries()) {
    rowOf[term] = row + 1;
    rarity[row] = Math.log(corpus.size / having);
  }
  const weigh: Weigh = ({ terms, counts }) => {
    const rows = new Uint32Array(terms.length);
    const weights = new Float32Array(terms.length);
    let filled = 0;
    let squares = 0;
    for (const [index, term] of terms.entries()) {
      const row = (rowOf[term] ?? 0) - 1;
      if (row < 0) continue;
      const weight = Math.log1p(counts[index]!) * rarity[row]!;
      squares += weight * weight;
      rows[filled] = row;
      weights[filled++] = weight;
    }
    const length = Math.sqrt(squares) || 1;
    return { rows: rows.slice(0, filled), weights: weights.slice(0, filled).map((each) => each / length) };
  };
  return { weigh, words: telling.length };
}

/** By subspace iteration: the space in which the rows differ most, its strongest axis first. */
function* leadingAxes(
  rows: readonly Row[],
  { words, width }: { words: number; width: number },
): Generator<void, Float32Array> {
  let axes = yield* orthonormalise(noise(words * width), width);
  for (let round = 0; round < ROUNDS; round++) {
    const through = new Float32Array(words * width);
    for (const [index, row] of rows.entries()) {
      const place = project(row, { axes, width });
      for (let each = 0; each < row.rows.length; each++) {
        const weight = row.weights[each]!;
        const offset = row.rows[each]! * width;
        for (let axis = 0; axis < width; axis++) through[offset + axis]! += weight * place[axis]!;
      }
      if (index % ROWS_A_SLICE === 0) yield;
    }
    axes = yield* orthonormalise(through, width);
  }
  return yield* alongStrength(rows, { axes, width });
}

/** Turns the axes so that each stands for as much of the rows as it can: then the weakest can be left out. */
function* alongStrength(
  rows: readonly Row[],
  { axes, width }: { axes: Float32Array; width: number },
): Generator<void, Float32Array> {
  const products = new Float64Array(width * width);
  for (const [index, row] of rows.entries()) {
    const place = project(row, { axes, width });
    addProducts(products, place);
    if (index % ROWS_A_SLICE === 0) yield;
  }
  const turn = eigenvectors(products, width);
  const turned = new Float32Array(axes.length);
  for (let offset = 0; offset < axes.length; offset += width) {
    for (let to = 0; to < width; to++) {
      let sum = 0;
      for (let from = 0; from < width; from++) sum += axes[offset + from]! * turn[from * width + to]!;
      turned[offset + to] = sum;
    }
    if (offset % (width * ROWS_A_SLICE) === 0) yield;
  }
  return turned;
}

interface Axes {
  axes: Float32Array | Int16Array;
  width: number;
  /** What a step of each row is worth; absent: one. */
  steps?: Float32Array;
}

/** The strongest axes alone, in half the memory: they stay as long as the index. */
function narrowed(axes: Float32Array, stride: number): Axes {
  const width = Math.min(stride, DIMENSIONS);
  const rows = axes.length / stride;
  const kept = new Int16Array(rows * width);
  const steps = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    let largest = 0;
    for (let axis = 0; axis < width; axis++)
      largest = Math.max(largest, Math.abs(axes[row * stride + axis]!));
    const step = largest / 32_767 || 1;
    steps[row] = step;
    for (let axis = 0; axis < width; axis++)
      kept[row * width + axis] = Math.round(axes[row * stride + axis]! / step);
  }
  return { axes: kept, width, steps };
}

function project({ rows, weights }: Row, { axes, width, steps }: Axes): Float32Array {
  const place = new Float32Array(width);
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]!;
    const weight = weights[index]! * (steps ? steps[row]! : 1);
    const offset = row * width;
    for (let axis = 0; axis < width; axis++) place[axis]! += weight * axes[offset + axis]!;
  }
  return place;
}

function createMeaning({ weigh, ...axes }: Axes & { weigh: Weigh }): Meaning {
  const places = createVectorPlaces(axes.width, { near: NEAR });
  /** Chunks of which no word has a place. */
  const placeless = new Set<number>();

  /** Of length one; `null` where no word of it has a place. */
  function placeOf(counts: TermCounts): Float32Array | null {
    const place = project(weigh(counts), axes);
    let squares = 0;
    for (const part of place) squares += part * part;
    const length = Math.sqrt(squares);
    return length > 1e-6 ? place.map((part) => part / length) : null;
  }

  function forget(chunk: number): void {
    places.forget(chunk);
    placeless.delete(chunk);
  }

  return {
    place(chunk, counts) {
      forget(chunk);
      const place = placeOf(counts);
      if (place) places.place(chunk, place);
      else placeless.add(chunk);
    },
    has: (chunk) => places.has(chunk) || placeless.has(chunk),
    *chunks() {
      yield* places.chunks();
      yield* placeless;
    },
    forget,
    trim: places.trim,
    search(counts, limit, isWanted) {
      const asked = placeOf(counts);
      return asked ? places.search(asked, limit, isWanted) : [];
    },
  };
}

/** The same every time: the same worktree has the same model. */
function noise(length: number): Float32Array {
  let state = 0x9e3779b9;
  const values = new Float32Array(length);
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    values[at] = (state ^ (state >>> 12)) / 2 ** 31;
  }
  return values;
}
