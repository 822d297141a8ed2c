/** What waits to be told, and what became of it. Those of one destination go out one after the other. */
import { sql } from 'kysely';
import type { Channel } from '../domain/notify.ts';
import { cleanText, type Db, fromJson, storeNow } from '../store/store.ts';
import { MOST_SENDING_MS } from './channels/channel.ts';
import { withNotifyTables } from './tables.ts';
import type { ToldSession } from './texts.ts';

export interface Account {
  id: string;
  channel: Channel;
  settings: unknown;
}

export interface Waiting {
  number: number;
  sessionId: string;
  seq: number;
  destination: string;
  type: string;
  iteration: number | null;
  data: Record<string, unknown>;
  attempts: number;
}

/** Those that something waits for. */
export async function listWaitingAccounts(db: Db): Promise<Account[]> {
  const rows = await withNotifyTables(db)
    .selectFrom('notify_accounts as a')
    .select(['a.id', 'a.channel', 'a.settings'])
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('notifications as n')
          .select(sql.lit(1).as('one'))
          .whereRef('n.account_id', '=', 'a.id')
          .where('n.status', '=', sql.lit('waiting')),
      ),
    )
    .execute();
  return rows.map(({ id, channel, settings }) => ({ id, channel, settings: fromJson<unknown>(settings) }));
}

/** Longer than a sender takes: else a second process would send what the first is still sending. */
const LEASE_MS = MOST_SENDING_MS + 30_000;

/** The token of the one process that may deliver for the account now; `null`: another does. */
export async function takeAccount(
  db: Db,
  id: string,
  { owner, isGone }: { owner: string; isGone(owner: string): boolean },
): Promise<number | null> {
  const own = withNotifyTables(db);
  const row = await own
    .selectFrom('notify_accounts')
    .select(['lease_owner', 'lease_until', 'token', storeNow().as('now')])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return null;
  const { lease_owner: holder, lease_until: until, token, now } = row;
  const isHeld = holder !== null && holder !== owner && until !== null && until > now && !isGone(holder);
  if (isHeld) return null;
  const next = holder === owner ? token : token + 1;
  const taken = await own
    .updateTable('notify_accounts')
    .set({ lease_owner: owner, lease_until: storeNow(LEASE_MS), token: next })
    .where('id', '=', id)
    .where('token', '=', token)
    .executeTakeFirst();
  return taken.numUpdatedRows === 1n ? next : null;
}

/** No message waits longer for its next attempt, even if the service asks for it. */
export const MOST_WAIT_MS = 24 * 60 * 60 * 1000;

/**
 * The first of each destination, if its time has come. A new one is due at once, and so is one whose time is further
 * away than a wait can be: the clock was ahead when it was written, and was set right since.
 */
export async function readDue(db: Db, accountId: string, limit: number): Promise<Waiting[]> {
  const rows = await withNotifyTables(db)
    .selectFrom('notifications as n')
    .select([
      'n.number',
      'n.session_id',
      'n.seq',
      'n.destination',
      'n.type',
      'n.iteration',
      'n.data',
      'n.attempts',
    ])
    .where('n.account_id', '=', accountId)
    .where('n.status', '=', sql.lit('waiting'))
    .where((eb) =>
      eb.or([
        eb('n.attempts', '=', 0),
        eb('n.run_at', '<=', storeNow()),
        eb('n.run_at', '>', storeNow(MOST_WAIT_MS)),
      ]),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('notifications as earlier')
            .select(sql.lit(1).as('one'))
            .whereRef('earlier.account_id', '=', 'n.account_id')
            .whereRef('earlier.destination', '=', 'n.destination')
            .where('earlier.status', '=', sql.lit('waiting'))
            .whereRef('earlier.number', '<', 'n.number'),
        ),
      ),
    )
    .orderBy('n.number')
    .limit(limit)
    .execute();
  return rows.map(({ session_id: sessionId, data, ...row }) => ({
    ...row,
    sessionId,
    data: fromJson<Record<string, unknown>>(data),
  }));
}

/** `null`: it is gone, and there is nobody to tell of it. */
export async function findToldSession(db: Db, id: string): Promise<ToldSession | null> {
  const row = await db
    .selectFrom('pulse_sessions')
    .select(['kind', 'max_iterations', 'current_iteration', 'total_commits'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

export type Fate =
  | { status: 'sent'; providerId: string | null }
  | { status: 'skipped' }
  | { status: 'failed'; error: string }
  | { status: 'waiting'; error: string; afterMs: number };

/** False: another process delivers for the account by now, and this one's word does not count. */
export async function recordFate(
  db: Db,
  { number, accountId, token, fate }: { number: number; accountId: string; token: number; fate: Fate },
): Promise<boolean> {
  const isSent = fate.status === 'sent';
  const written = await withNotifyTables(db)
    .updateTable('notifications')
    .set({
      status: fate.status,
      attempts: sql<number>`attempts + 1`,
      error: 'error' in fate ? storable(fate.error) : null,
      ...(fate.status === 'waiting' ? { run_at: storeNow(fate.afterMs) } : {}),
      ...(isSent ? { provider_id: fate.providerId && storable(fate.providerId), sent_at: storeNow() } : {}),
    })
    .where('number', '=', number)
    .where('status', '=', 'waiting')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('notify_accounts')
          .select(sql.lit(1).as('one'))
          .where('id', '=', accountId)
          .where('token', '=', token),
      ),
    )
    .executeTakeFirst();
  return written.numUpdatedRows === 1n;
}

/** What a service says is as long as it likes, and may hold what PostgreSQL does not take. */
function storable(said: string): string {
  return cleanText(said.slice(0, 1_000));
}

export async function leaveAccount(
  db: Db,
  id: string,
  { owner, token }: { owner: string; token: number },
): Promise<void> {
  await withNotifyTables(db)
    .updateTable('notify_accounts')
    .set({ lease_owner: null, lease_until: null })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .where('token', '=', token)
    .execute();
}

/** What was told long ago, or never will be. What waits stays, however old it is. */
export async function forgetNotifications(db: Db, olderMs: number): Promise<void> {
  await withNotifyTables(db)
    .deleteFrom('notifications')
    .where('status', '!=', 'waiting')
    .where('created_at', '<', storeNow(-olderMs))
    .execute();
}
