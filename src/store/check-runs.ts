/** `check_runs`: what the referee has run in a session's room, by what the run depends on. */
import { type Db, fromJson, storeNow, toJson } from './store.ts';

export async function findCheckRun<T>(db: Db, sessionId: string, key: string): Promise<T | null> {
  const row = await db
    .selectFrom('check_runs')
    .select('run')
    .where('session_id', '=', sessionId)
    .where('run_key', '=', key)
    .executeTakeFirst();
  return row ? fromJson<T>(row.run) : null;
}

/** The first one stays: a run of the same thing says the same. */
export async function insertCheckRun(
  db: Db,
  { sessionId, key, run }: { sessionId: string; key: string; run: unknown },
): Promise<void> {
  await db
    .insertInto('check_runs')
    .values({ session_id: sessionId, run_key: key, run: toJson(run), created_at: storeNow() })
    .onConflict((conflict) => conflict.columns(['session_id', 'run_key']).doNothing())
    .execute();
}
