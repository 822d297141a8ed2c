/** What waits to be told, and what became of it. Those of one destination go out one after the other. */
import { sql } from 'kysely';
import type { Channel } from '../domain/channels.ts';
import { cleanText, type Db, fromJson, storeNow } from '../store/store.ts';
import { MOST_SENDING_MS } from './channels/channel.ts';
import { moveChat } from './moved.ts';
import { holds, isDue } from './quiet/gather.ts';
import type { Gathering } from './quiet/manner.ts';
import { withNotifyTables } from './tables.ts';
import type { ToldEvent, ToldSession } from './texts.ts';

export interface Account {
  id: string;
  channel: Channel;
  settings: unknown;
  /** Its address has said that it is gone. */
  isGone?: boolean;
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
  /** How often it was refused, without another answer in between. */
  refusals: number;
  gathers: Gathering | null;
}

/** Those that something waits for. */
export async function listWaitingAccounts(db: Db): Promise<Account[]> {
  const rows = await withNotifyTables(db)
    .selectFrom('notify_accounts as a')
    .select(['a.id', 'a.channel', 'a.settings', 'a.gone_at'])
    .where((eb) => {
      const own = eb
        .selectFrom('notifications as n')
        .select(sql.lit(1).as('one'))
        .whereRef('n.account_id', '=', 'a.id');
      return eb.or([
        eb.exists(own.where('n.status', '=', sql.lit('waiting'))),
        eb.exists(own.where('n.status', '=', sql.lit('planned')).where(isDue())),
      ]);
    })
    .execute();
  return rows.map(({ id, channel, settings, gone_at: gone }) => ({
    ...{ id, channel, settings: fromJson<unknown>(settings), isGone: gone !== null },
  }));
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

/** Looked at together; a statement takes no more than some thousand values. */
const MOST_DESTINATIONS = 5_000;

/**
 * The first of each destination, if its time has come. A new one is due at once, and so is one whose time is further
 * away than a wait can be: the clock was ahead when it was written, and was set right since.
 */
export async function readDue(db: Db, accountId: string, limit: number): Promise<Waiting[]> {
  // By itself: of ten thousand that wait, a database may else compare each with each.
  const heads = await withNotifyTables(db)
    .selectFrom('notifications')
    .select(({ fn }) => fn.min('number').as('number'))
    .where('account_id', '=', accountId)
    .where('status', '=', sql.lit('waiting'))
    .groupBy('destination')
    .limit(MOST_DESTINATIONS)
    .execute();
  if (heads.length === 0) return [];
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
      'n.refusals',
      'n.gathers',
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
    .where(
      'n.number',
      'in',
      heads.map(({ number }) => number),
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
    .select(['kind', 'goal', 'max_iterations', 'current_iteration', 'total_commits'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * `thread`: what the next messages of the session belong to, also where this one did not get through. `movedTo`: what its
 * destination is called from now on.
 */
export type Fate = { thread?: string | null; movedTo?: string | undefined } & (
  | { status: 'sent'; providerId: string | null }
  | { status: 'skipped' }
  | { status: 'failed'; error: string; isGone?: boolean }
  | { status: 'waiting'; error: string; afterMs: number; isRefused?: boolean }
);

interface Recorded {
  number: number;
  accountId: string;
  token: number;
}

/** False: another process delivers for the account by now, and this one's word does not count. */
export async function recordFate(
  db: Db,
  { number, accountId, token, fate }: Recorded & { fate: Fate },
): Promise<boolean> {
  const isSent = fate.status === 'sent';
  const written = await withNotifyTables(db)
    .updateTable('notifications')
    .set({
      status: fate.status,
      attempts: sql<number>`attempts + 1`,
      refusals: fate.status === 'waiting' && fate.isRefused ? sql<number>`refusals + 1` : 0,
      error: 'error' in fate ? storable(fate.error) : null,
      ...(fate.status === 'waiting' ? { run_at: storeNow(fate.afterMs) } : {}),
      ...(isSent ? { provider_id: fate.providerId && storable(fate.providerId), sent_at: storeNow() } : {}),
    })
    .where('number', '=', number)
    .where('status', '=', 'waiting')
    .where(holds(accountId, token))
    .executeTakeFirst();
  if (written.numUpdatedRows === 0n) return false;
  if (fate.movedTo !== undefined) await noteMove(db, { number, accountId, to: fate.movedTo });
  if (fate.thread) await noteThread(db, { number, accountId, token, thread: fate.thread });
  if (fate.status === 'failed' && fate.isGone) await noteGone(db, accountId);
  return true;
}

async function noteMove(
  db: Db,
  { number, accountId, to }: { number: number; accountId: string; to: string },
): Promise<void> {
  const own = withNotifyTables(db);
  const row = await own
    .selectFrom('notifications')
    .select('destination')
    .where('number', '=', number)
    .executeTakeFirst();
  if (!row || row.destination === to) return;
  await moveChat(db, { accountId, from: row.destination, to });
  // What is replied to it is looked for under the name that its chat has by then.
  await own.updateTable('notifications').set({ destination: to }).where('number', '=', number).execute();
}

/** Until a person tries again. */
async function noteGone(db: Db, accountId: string): Promise<void> {
  await withNotifyTables(db)
    .updateTable('notify_accounts')
    .set({ gone_at: storeNow() })
    .where('id', '=', accountId)
    .execute();
}

/** What the session's messages belong to from now on, as the service has said last. */
export async function noteThread(
  db: Db,
  { number, accountId, token, thread }: Recorded & { thread: string },
): Promise<void> {
  const own = withNotifyTables(db);
  const row = await own
    .selectFrom('notifications')
    .select(['session_id', 'destination', 'gathers'])
    .where('number', '=', number)
    .executeTakeFirst();
  // A digest is about many.
  if (!row || row.gathers === 'digest') return;
  await own
    .updateTable('notify_routes')
    .set({ thread: storable(thread) })
    .where('session_id', '=', row.session_id)
    .where('account_id', '=', accountId)
    .where('destination', '=', row.destination)
    .where(holds(accountId, token))
    .execute();
}

/** The message that told of the session's last stop before this one, if it was sent and nobody has answered it. */
export async function findStopMessage(
  db: Db,
  { accountId, one }: { accountId: string; one: Waiting },
): Promise<(ToldEvent & { providerId: string }) | null> {
  const row = await withNotifyTables(db)
    .selectFrom('notifications')
    .select(['type', 'iteration', 'data', 'provider_id', 'status'])
    .where('session_id', '=', one.sessionId)
    .where('account_id', '=', accountId)
    .where('destination', '=', one.destination)
    .where('seq', '<', one.seq)
    .where('type', 'in', ['session.blocked', 'session.failed', 'session.paused', 'session.resumed'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row?.status !== 'sent' || row.provider_id === null || row.type === 'session.resumed') return null;
  const { type, iteration, data, provider_id: providerId } = row;
  return { type, iteration, data: fromJson<Record<string, unknown>>(data), providerId };
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

/** What waits for an account that no process here can tell anything, and would be no news any longer. */
export async function dropStale(db: Db, accountId: string, { ms, error }: { ms: number; error: string }) {
  await withNotifyTables(db)
    .updateTable('notifications')
    .set({ status: 'failed', error })
    .where('account_id', '=', accountId)
    .where('status', '=', sql.lit('waiting'))
    .where('created_at', '<', storeNow(-ms))
    .execute();
}

const OVER = ['sent', 'skipped', 'failed'];

/** What was told long ago, or never will be. What is still to be told stays, however old it is, and so does what it carries. */
export async function forgetNotifications(db: Db, olderMs: number): Promise<void> {
  const own = withNotifyTables(db);
  await own
    .deleteFrom('notifications as n')
    .where('status', '=', 'gathered')
    .where('created_at', '<', storeNow(-olderMs))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('notifications as carrier')
            .select('carrier.number')
            .whereRef('carrier.number', '=', 'n.gathered_in')
            .where('carrier.status', 'not in', OVER),
        ),
      ),
    )
    .execute();
  await own
    .deleteFrom('notifications')
    .where('status', 'in', OVER)
    .where('created_at', '<', storeNow(-olderMs))
    .execute();
}
