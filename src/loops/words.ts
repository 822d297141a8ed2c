import { type LoopWords, PLAIN_WORDS } from '../cli/loop-words.ts';
import { beadsWords } from './beads/cli/words.ts';
import { goalWords } from './goal/cli/words.ts';
import { researchWords } from './research/cli/words.ts';
import { workflowWords } from './workflow/cli/words.ts';

const WORDS: Readonly<Record<string, LoopWords>> = {
  goal: goalWords,
  workflow: workflowWords,
  research: researchWords,
  beads: beadsWords,
};

export function wordsFor(kind: string): LoopWords {
  return WORDS[kind] ?? PLAIN_WORDS;
}
