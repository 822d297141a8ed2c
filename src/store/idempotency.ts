/** `idempotency_keys`: a request with a key has its effect once, and gets the same answer from then on. */
import { type Db, storeNow } from './store.ts';

const KEPT_MS = 24 * 3_600_000;

export interface RequestKey {
  key: string;
  /** Of everything the request asked for: the same key with another one is refused. */
  digest: string;
}

export interface StoredAnswer {
  status: number;
  body: string;
}

export interface KeyedRequest {
  digest: string;
  sessionId: string;
  /** `null`: the process that had the effect has not answered yet, or died before it could. */
  answer: StoredAnswer | null;
}

/** Belongs into the transaction of the effect. `false`: the key is taken, and the effect must not happen. */
export async function claimKey(db: Db, { key, digest }: RequestKey, sessionId: string): Promise<boolean> {
  await db.deleteFrom('idempotency_keys').where('created_at', '<', storeNow(-KEPT_MS)).execute();
  const row = await db
    .insertInto('idempotency_keys')
    .values({ key, digest, session_id: sessionId, status: null, answer: null, created_at: storeNow() })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('key')
    .executeTakeFirst();
  return row !== undefined;
}

export async function findKey(db: Db, key: string): Promise<KeyedRequest | null> {
  const row = await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('key', '=', key)
    .where('created_at', '>=', storeNow(-KEPT_MS))
    .executeTakeFirst();
  if (!row) return null;
  const { digest, session_id, status, answer } = row;
  return {
    digest,
    sessionId: session_id,
    answer: status === null || answer === null ? null : { status, body: answer },
  };
}

/** The first answer stands; every caller of the same request gets the one that does. */
export async function keepAnswer(
  db: Db,
  { key, digest }: RequestKey,
  { status, body }: StoredAnswer,
): Promise<StoredAnswer> {
  await db
    .updateTable('idempotency_keys')
    .set({ status, answer: body })
    .where('key', '=', key)
    .where('digest', '=', digest)
    .where('answer', 'is', null)
    .execute();
  const kept = await findKey(db, key);
  return kept?.digest === digest && kept.answer ? kept.answer : { status, body };
}
