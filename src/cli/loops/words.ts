import { type LoopWords, PLAIN_WORDS } from '../loop-words.ts';
import { goalWords } from './goal/words.ts';
import { researchWords } from './research/words.ts';
import { workflowWords } from './workflow/words.ts';

const WORDS: Readonly<Record<string, LoopWords>> = {
  goal: goalWords,
  workflow: workflowWords,
  research: researchWords,
};

export function wordsFor(kind: string): LoopWords {
  return WORDS[kind] ?? PLAIN_WORDS;
}
