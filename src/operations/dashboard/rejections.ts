/** Why claims were rejected, for a list: the check that failed, not what the agent said of its work. */
import type { IterationHead } from '../../store/iterations.ts';
import { listJudgements } from '../../store/judgements.ts';
import type { Db } from '../../store/store.ts';
import { listVerifications } from '../../store/verifications.ts';

export interface Rejection {
  /** The first that failed; `null`: none did. */
  command: string | null;
  /** `null`: it did not end by itself, or nothing failed. */
  exit: number | null;
  reason: string | null;
}

/** By the number of the iteration. */
export async function rejectionsOf(
  db: Db,
  sessionId: string,
  page: readonly IterationHead[],
): Promise<Map<number, Rejection>> {
  const found = new Map<number, Rejection>();
  // Few are rejected; each is one look by the key.
  for (const { iteration_number: number, attempt } of page.filter(({ outcome }) => outcome === 'rejected')) {
    const records = await listVerifications(db, sessionId, number);
    const failed = records.find((record) => record.attempt === attempt && !record.passed);
    const judged = (await listJudgements(db, sessionId, number)).find((one) => one.attempt === attempt);
    found.set(number, {
      command: failed?.command ?? null,
      exit: failed?.exit ?? null,
      reason: judged?.reasons[0] ?? null,
    });
  }
  return found;
}
