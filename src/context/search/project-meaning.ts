/** The model of one project's turns. */
import { type Corpus, createCorpus } from '../code-index/corpus.ts';
import { fitMeaning, type Meaning } from '../code-index/meaning.ts';
import { readTerms } from './term-hashes.ts';

/** Up to here the model is fitted again whenever a turn has come: then it is the same in every process. */
const ALWAYS_FITTED = 2_000;
const NEARBY = 200;

export interface ProjectMeaning {
  /** In the order of their numbers. */
  add(turn: { number: number; terms: string }): void;
  search(question: { terms: readonly string[]; within: readonly number[] | null; limit: number }): number[];
}

export function createProjectMeaning(): ProjectMeaning {
  const corpus = createCorpus();
  /** By the corpus's number of it. */
  const numbers: number[] = [];
  let meaning: Meaning | null = null;
  let changed = 0;

  return {
    add({ number, terms }) {
      const chunk = corpus.add(readTerms(terms).map(({ term, count }) => [term, count] as const));
      numbers[chunk] = number;
      meaning?.place(chunk, corpus.counts(chunk)!);
      changed++;
    },
    search({ terms, within, limit }) {
      const isDue = changed > (corpus.size <= ALWAYS_FITTED || !meaning ? 0 : corpus.size / 4);
      if (isDue) {
        meaning = fitWhole(corpus);
        changed = 0;
      }
      const allowed = within && new Set(within);
      const found = meaning?.search(corpus.countsOf(terms), allowed ? corpus.size : NEARBY) ?? [];
      return found
        .map(({ chunk }) => numbers[chunk]!)
        .filter((number) => !allowed || allowed.has(number))
        .slice(0, limit);
    },
  };
}

function fitWhole(corpus: Corpus): Meaning | null {
  const fitting = fitMeaning(corpus);
  for (;;) {
    const { done, value } = fitting.next();
    if (done) return value;
  }
}
