/** The outbox as people see it: what waits, what was told, what did not get through. */
import { sql } from 'kysely';
import type { Channel } from '../domain/channels.ts';
import { PulseError } from '../domain/errors.ts';
import { type Db, storeNow } from '../store/store.ts';
import { withNotifyTables } from './tables.ts';

export const NOTIFICATION_STATUSES = ['waiting', 'planned', 'gathered', 'sent', 'skipped', 'failed'] as const;
export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];

export interface NotificationView {
  id: string;
  session_id: string;
  seq: number;
  type: string;
  iteration: number | null;
  channel: Channel;
  destination: string;
  status: NotificationStatus;
  attempts: number;
  /** Of what waits: when it is tried next. */
  run_at: string | null;
  error: string | null;
  created_at: string;
  sent_at: string | null;
}

export interface NotificationFilter {
  status?: NotificationStatus;
  session?: string;
  limit: number;
  /** Only those before this one. */
  before?: number;
}

/** Newest first; what nobody had to be told of only where it is asked for. */
export async function listNotifications(
  db: Db,
  { status, session, limit, before }: NotificationFilter,
): Promise<NotificationView[]> {
  let query = select(db).orderBy('n.number', 'desc').limit(limit);
  query = status ? query.where('n.status', '=', status) : query.where('n.status', '!=', 'skipped');
  if (session) query = query.where('n.session_id', '=', session);
  if (before !== undefined) query = query.where('n.number', '<', before);
  return (await query.execute()).map(view);
}

/** Those that a person may want to know of. */
export async function countNotifications(db: Db): Promise<Record<'waiting' | 'planned' | 'failed', number>> {
  const rows = await withNotifyTables(db)
    .selectFrom('notifications')
    .select(['status', sql<number>`count(*)`.as('count')])
    .where('status', 'in', ['waiting', 'planned', 'failed'])
    .groupBy('status')
    .execute();
  const counts = { waiting: 0, planned: 0, failed: 0 };
  for (const { status, count } of rows) counts[status as keyof typeof counts] = Number(count);
  return counts;
}

/** What failed, or waits for its next attempt, is due at once. Throws `not_found`, `invalid_transition`. */
export async function retryNotification(db: Db, id: string): Promise<NotificationView> {
  const number = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : -1;
  const { numUpdatedRows } = await withNotifyTables(db)
    .updateTable('notifications')
    .set({ status: 'waiting', attempts: 0, refusals: 0, error: null, run_at: storeNow() })
    .where('number', '=', number)
    .where('status', 'in', ['failed', 'waiting'])
    .executeTakeFirst();
  // A person believes that its address is back.
  if (numUpdatedRows > 0n)
    await withNotifyTables(db)
      .updateTable('notify_accounts')
      .set({ gone_at: null })
      .where('id', '=', (eb) =>
        eb.selectFrom('notifications').select('account_id').where('number', '=', number),
      )
      .execute();
  const row = await select(db).where('n.number', '=', number).executeTakeFirst();
  if (!row) throw new PulseError('not_found', `There is no notification ${id}.`);
  if (numUpdatedRows === 0n)
    throw new PulseError(
      'invalid_transition',
      `Notification ${id} is ${row.status}: there is nothing to retry.`,
    );
  return view(row);
}

function select(db: Db) {
  return withNotifyTables(db)
    .selectFrom('notifications as n')
    .innerJoin('notify_accounts as a', 'a.id', 'n.account_id')
    .select(['n.number', 'n.session_id', 'n.seq', 'n.type', 'n.iteration', 'n.destination', 'n.status'])
    .select(['n.attempts', 'n.run_at', 'n.error', 'n.created_at', 'n.sent_at', 'a.channel']);
}

type Row = Awaited<ReturnType<ReturnType<typeof select>['execute']>>[number];

function view({ number, run_at: next, destination, status, ...row }: Row): NotificationView {
  const isToCome = status === 'waiting' || status === 'planned';
  return {
    ...row,
    id: String(number),
    status: status as NotificationStatus,
    run_at: isToCome ? next : null,
    destination: shown(destination),
  };
}

/** The address of a hook is often its secret. */
function shown(destination: string): string {
  const url = /^https?:\/\//.test(destination) ? URL.parse(destination) : null;
  return url ? `${url.origin}${url.pathname === '/' ? '' : '/…'}` : destination;
}
