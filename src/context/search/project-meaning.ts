/** The model of one project's turns. */
import { createCorpus } from '../code-index/corpus.ts';
import { fitMeaning, type Meaning, MIN_CHUNKS } from '../code-index/meaning.ts';
import { readTerms } from './term-hashes.ts';

/** After so many turns, or this part of all, the model is fitted again; until then they get their places in it. */
const LEAST_NEW = 50;
const NEW_PART = 0.1;
const NEARBY = 200;

/** `none`: too little was said to learn from. `learning`: there is no model yet, so that words answer alone. */
export type MeaningState = 'none' | 'learning' | 'ready';

export interface ProjectMeaning {
  /** In the order of their numbers. */
  add(turns: readonly { number: number; terms: string }[]): void;
  state(): MeaningState;
  /** A step of a fit, some milliseconds. False where there is none to do. */
  learn(): boolean;
  /** By the model that there is. */
  search(question: { terms: readonly string[]; within: readonly number[] | null; limit: number }): number[];
}

/** The same turns make the same model in every process, however they came: it is only ever fitted at certain sizes. */
export function createProjectMeaning(): ProjectMeaning {
  const corpus = createCorpus();
  /** By the corpus's number of it. */
  const numbers: number[] = [];
  let meaning: Meaning | null = null;
  let fitting: Generator<void, Meaning | null> | null = null;
  let fittedAt = 0;

  function learn(): boolean {
    if (!fitting) return false;
    const { done, value } = fitting.next();
    if (!done) return true;
    fitting = null;
    meaning = value;
    // Some may have come while the others were placed.
    for (const chunk of corpus.chunks())
      if (meaning && !meaning.has(chunk)) meaning.place(chunk, corpus.counts(chunk)!);
    return false;
  }

  return {
    add(turns) {
      const due = fitSize(corpus.size + turns.length);
      for (const { number, terms } of turns) {
        const chunk = corpus.add(readTerms(terms).map(({ term, count }) => [term, count] as const));
        numbers[chunk] = number;
        meaning?.place(chunk, corpus.counts(chunk)!);
        if (corpus.size !== due || due <= fittedAt) continue;
        fittedAt = due;
        fitting = fitMeaning(corpus);
        // Its first step takes the turns and the words that it is fitted on: those there are by now.
        learn();
      }
    },
    state: () => (meaning ? 'ready' : fitting ? 'learning' : 'none'),
    learn,
    search({ terms, within, limit }) {
      const allowed = within && new Set(within);
      const found = meaning?.search(corpus.countsOf(terms), allowed ? corpus.size : NEARBY) ?? [];
      return found
        .map(({ chunk }) => numbers[chunk]!)
        .filter((number) => !allowed || allowed.has(number))
        .slice(0, limit);
    },
  };
}

/** The last size, up to this one, at which a model is fitted; 0: none is. */
function fitSize(size: number): number {
  let at = 0;
  for (let next = MIN_CHUNKS; next <= size; next += Math.max(LEAST_NEW, Math.ceil(next * NEW_PART)))
    at = next;
  return at;
}
