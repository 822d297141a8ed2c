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
const ROWS_A_SLICE = 400;

export interface Meaning {
  /** Gives a chunk its place; again after it has changed. */
  place(chunk: number, counts: TermCounts): void;
  has(chunk: number): boolean;
  forget(chunk: number): void;
  search(counts: TermCounts, limit: number): Scored[];
}

interface Row {
  chunk: number;
  terms: Uint32Array;
  weights: Float32Array;
}

/** Yields whenever others should have their turn; a fit takes seconds on a large worktree. `null`: too little to learn from. */
export function* fitMeaning(corpus: Corpus): Generator<void, Meaning | null> {
  if (corpus.size < MIN_CHUNKS) return null;
  const weigh = createWeighing(corpus);
  const every = Math.ceil(corpus.size / MAX_FITTED);
  const rows: Row[] = [];
  let index = 0;
  for (const chunk of [...corpus.chunks()]) {
    const counts = index++ % every === 0 ? corpus.counts(chunk) : null;
    if (counts) rows.push({ chunk, ...weigh(counts) });
    if (index % ROWS_A_SLICE === 0) yield;
  }
  const width = Math.min(DIMENSIONS + OVERSAMPLING, Math.ceil(rows.length / CHUNKS_AN_AXIS));
  const axes = yield* leadingAxes(rows, { terms: corpus.vocabulary, width });
  const meaning = createMeaning({ axes, width: Math.min(width, DIMENSIONS), stride: width, weigh });
  index = 0;
  for (const chunk of [...corpus.chunks()]) {
    const counts = corpus.counts(chunk);
    if (counts) meaning.place(chunk, counts);
    if (++index % ROWS_A_SLICE === 0) yield;
  }
  return meaning;
}

type Weigh = (counts: TermCounts) => { terms: Uint32Array; weights: Float32Array };

/** By rarity as it was at the fit: a word that came later has no place. */
function createWeighing(corpus: Corpus): Weigh {
  const rarity = Float32Array.from({ length: corpus.vocabulary }, (_, term) => {
    const having = corpus.documents(term);
    if (having < 2 || having > Math.max(corpus.size * COMMON, 2)) return 0;
    return Math.log(corpus.size / having);
  });
  return ({ terms, counts }) => {
    const weights = Float32Array.from(
      terms,
      (term, index) => Math.log1p(counts[index]!) * (rarity[term] ?? 0),
    );
    const length = Math.hypot(...weights) || 1;
    return { terms, weights: weights.map((weight) => weight / length) };
  };
}

/** By subspace iteration: the space in which the rows differ most, its strongest axis first. */
function* leadingAxes(
  rows: readonly Row[],
  { terms, width }: { terms: number; width: number },
): Generator<void, Float32Array> {
  let axes = yield* orthonormalise(noise(terms * width), width);
  for (let round = 0; round < ROUNDS; round++) {
    const through = new Float32Array(terms * width);
    for (const [index, row] of rows.entries()) {
      const place = project(row, { axes, width, stride: width });
      for (let each = 0; each < row.terms.length; each++) {
        const weight = row.weights[each]!;
        if (weight === 0) continue;
        const offset = row.terms[each]! * width;
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
  }
  return turned;
}

interface Axes {
  axes: Float32Array;
  width: number;
  stride: number;
}

function project(
  { terms, weights }: Pick<Row, 'terms' | 'weights'>,
  { axes, width, stride }: Axes,
): Float32Array {
  const place = new Float32Array(width);
  for (let index = 0; index < terms.length; index++) {
    const weight = weights[index]!;
    const offset = terms[index]! * stride;
    if (weight === 0) continue;
    for (let axis = 0; axis < width; axis++) place[axis]! += weight * axes[offset + axis]!;
  }
  return place;
}

function createMeaning({ weigh, ...axes }: Axes & { weigh: Weigh }): Meaning {
  /** `null` where no word of a chunk has a place. */
  const places = new Map<number, Float32Array | null>();
  const known = axes.axes.length / axes.stride;

  /** Of length one; `null` where no word of it has a place. */
  function placeOf(counts: TermCounts): Float32Array | null {
    const { terms, weights } = weigh(counts);
    const isKnown = terms.map((term) => (term < known ? 1 : 0));
    const place = project(
      {
        terms: terms.filter((_, index) => isKnown[index]),
        weights: weights.filter((_, index) => isKnown[index]),
      },
      axes,
    );
    const length = Math.hypot(...place);
    return length > 1e-6 ? place.map((part) => part / length) : null;
  }

  return {
    place: (chunk, counts) => void places.set(chunk, placeOf(counts)),
    has: (chunk) => places.has(chunk),
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
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    return (state ^ (state >>> 12)) / 2 ** 31;
  });
}
