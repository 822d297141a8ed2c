/**
 * Words as the index keeps them: hashes of the project and the stem. So no word is syntax for a database, no word of a
 * project is found from another, and the index holds nothing that could be read.
 */
import { hash } from 'node:crypto';
import { termsOf } from '../code-index/terms.ts';

/** What a turn says in its first few thousand words tells it from others well enough. */
const MOST_TERMS = 400;
const MOST_LETTERS = 20_000;
const MOST_ASKED = 24;

export interface TermCount {
  term: string;
  count: number;
}

export function countTerms(projectId: string, text: string): TermCount[] {
  const counts = new Map<string, number>();
  for (const word of termsOf(text.slice(0, MOST_LETTERS))) {
    const known = counts.get(word);
    if (known !== undefined || counts.size < MOST_TERMS) counts.set(word, (known ?? 0) + 1);
  }
  return Array.from(counts, ([word, count]) => ({ term: hashTerm(projectId, word), count }));
}

/** Of a question: each word once. */
export function askedTerms(projectId: string, query: string): string[] {
  const words = new Set(termsOf(query.slice(0, MOST_LETTERS)));
  return [...words].slice(0, MOST_ASKED).map((word) => hashTerm(projectId, word));
}

export function writeTerms(terms: readonly TermCount[]): string {
  return terms.map(({ term, count }) => (count === 1 ? term : `${term}:${count}`)).join(' ');
}

export function readTerms(text: string): TermCount[] {
  if (text === '') return [];
  return text.split(' ').map((each) => {
    const [term = '', count] = each.split(':');
    return { term, count: count === undefined ? 1 : Number(count) };
  });
}

function hashTerm(projectId: string, word: string): string {
  return `h${hash('sha1', `${projectId}\n${word}`, 'hex').slice(0, 10)}`;
}
