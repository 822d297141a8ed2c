/** Which chunks answer a question best: several rankings joined, then what is known of each chunk and its file. */
import { best } from './corpus.ts';
import type { Chunk } from './line-windows.ts';
import type { Scored } from './nearest.ts';
import { termsOf } from './terms.ts';

export interface Place extends Chunk {
  path: string;
  /** The file has changed since it was first read: somebody works on it. */
  isChanged: boolean;
}

/**
 * Tuned on the development packages of training/packages.tsv. More weight of the vectors would serve those better, and
 * this project's own comments, which say why, worse than without: so it has no more than does them no harm.
 */
export interface RankWeights {
  /** Of the three rankings: by words, by the company that words keep here, by the model's word vectors. */
  words: number;
  company: number;
  vectors: number;
  /** The smaller, the more the first ranks are worth. */
  offset: number;
  /** Of the scores themselves: the share of the best one by words, the square of the nearness by word vectors. */
  share: number;
  nearness: number;
  /** What the question and the chunk's name have in common; the same of its path. */
  name: number;
  path: number;
  /** A part of what the best other chunk of the file has. */
  file: number;
  /** Factors: of a chunk that declares nothing, of tests, of generated files, of files that were changed. */
  unnamed: number;
  test: number;
  generated: number;
  changed: number;
}

export const RANK_WEIGHTS: RankWeights = {
  ...{ words: 1, company: 0.4, vectors: 0.5, offset: 20, share: 0.03, nearness: 0.35 },
  ...{ name: 0.05, path: 0.03, file: 0.1 },
  ...{ unnamed: 0.9, test: 0.6, generated: 0.6, changed: 1.05 },
};

export interface Rankings {
  words: readonly Scored[];
  company: readonly Scored[];
  vectors: readonly Scored[];
}

interface Asked {
  places: ReadonlyMap<number, Place>;
  /** The words of the question, each with how much it says. */
  rarity: ReadonlyMap<string, number>;
}

const TEST =
  /(?:^|\/)(?:tests?|__tests__|specs?|testdata|fixtures?|__mocks__)\/|[._-](?:test|spec)s?\.|(?:^|\/)test_/i;
const GENERATED =
  /(?:^|\/)(?:dist|build|generated|__generated__|out|vendor|third_party)\/|\.(?:pb|g|generated|gen)\./i;
const ASKS_FOR_TESTS = ['test', 'spec', 'fixtur'];

/** Best first. */
export function rankChunks(
  rankings: Rankings,
  { places, rarity }: Asked,
  weights: RankWeights = RANK_WEIGHTS,
): Place[] {
  const joined = join(rankings, weights);
  const asksForTests = ASKS_FOR_TESTS.some((term) => rarity.has(term));
  const bestOfFile = new Map<string, readonly [first: number, second: number]>();
  for (const [chunk, score] of joined) {
    const path = places.get(chunk)?.path;
    if (path === undefined) continue;
    const [first, second] = bestOfFile.get(path) ?? [0, 0];
    if (score > first) bestOfFile.set(path, [score, first]);
    else if (score > second) bestOfFile.set(path, [first, score]);
  }
  const scores = new Map<number, number>();
  for (const [chunk, score] of joined) {
    const place = places.get(chunk);
    if (!place) continue;
    const [first, second] = bestOfFile.get(place.path)!;
    let sum = score + weights.file * (score === first ? second : first);
    sum += weights.name * shareOf(rarity, `${place.name ?? ''} ${place.container ?? ''}`);
    sum += weights.path * shareOf(rarity, place.path);
    if (place.name === null) sum *= weights.unnamed;
    if (!asksForTests && TEST.test(place.path)) sum *= weights.test;
    if (GENERATED.test(place.path)) sum *= weights.generated;
    if (place.isChanged) sum *= weights.changed;
    scores.set(chunk, sum);
  }
  return best(scores, scores.size).map(({ chunk }) => places.get(chunk)!);
}

/** By reciprocal ranks: their scores cannot be compared. */
function join(rankings: Rankings, weights: RankWeights): Map<number, number> {
  const scores = new Map<number, number>();
  for (const ranking of ['words', 'company', 'vectors'] as const) {
    if (weights[ranking] === 0) continue;
    for (const [index, { chunk }] of rankings[ranking].entries())
      scores.set(chunk, (scores.get(chunk) ?? 0) + weights[ranking] / (weights.offset + index));
  }
  const most = rankings.words[0]?.score ?? 1;
  for (const { chunk, score } of rankings.words)
    if (scores.has(chunk))
      scores.set(chunk, scores.get(chunk)! + (weights.words * weights.share * score) / most);
  for (const { chunk, score } of rankings.vectors)
    if (scores.has(chunk))
      scores.set(chunk, scores.get(chunk)! + weights.vectors * weights.nearness * score ** 2);
  return scores;
}

/** How much of what was asked for a name has. */
function shareOf(rarity: ReadonlyMap<string, number>, name: string): number {
  const terms = termsIn(name);
  let had = 0;
  let all = 0;
  for (const [term, weight] of rarity) {
    all += weight;
    if (terms.has(term)) had += weight;
  }
  return all === 0 ? 0 : had / all;
}

const MAX_KNOWN = 20_000;
/** Of names and paths: each question meets many of them again. */
const known = new Map<string, ReadonlySet<string>>();

function termsIn(name: string): ReadonlySet<string> {
  const before = known.get(name);
  if (before) return before;
  if (known.size === MAX_KNOWN) known.clear();
  const terms = new Set(termsOf(name));
  known.set(name, terms);
  return terms;
}
