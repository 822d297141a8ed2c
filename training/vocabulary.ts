/** Which words have a row of their own: those that most projects use. The rest share rows. */
import { hashWord } from '../src/context/code-index/model-words.ts';

const WORDS = 34_000;
const BUCKETS = 8192;
const MIN_PROJECTS = 2;

export interface Vocabulary {
  /** The commonest first: its number is its row. */
  words: string[];
  rowOf(word: string): number;
}

/** From in how many projects each word is. */
export function chooseWords(projects: ReadonlyMap<string, number>): Vocabulary {
  const words = [...projects]
    .filter(([, count]) => count >= MIN_PROJECTS)
    .sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .slice(0, WORDS)
    .map(([word]) => word);
  const rows = new Map(words.map((word, row) => [word, row]));
  return { words, rowOf: (word) => rows.get(word) ?? words.length + (hashWord(word) % BUCKETS) };
}
