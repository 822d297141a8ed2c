import { type LoopWords, PLAIN_WORDS } from '../../../cli/loop-words.ts';

export const goalWords: LoopWords = {
  ...PLAIN_WORDS,
  countsIterations: true,
  place: ({ iteration, maxIterations }) => `iteration ${iteration}/${maxIterations}`,
};
