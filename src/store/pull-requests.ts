/** `pull_requests`: those that are watched, and what was seen of them. */
import type { Selectable } from 'kysely';
import type { PullRequestsTable } from './after-schema.ts';
import { leaseFrom } from './leases.ts';
import { type Db, fromJson, storeNow, toJson } from './store.ts';

export interface WatchedRequest extends Omit<Selectable<PullRequestsTable>, 'seen'> {
  seen: string[];
}

export interface NewWatch {
  sessionId: string;
  address: string;
  rounds: number;
  days: number;
  pushedSha: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** From now on. One address is watched for one session, the newest that offered it; what was seen stays seen. */
export async function watchRequest(
  db: Db,
  { sessionId, address, rounds, days, pushedSha }: NewWatch,
): Promise<void> {
  const before = await db
    .selectFrom('pull_requests')
    .selectAll()
    .where((eb) => eb.or([eb('address', '=', address), eb('session_id', '=', sessionId)]))
    .executeTakeFirst();
  await db
    .deleteFrom('pull_requests')
    .where((eb) => eb.or([eb('address', '=', address), eb('session_id', '=', sessionId)]))
    .execute();
  const isSame = before?.address === address;
  await db
    .insertInto('pull_requests')
    .values({
      session_id: sessionId,
      address,
      state: 'open',
      rounds,
      rounds_used: isSame ? before.rounds_used : 0,
      watched_until: storeNow(days * DAY_MS),
      seen: toJson(isSame ? fromJson<string[]>(before.seen) : []),
      follow_up: null,
      pushed_sha: pushedSha,
      trouble: null,
      look_at: storeNow(),
      lease_owner: null,
      lease_until: null,
    })
    .execute();
}

/** The one that has waited longest, if its time has come and nobody is at it; it is the owner's from now on. */
export async function takeRequest(
  db: Db,
  { owner, leaseMs, isGone }: { owner: string; leaseMs: number; isGone(owner: string): boolean },
): Promise<(WatchedRequest & { isOver: boolean }) | null> {
  const rows = await db
    .selectFrom('pull_requests')
    .selectAll()
    .select(storeNow().as('now'))
    .where('state', '=', 'open')
    .where('look_at', '<=', storeNow())
    .orderBy('look_at')
    .execute();
  for (const { now, ...row } of rows) {
    const { owner: holder, isOver } = leaseFrom({ ...row, now });
    if (!isOver && holder !== null && !isGone(holder)) continue;
    // Another process may have been quicker.
    const taken = await db
      .updateTable('pull_requests')
      .set({ lease_owner: owner, lease_until: storeNow(leaseMs) })
      .where('session_id', '=', row.session_id)
      .where('lease_owner', 'is not distinct from', holder)
      .where('state', '=', 'open')
      .returning('session_id')
      .executeTakeFirst();
    if (taken) return { ...row, seen: fromJson<string[]>(row.seen), isOver: row.watched_until < now };
  }
  return null;
}

/** What the pull request had of the session at last, pushed by itself or as the follow-up that it was answered with. */
export async function pushedOf(db: Db, sessionId: string): Promise<string | null> {
  const row = await db
    .selectFrom('pull_requests')
    .select('pushed_sha')
    .where((eb) => eb.or([eb('session_id', '=', sessionId), eb('follow_up', '=', sessionId)]))
    .executeTakeFirst();
  return row?.pushed_sha ?? null;
}

export type RequestChange = Partial<
  Pick<WatchedRequest, 'state' | 'rounds_used' | 'follow_up' | 'pushed_sha' | 'trouble' | 'seen'>
>;

/** Only while it is the owner's. `false`: it is somebody else's by now. */
export async function changeRequest(
  db: Db,
  { sessionId, owner, lookAgainMs }: { sessionId: string; owner: string; lookAgainMs?: number },
  { seen, ...change }: RequestChange,
): Promise<boolean> {
  const changed = await db
    .updateTable('pull_requests')
    .set({
      ...change,
      ...(seen ? { seen: toJson(seen) } : {}),
      ...(lookAgainMs === undefined
        ? { lease_owner: owner }
        : { lease_owner: null, lease_until: null, look_at: storeNow(lookAgainMs) }),
    })
    .where('session_id', '=', sessionId)
    .where('lease_owner', '=', owner)
    .returning('session_id')
    .executeTakeFirst();
  return changed !== undefined;
}
