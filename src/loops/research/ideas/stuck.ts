/** What a brief advises after more than five discards in a row, in order (docs/protocol/research.md, Review). */

export const STUCK_STEPS = [
  'Re-read ALL in-scope files from scratch',
  'Re-read the original goal AND `.context/autoresearch-plan.md` for planned strategy',
  'Review entire results log for patterns',
  "Try the next untried approach from the plan's Strategy section",
  'Try combining 2-3 previously successful changes',
  "Try the OPPOSITE of what hasn't been working",
  'Try a radical architectural change',
] as const;

/** The first three are done before each; of the others one is tried at a time. */
const FIRST_APPROACH = 3;
const DISCARDS_BORNE = 5;

export type RowStatus = 'baseline' | 'keep' | 'discard' | 'crash';

export interface Stuck {
  discards: number;
  /** Index into STUCK_STEPS of the approach that is due. */
  approach: number;
}

/** `null`: not stuck. Crashes neither count nor reset. */
export function stuckAfter(statuses: readonly RowStatus[]): Stuck | null {
  const judged = statuses.filter((status) => status !== 'crash');
  const discards = judged.length - 1 - judged.findLastIndex((status) => status !== 'discard');
  if (discards <= DISCARDS_BORNE) return null;
  const approaches = STUCK_STEPS.length - FIRST_APPROACH;
  return { discards, approach: FIRST_APPROACH + ((discards - DISCARDS_BORNE - 1) % approaches) };
}
