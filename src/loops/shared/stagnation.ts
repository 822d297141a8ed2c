/** Iterations that bring nothing new, counted from the newest. */
import type { IterationHead } from '../../store/iterations.ts';

export const STAGNATION_DIAGNOSTIC = 3;
export const STAGNATION_STOP = 5;

/** How many iterations in a row, since the window opened, brought no tree that the session had not had before. */
export function stagnantInARow(
  recent: readonly Pick<IterationHead, 'iteration_number' | 'new_tree'>[],
  windowFrom: number,
): number {
  const index = recent.findIndex((it) => it.new_tree === 1 || it.iteration_number <= windowFrom);
  return index === -1 ? recent.length : index;
}

/** How many of the newest iterations, since the window opened, had this outcome. */
export function outcomesInARow(
  recent: readonly Pick<IterationHead, 'iteration_number' | 'outcome'>[],
  outcome: IterationHead['outcome'],
  windowFrom: number,
): number {
  const index = recent.findIndex((it) => it.outcome !== outcome || it.iteration_number <= windowFrom);
  return index === -1 ? recent.length : index;
}
