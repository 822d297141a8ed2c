/** `project_requests`: a request with a key that changes a project has its effect once, and one answer. */
import type { RequestKey } from './idempotency.ts';
import { type Db, storeNow } from './store.ts';

const KEPT_MS = 24 * 3_600_000;

/** Belongs into the transaction of the change. `false`: the key is taken, and the change must not happen. */
export async function keepProjectAnswer(
  db: Db,
  { key, digest }: RequestKey,
  answer: string,
): Promise<boolean> {
  await db.deleteFrom('project_requests').where('created_at', '<', storeNow(-KEPT_MS)).execute();
  const row = await db
    .insertInto('project_requests')
    .values({ key, digest, answer, created_at: storeNow() })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('key')
    .executeTakeFirst();
  return row !== undefined;
}

export async function findProjectAnswer(
  db: Db,
  key: string,
): Promise<{ digest: string; answer: string } | null> {
  const row = await db
    .selectFrom('project_requests')
    .select(['digest', 'answer'])
    .where('key', '=', key)
    .where('created_at', '>=', storeNow(-KEPT_MS))
    .executeTakeFirst();
  return row ?? null;
}
