/** Who may write to Pulse, what was read already, and who reads for a bot. */
import { createHash } from 'node:crypto';
import { type Db, storeNow } from '../../store/store.ts';
import { withNotifyTables } from '../tables.ts';

/** No service tells of the same message again after so long. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const CODE_MS = 10 * 60 * 1000;

/** In the transaction of its effect. `false`: it has had its effect. */
export async function takeUpdate(db: Db, channel: string, id: string): Promise<boolean> {
  const own = withNotifyTables(db);
  await own.deleteFrom('chat_updates').where('at', '<', storeNow(-KEPT_MS)).execute();
  const row = await own
    .insertInto('chat_updates')
    .values({ channel, update_id: id, at: storeNow() })
    .onConflict((conflict) => conflict.doNothing())
    .returning('update_id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function isMember(db: Db, accountId: string, sender: string): Promise<boolean> {
  const row = await withNotifyTables(db)
    .selectFrom('chat_members')
    .select('sender')
    .where('account_id', '=', accountId)
    .where('sender', '=', sender)
    .executeTakeFirst();
  return row !== undefined;
}

/** The code itself is not kept. */
export async function insertPairing(db: Db, channel: string, code: string): Promise<void> {
  const own = withNotifyTables(db);
  await own.deleteFrom('chat_pairings').where('until', '<', storeNow()).execute();
  await own
    .insertInto('chat_pairings')
    .values({ code_hash: hashOf(code), channel, until: storeNow(CODE_MS) })
    .execute();
}

/** A code counts once, for one sender. */
export async function takePairing(
  db: Db,
  { channel, code, accountId, sender }: { channel: string; code: string; accountId: string; sender: string },
): Promise<boolean> {
  const own = withNotifyTables(db);
  const { numDeletedRows: count } = await own
    .deleteFrom('chat_pairings')
    .where('code_hash', '=', hashOf(code))
    .where('channel', '=', channel)
    .where('until', '>=', storeNow())
    .executeTakeFirst();
  if (count === 0n) return false;
  await own
    .insertInto('chat_members')
    .values({ account_id: accountId, sender, at: storeNow() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return true;
}

function hashOf(code: string): string {
  return createHash('sha256').update(code.trim().toLowerCase()).digest('hex');
}

/** The session that a message told of. */
export async function sessionOfMessage(
  db: Db,
  { accountId, chat, message }: { accountId: string; chat: string; message: string },
): Promise<string | null> {
  const row = await withNotifyTables(db)
    .selectFrom('notifications')
    .select('session_id')
    .where('account_id', '=', accountId)
    .where('destination', '=', chat)
    .where('provider_id', '=', message)
    .executeTakeFirst();
  return row?.session_id ?? null;
}

/** Those that tell this chat and wait for a person, oldest first. */
export async function waitingSessions(
  db: Db,
  { accountId, chat }: { accountId: string; chat: string },
): Promise<string[]> {
  const rows = await withNotifyTables(db)
    .selectFrom('notify_routes as route')
    .innerJoin('pulse_sessions as session', 'session.id', 'route.session_id')
    .select('session.id')
    .where('route.account_id', '=', accountId)
    .where('route.destination', '=', chat)
    .where('session.status', '=', 'blocked')
    .orderBy('session.id')
    .execute();
  return rows.map(({ id }) => id);
}

export interface Poller {
  token: number;
  /** Where the next reading begins. */
  position: string | null;
}

const LEASE_MS = 90_000;

/** `null`: another process reads for the bot. */
export async function takePoller(
  db: Db,
  accountId: string,
  { owner, isGone }: { owner: string; isGone(owner: string): boolean },
): Promise<Poller | null> {
  const own = withNotifyTables(db);
  await own
    .insertInto('chat_pollers')
    .values({ account_id: accountId, lease_owner: null, lease_until: null, token: 0, position: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await own
    .selectFrom('chat_pollers')
    .selectAll()
    .select(storeNow().as('now'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  const { lease_owner: holder, lease_until: until, now, token, position } = row;
  if (holder !== null && holder !== owner && until !== null && until > now && !isGone(holder)) return null;
  const next = holder === owner ? token : token + 1;
  const taken = await own
    .updateTable('chat_pollers')
    .set({ lease_owner: owner, lease_until: storeNow(LEASE_MS), token: next })
    .where('account_id', '=', accountId)
    .where('token', '=', token)
    .executeTakeFirst();
  return taken.numUpdatedRows === 1n ? { token: next, position } : null;
}

/** Moves on; only its own holder can. */
export async function movePoller(
  db: Db,
  accountId: string,
  { token, position }: { token: number; position: string },
): Promise<void> {
  await withNotifyTables(db)
    .updateTable('chat_pollers')
    .set({ position })
    .where('account_id', '=', accountId)
    .where('token', '=', token)
    .execute();
}

export async function leavePoller(db: Db, accountId: string, token: number): Promise<void> {
  await withNotifyTables(db)
    .updateTable('chat_pollers')
    .set({ lease_owner: null, lease_until: null })
    .where('account_id', '=', accountId)
    .where('token', '=', token)
    .execute();
}
