import { type LoopWords, PLAIN_WORDS } from '../cli/loop-words.ts';
import { beadPlanWords, beadsWords } from './beads/cli/words.ts';
import { BEAD_PLAN } from './beads/plan/kind.ts';
import { goalWords } from './goal/cli/words.ts';
import { researchWords } from './research/cli/words.ts';
import { workflowWords } from './workflow/cli/words.ts';

const WORDS: Readonly<Record<string, LoopWords>> = {
  goal: goalWords,
  workflow: workflowWords,
  research: researchWords,
  beads: beadsWords,
  [BEAD_PLAN]: beadPlanWords,
};

export function wordsFor(kind: string): LoopWords {
  return WORDS[kind] ?? PLAIN_WORDS;
}
