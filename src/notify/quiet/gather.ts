/**
 * What is not told at once is gathered: the first of those that wait carries the others. It keeps its place in the order
 * of its destination, and its key, so that a service that has taken the digest already can tell.
 */
import { sql } from 'kysely';
import type { Trust } from '../../domain/check-words.ts';
import type { SessionStatus } from '../../domain/status.ts';
import { type Db, fromJson, storeNow } from '../../store/store.ts';
import type { Waiting } from '../outbox.ts';
import { withNotifyTables } from '../tables.ts';
import { type Gathering, type Manner, ROLLUP_MS, STEPS_APART } from './manner.ts';

export const STEP_TYPES = ['iteration.settled', 'experiment.status', 'experiment.surprised'];

type Destination = Pick<Waiting, 'destination'> & { accountId: string };

/** What `placeOf` needs to know. */
export async function readManner(
  db: Db,
  { sessionId, destination, accountId }: Destination & Pick<Waiting, 'sessionId'>,
): Promise<{ manner: Manner | null; thread: string | null; nowMs: number; stepsToldMs: number[] }> {
  const own = withNotifyTables(db);
  const route = await own
    .selectFrom('notify_routes')
    .select(['manner', 'thread', storeNow().as('now')])
    .where('session_id', '=', sessionId)
    .where('account_id', '=', accountId)
    .where('destination', '=', destination)
    .executeTakeFirst();
  const manner = route?.manner ? fromJson<Manner>(route.manner) : null;
  const nowMs = Date.parse(route?.now ?? '');
  const thread = route?.thread ?? null;
  if (!manner?.rollup) return { manner, thread, nowMs, stepsToldMs: [] };
  const told = await own
    .selectFrom('notifications')
    .select('sent_at')
    .where('account_id', '=', accountId)
    .where('destination', '=', destination)
    .where('status', '=', 'sent')
    .where('type', 'in', STEP_TYPES)
    .where('sent_at', '>', storeNow(-ROLLUP_MS))
    .orderBy('sent_at', 'desc')
    .limit(STEPS_APART)
    .execute();
  return { manner, thread, nowMs, stepsToldMs: told.map(({ sent_at: at }) => Date.parse(at!)) };
}

export interface Gathered extends Destination {
  number: number;
  /** Of who may deliver for the account. */
  token: number;
  kind: Gathering;
  atMs: number;
}

/** It is told with the others. False: another process delivers for the account by now. */
export async function gather(
  db: Db,
  { number, accountId, destination, token, kind, atMs }: Gathered,
): Promise<boolean> {
  const own = withNotifyTables(db);
  const carrier = await own
    .selectFrom('notifications')
    .select('number')
    .where('account_id', '=', accountId)
    .where('destination', '=', destination)
    .where('status', '=', sql.lit('planned'))
    .where('gathers', '=', kind)
    .orderBy('number')
    .executeTakeFirst();
  const written = await own
    .updateTable('notifications')
    .set(
      carrier
        ? { status: 'gathered', gathered_in: carrier.number, gathers: null }
        : { status: 'planned', gathers: kind, run_at: new Date(atMs).toISOString() },
    )
    .where('number', '=', number)
    .where('status', '=', 'waiting')
    .where(holds(accountId, token))
    .executeTakeFirst();
  if (written.numUpdatedRows === 0n) return false;
  // Of a roll-up that the quiet hours have met.
  if (carrier)
    await own
      .updateTable('notifications')
      .set({ gathered_in: carrier.number })
      .where('gathered_in', '=', number)
      .execute();
  return true;
}

/** Whether the one with this token may still deliver for the account. */
export function holds(accountId: string, token: number) {
  return sql<boolean>`exists (select 1 from notify_accounts where id = ${accountId} and token = ${token})`;
}

/** What is due by now goes its way; with `destination`, its roll-up as well: nothing overtakes it. */
export async function releaseGathered(
  db: Db,
  { accountId, destination }: { accountId: string; destination?: string },
): Promise<boolean> {
  let update = withNotifyTables(db)
    .updateTable('notifications')
    .set({ status: 'waiting', run_at: storeNow() })
    .where('status', '=', sql.lit('planned'))
    .where('account_id', '=', accountId);
  update =
    destination === undefined
      ? update.where(isDue())
      : update.where('destination', '=', destination).where('gathers', '=', 'rollup');
  const { numUpdatedRows } = await update.executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Longer than anything is put off: then the clock was ahead when it was planned. */
const MOST_PLANNED_MS = 50 * 60 * 60 * 1000;

export function isDue() {
  return sql<boolean>`(run_at <= ${storeNow()} or run_at > ${storeNow(MOST_PLANNED_MS)})`;
}

export async function hasDueGathering(db: Db, accountId: string): Promise<boolean> {
  const row = await withNotifyTables(db)
    .selectFrom('notifications')
    .select('number')
    .where('status', '=', sql.lit('planned'))
    .where('account_id', '=', accountId)
    .where(isDue())
    .executeTakeFirst();
  return row !== undefined;
}

export async function hasRollup(db: Db, { accountId, destination }: Destination): Promise<boolean> {
  const row = await withNotifyTables(db)
    .selectFrom('notifications')
    .select('number')
    .where('status', '=', sql.lit('planned'))
    .where('account_id', '=', accountId)
    .where('destination', '=', destination)
    .where('gathers', '=', 'rollup')
    .executeTakeFirst();
  return row !== undefined;
}

/** No message has room for more. */
const MOST_STEPS = 100;

/** The last step of each session in a roll-up, and how many steps there are. */
export async function readSteps(db: Db, carrier: number): Promise<{ last: Waiting[]; count: number }> {
  const own = withNotifyTables(db);
  const perSession = await own
    .selectFrom('notifications')
    .select(({ fn }) => [fn.max('number').as('number'), fn.countAll().as('count')])
    .where((eb) => eb.or([eb('number', '=', carrier), eb('gathered_in', '=', carrier)]))
    .groupBy('session_id')
    .execute();
  const newest = perSession.map(({ number }) => Number(number)).toSorted((one, other) => other - one);
  const rows = await own
    .selectFrom('notifications')
    .select([
      'number',
      'session_id',
      'seq',
      'destination',
      'type',
      'iteration',
      'data',
      'attempts',
      'refusals',
      'gathers',
    ])
    .where('number', 'in', newest.slice(0, MOST_STEPS))
    .orderBy('number')
    .execute();
  const last = rows.map(({ session_id: sessionId, data, ...row }) => ({
    ...{ ...row, sessionId, data: fromJson<Record<string, unknown>>(data) },
  }));
  return { last, count: perSession.reduce((sum, { count }) => sum + Number(count), 0) };
}

/** What a digest tells of a session. */
export interface DigestedSession {
  id: string;
  kind: string;
  goal: string;
  status: SessionStatus;
  stop_reason: string | null;
  blocked_reason: string | null;
  trust: Trust | null;
  spent_usd: number;
  total_commits: number;
  branch_name: string;
  current_iteration: number;
  max_iterations: number;
}

/** Those that something was kept back of, and those of the destination that need a person now. */
export async function readDigested(
  db: Db,
  { carrier, accountId, destination }: Destination & { carrier: number },
): Promise<DigestedSession[]> {
  return withNotifyTables(db)
    .selectFrom('pulse_sessions')
    .select(['id', 'kind', 'goal', 'status', 'stop_reason', 'blocked_reason', 'trust', 'spent_usd'])
    .select(['total_commits', 'branch_name', 'current_iteration', 'max_iterations'])
    .where((eb) =>
      eb.or([
        eb(
          'id',
          'in',
          eb
            .selectFrom('notifications')
            .select('session_id')
            .where((or) => or.or([or('number', '=', carrier), or('gathered_in', '=', carrier)])),
        ),
        eb.and([
          eb('status', 'in', ['blocked', 'failed'] as const),
          eb(
            'id',
            'in',
            eb
              .selectFrom('notify_routes')
              .select('session_id')
              .where('account_id', '=', accountId)
              .where('destination', '=', destination),
          ),
        ]),
      ]),
    )
    .orderBy('id')
    .limit(500)
    .execute();
}
