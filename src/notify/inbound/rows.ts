/** Who may write to Pulse, what was read already, and who reads for a bot. */
import { createHash } from 'node:crypto';
import { type Db, storeNow } from '../../store/store.ts';
import { withNotifyTables } from '../tables.ts';

/** No service tells of the same message again after so long, and nobody else may. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** What Twilio signs has no time in it: it could be brought again for ever, so that its names are kept for ever. */
const KEPT_FOR_GOOD = 'sms-%';
const CODE_MS = 10 * 60 * 1000;

/** In the transaction of its effect. `false`: it has had its effect. */
export async function takeUpdate(db: Db, channel: string, id: string): Promise<boolean> {
  const own = withNotifyTables(db);
  await own
    .deleteFrom('chat_updates')
    .where('at', '<', storeNow(-KEPT_MS))
    .where('channel', 'not like', KEPT_FOR_GOOD)
    .execute();
  const row = await own
    .insertInto('chat_updates')
    .values({ channel, update_id: id, at: storeNow() })
    .onConflict((conflict) => conflict.doNothing())
    .returning('update_id')
    .executeTakeFirst();
  return row !== undefined;
}

/** It has had its effect already. */
export async function wasTaken(db: Db, channel: string, id: string): Promise<boolean> {
  const row = await withNotifyTables(db)
    .selectFrom('chat_updates')
    .select('at')
    .where('channel', '=', channel)
    .where('update_id', '=', id)
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

/** How long ago the oldest code was made that somebody may still send; `null`: there is none. */
export async function openPairingMs(db: Db, channel: string): Promise<number | null> {
  const row = await withNotifyTables(db)
    .selectFrom('chat_pairings')
    .select(({ fn }) => [fn.min('until').as('until'), storeNow(CODE_MS).as('latest')])
    .where('channel', '=', channel)
    .where('until', '>=', storeNow())
    .executeTakeFirst();
  return row?.until ? Date.parse(row.latest) - Date.parse(row.until) : null;
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

interface ChatPlace {
  accountId: string;
  chat: string;
  /** A topic or a thread in it, or that it is. */
  thread: string | null;
}

const STOPS = ['session.blocked', 'session.failed', 'session.paused'];

/** What a message told of, by the service's name for it. */
export async function stopOfMessage(
  db: Db,
  { accountId, chat, thread, message }: ChatPlace & { message: string },
): Promise<{ sessionId: string; seq: number; isStop: boolean } | null> {
  const row = await withNotifyTables(db)
    .selectFrom('notifications as n')
    .select(['n.session_id', 'n.seq', 'n.type', 'n.gathers'])
    .where('n.account_id', '=', accountId)
    .where('n.provider_id', '=', message)
    // That somebody has answered is written into the message of the stop, and has its name.
    .where('n.type', '!=', 'session.resumed')
    .where((eb) =>
      eb.or([
        eb('n.destination', '=', chat),
        eb.exists(
          eb
            .selectFrom('notify_routes as route')
            .select('route.session_id')
            .whereRef('route.session_id', '=', 'n.session_id')
            .where('route.account_id', '=', accountId)
            .where('route.thread', '=', thread),
        ),
      ]),
    )
    // Names of messages may come again, in a chat that was made new.
    .orderBy('n.number', 'desc')
    .limit(1)
    .executeTakeFirst();
  // A digest asks nothing by itself.
  if (!row || row.gathers === 'digest') return null;
  return { sessionId: row.session_id, seq: row.seq, isStop: STOPS.includes(row.type) };
}

/** Those that tell this chat and wait for a person, oldest first; in a thread, its own. */
export async function waitingSessions(
  db: Db,
  { accountId, chat, thread, isPublic = false }: ChatPlace & { isPublic?: boolean },
): Promise<string[]> {
  const rows = await withNotifyTables(db)
    .selectFrom('notify_routes as route')
    .innerJoin('pulse_sessions as session', 'session.id', 'route.session_id')
    .select(['session.id', 'route.thread'])
    .where('route.account_id', '=', accountId)
    .where((eb) => eb.or([eb('route.destination', '=', chat), eb('route.thread', '=', thread)]))
    .where('session.status', '=', 'blocked')
    .orderBy('session.id')
    .execute();
  const own = thread === null ? [] : rows.filter((row) => row.thread === thread);
  return (own.length > 0 || isPublic ? own : rows).map(({ id }) => id);
}

/** Whether there is a session whose id ends so. */
export async function isTag(db: Db, ending: string): Promise<boolean> {
  const row = await db
    .selectFrom('pulse_sessions')
    .select('id')
    .where('id', 'like', `%${ending}`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
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
