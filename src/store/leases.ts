/** Who drives a session. One runner at a time, by a lease in `session_controls`; its token fences the one before. */
import { sql } from 'kysely';
import { type Db, storeNow } from './store.ts';

export interface SessionLease {
  owner: string | null;
  token: number;
  isOver: boolean;
  /** Milliseconds since it ran out; 0 while it holds or nobody has it. */
  overForMs: number;
}

export async function readSessionLease(db: Db, sessionId: string): Promise<SessionLease> {
  const row = await db
    .selectFrom('session_controls')
    .select(['lease_owner', 'token', 'lease_until', storeNow().as('now')])
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  return { token: row.token, ...leaseFrom(row) };
}

/** A lease's columns, beside the store's own time when they were read. */
export interface LeaseColumns {
  lease_owner: string | null;
  lease_until: string | null;
  now: string;
}

export function leaseFrom({
  lease_owner: owner,
  lease_until: until,
  now,
}: LeaseColumns): Omit<SessionLease, 'token'> {
  const overForMs = owner === null || until === null ? 0 : Math.max(0, Date.parse(now) - Date.parse(until));
  return { owner, isOver: owner === null || overForMs > 0, overForMs };
}

export interface TakenLease {
  owner: string;
  leaseMs: number;
  seen: SessionLease;
  /** Its owner is dead, or is this very process and has forgotten it. */
  isGone?: boolean;
}

/**
 * Takes the lease if it is free or over, or its owner is gone, and nobody has taken it since it was `seen`.
 * Returns the new token, or `null` when somebody else was quicker.
 */
export async function takeSessionLease(
  db: Db,
  sessionId: string,
  { owner, leaseMs, seen, isGone = false }: TakenLease,
): Promise<number | null> {
  let take = db
    .updateTable('session_controls')
    .set({ lease_owner: owner, lease_until: storeNow(leaseMs), token: sql<number>`token + 1` })
    .where('session_id', '=', sessionId)
    .where('token', '=', seen.token);
  // Its holder may have prolonged it since it was seen.
  if (!isGone)
    take = take.where(({ or, eb }) =>
      or([eb('lease_owner', 'is', null), eb('lease_until', '<', storeNow())]),
    );
  const row = await take.returning('token').executeTakeFirst();
  return row?.token ?? null;
}

export async function renewSessionLease(
  db: Db,
  sessionId: string,
  { token, leaseMs }: { token: number; leaseMs: number },
): Promise<boolean> {
  const row = await db
    .updateTable('session_controls')
    .set({ lease_until: storeNow(leaseMs) })
    .where('session_id', '=', sessionId)
    .where('token', '=', token)
    .returning('session_id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives the lease back so that the next runner need not wait. Does nothing when it is no longer ours. */
export async function releaseSessionLease(db: Db, sessionId: string, token: number): Promise<void> {
  await db
    .updateTable('session_controls')
    .set({ lease_owner: null, lease_until: null })
    .where('session_id', '=', sessionId)
    .where('token', '=', token)
    .execute();
}
