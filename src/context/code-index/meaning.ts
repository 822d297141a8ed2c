/**
 * Latent semantic analysis, fitted on the corpus itself: words that keep the same company come to lie close together,
 * so a question finds code that uses other words for the same thing. Nothing is downloaded and nothing leaves the machine.
 */
import type { Corpus, Scored, TermCounts } from './corpus.ts';
import { best } from './corpus.ts';
import { addProducts, eigenvectors, orthonormalise } from './matrix.ts';

const DIMENSIONS = 96;
const OVERSAMPLING = 8;
/** A model with as many axes as there are things to tell apart has learnt nothing. */
const CHUNKS_AN_AXIS = 6;
/** Below it two texts have nothing to do with each other. */
const NEAR = 0.1;
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
  search(counts: TermCounts, limit: number): Scored[];
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
  const meaning = createMeaning({ axes, width: Math.min(width, DIMENSIONS), stride: width, weigh });
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
  const known = new Map(
    telling.map(([term, having], row) => [term, { row, rarity: Math.log(corpus.size / having) }]),
  );
  const weigh: Weigh = ({ terms, counts }) => {
    const rows = new Uint32Array(terms.length);
    const weights = new Float32Array(terms.length);
    let filled = 0;
    let squares = 0;
    for (const [index, term] of terms.entries()) {
      const word = known.get(term);
      if (!word) continue;
      const weight = Math.log1p(counts[index]!) * word.rarity;
      squares += weight * weight;
      rows[filled] = word.row;
      weights[filled++] = weight;
    }
    const length = Math.sqrt(squares) || 1;
    return { rows: rows.slice(0, filled), weights: weights.slice(0, filled).map((each) => each / length) };
  };
  return { weigh, words: known.size };
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
      const place = project(row, { axes, width, stride: width });
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
    const place = project(row, { axes, width, stride: width });
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
  axes: Float32Array;
  width: number;
  stride: number;
}

function project({ rows, weights }: Row, { axes, width, stride }: Axes): Float32Array {
  const place = new Float32Array(width);
  for (let index = 0; index < rows.length; index++) {
    const weight = weights[index]!;
    const offset = rows[index]! * stride;
    for (let axis = 0; axis < width; axis++) place[axis]! += weight * axes[offset + axis]!;
  }
  return place;
}

function createMeaning({ weigh, ...axes }: Axes & { weigh: Weigh }): Meaning {
  /** `null` where no word of a chunk has a place. */
  const places = new Map<number, Float32Array | null>();

  /** Of length one; `null` where no word of it has a place. */
  function placeOf(counts: TermCounts): Float32Array | null {
    const place = project(weigh(counts), axes);
    const length = Math.hypot(...place);
    return length > 1e-6 ? place.map((part) => part / length) : null;
  }

  return {
    place: (chunk, counts) => void places.set(chunk, placeOf(counts)),
    has: (chunk) => places.has(chunk),
    chunks: () => places.keys(),
    forget: (chunk) => void places.delete(chunk),
    search(counts, limit) {
      const asked = placeOf(counts);
      if (!asked) return [];
      return best(nearness(asked, places), limit);
    },
  };
}

function* nearness(
  asked: Float32Array,
  places: ReadonlyMap<number, Float32Array | null>,
): Iterable<[number, number]> {
  for (const [chunk, place] of places) {
    if (!place) continue;
    let sum = 0;
    for (let axis = 0; axis < asked.length; axis++) sum += asked[axis]! * place[axis]!;
    if (sum > NEAR) yield [chunk, sum];
  }
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
