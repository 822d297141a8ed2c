/** How far a session is, in a word or two: a fraction only where its limit is what it works towards. Pure. */
import type { OverviewEntry } from '../../operations/overview.ts';
import { iterationsText } from '../follow/result.ts';

/** `begun`: of research, how many experiments; `undefined` where that was not read yet. */
export function placeOf(entry: OverviewEntry, begun: number | undefined): string {
  if (entry.kind !== 'research') return iterationsText(entry);
  return begun === undefined ? '' : `${begun} ${begun === 1 ? 'experiment' : 'experiments'}`;
}
