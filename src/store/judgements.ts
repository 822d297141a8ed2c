/** `judgements`: what the referee said of each claim, and what a person made of it. */
import type { Selectable } from 'kysely';
import { type Judgement, judgementSchema } from '../domain/judgement.ts';
import type { JudgementsTable } from './schema.ts';
import { type Db, fromJson, storeNow, toJson } from './store.ts';

export interface StoredJudgement extends Judgement {
  iteration: number;
  attempt: number;
  decidedBy: string | null;
  decidedAt: string | null;
  /** Where its proof is kept; `null`: nowhere yet. */
  proof: string | null;
}

/** Writing it twice writes it once. */
export async function insertJudgement(
  db: Db,
  { sessionId, iteration, attempt }: { sessionId: string; iteration: number; attempt: number },
  judgement: Judgement,
): Promise<void> {
  await db
    .insertInto('judgements')
    .values({
      session_id: sessionId,
      iteration_number: iteration,
      attempt,
      verdict: judgement.verdict,
      judgement: toJson(judgement),
      decided_by: null,
      decided_at: null,
      proof: null,
    })
    .onConflict((conflict) => conflict.columns(['session_id', 'iteration_number', 'attempt']).doNothing())
    .execute();
}

/** Oldest first. */
export async function listJudgements(
  db: Db,
  sessionId: string,
  iteration?: number,
): Promise<StoredJudgement[]> {
  let query = db
    .selectFrom('judgements')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('iteration_number')
    .orderBy('attempt');
  if (iteration !== undefined) query = query.where('iteration_number', '=', iteration);
  return (await query.execute()).map(decode);
}

export async function newestJudgement(db: Db, sessionId: string): Promise<StoredJudgement | null> {
  const row = await db
    .selectFrom('judgements')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('iteration_number', 'desc')
    .orderBy('attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? decode(row) : null;
}

function decode(row: Selectable<JudgementsTable>): StoredJudgement {
  return {
    ...judgementSchema.parse(fromJson(row.judgement)),
    // A person's word is written here alone.
    verdict: row.verdict,
    iteration: row.iteration_number,
    attempt: row.attempt,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    proof: row.proof,
  };
}

/** A person has decided about the changed checks of a claim. */
export async function decideJudgement(
  db: Db,
  { sessionId, iteration, attempt }: { sessionId: string; iteration: number; attempt: number },
  decision: { verdict: 'accepted' | 'rejected'; by: string },
): Promise<void> {
  await db
    .updateTable('judgements')
    .set({ verdict: decision.verdict, decided_by: decision.by, decided_at: storeNow() })
    .where('session_id', '=', sessionId)
    .where('iteration_number', '=', iteration)
    .where('attempt', '=', attempt)
    .execute();
}

/** Its proof is kept there. */
export async function markProven(
  db: Db,
  { sessionId, iteration, attempt }: { sessionId: string; iteration: number; attempt: number },
  proof: string,
): Promise<void> {
  await db
    .updateTable('judgements')
    .set({ proof })
    .where('session_id', '=', sessionId)
    .where('iteration_number', '=', iteration)
    .where('attempt', '=', attempt)
    .execute();
}
