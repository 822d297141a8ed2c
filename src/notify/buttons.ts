/** The buttons of a message: what they say, and the rows that let each count once. */
import { randomBytes } from 'node:crypto';
import { type Db, fromJson, storeNow } from '../store/store.ts';
import { withNotifyTables } from './tables.ts';
import type { ToldEvent, ToldSession } from './texts.ts';

export const ACTIONS = {
  answer: 'Answer',
  approve: 'Approve',
  reject: 'Reject',
  raise: 'Raise the limit',
  resume: 'Resume',
  details: 'Details',
  evidence: 'Evidence',
  abort: 'Abort',
} as const;
export type Action = keyof typeof ACTIONS;

export interface Button {
  id: string;
  label: string;
  /** Those with the same number stand beside each other. */
  row?: number;
}

const LIMITS = ['iteration_limit', 'budget_cost', 'budget_tokens', 'budget_time'];

/** Pure. `mayMerge`: a finished workflow may be merged from a chat. */
export function actionsFor(
  { type, data }: Pick<ToldEvent, 'type' | 'data'>,
  { total_commits: commits }: Pick<ToldSession, 'total_commits'>,
  { mayMerge }: { mayMerge: boolean },
): Action[] {
  switch (type) {
    case 'session.blocked':
      return blockedActions(String(data.stopReason ?? ''), mayMerge || commits === 0);
    case 'session.failed':
      return ['resume', 'details', 'abort'];
    case 'session.paused':
      return ['resume', 'details'];
    case 'session.ended':
      return ['evidence'];
    default:
      return [];
  }
}

function blockedActions(reason: string, mayApprove: boolean): Action[] {
  if (LIMITS.includes(reason)) return ['raise', 'details', 'abort'];
  switch (reason) {
    case 'checks_changed':
    case 'extension_requested':
      return ['approve', 'reject', 'details'];
    case 'approval_required':
      return mayApprove ? ['approve', 'reject', 'details'] : ['reject', 'details'];
    case 'merge_conflict':
      return ['details', 'abort'];
    default:
      return ['answer', 'details', 'abort'];
  }
}

/** A button that is to be shown. */
export interface ButtonFor extends ToldStop {
  action: Action;
  label: string;
  row: number;
}

/** Those of a message that is sent again are the same. */
export async function makeButtons(
  db: Db,
  { number, accountId }: { number: number; accountId: string },
  wanted: readonly ButtonFor[],
): Promise<Button[]> {
  if (wanted.length === 0) return [];
  const own = withNotifyTables(db);
  await own
    .insertInto('notify_actions')
    .values(
      wanted.map(({ action, sessionId, seq }) => ({
        ...{ id: randomBytes(16).toString('base64url'), notification: number, action },
        ...{ session_id: sessionId, seq, account_id: accountId },
        ...{ used_by: null, used_at: null, created_at: storeNow() },
      })),
    )
    .onConflict((conflict) => conflict.columns(['notification', 'session_id', 'action']).doNothing())
    .execute();
  const rows = await own
    .selectFrom('notify_actions')
    .select(['id', 'session_id', 'action'])
    .where('notification', '=', number)
    .execute();
  const ids = new Map(rows.map(({ session_id: session, action, id }) => [`${session} ${action}`, id]));
  return wanted.map(({ sessionId, action, label, row }) => ({
    ...{ id: ids.get(`${sessionId} ${action}`)!, label, row },
  }));
}

/** As they stand under each other. */
export function rowsOf(buttons: readonly Button[]): Button[][] {
  return [...Map.groupBy(buttons, ({ row = 0 }) => row).values()];
}

/** A stop of a session, as a message told of it. */
export interface ToldStop {
  sessionId: string;
  seq: number;
}

export interface PressedAction extends ToldStop {
  id: string;
  action: Action;
  usedBy: string | null;
}

export async function findAction(db: Db, accountId: string, id: string): Promise<PressedAction | null> {
  const row = await withNotifyTables(db)
    .selectFrom('notify_actions')
    .select(['session_id', 'seq', 'action', 'used_by'])
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return null;
  const { session_id: sessionId, seq, action, used_by: usedBy } = row;
  return { id, sessionId, seq, action: action as Action, usedBy };
}

/** False: somebody was first. In the transaction of the effect. */
export async function takeAction(db: Db, id: string, actor: string): Promise<boolean> {
  const { numUpdatedRows } = await withNotifyTables(db)
    .updateTable('notify_actions')
    .set({ used_by: actor, used_at: storeNow() })
    .where('id', '=', id)
    .where('used_by', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

const STOPS = ['session.blocked', 'session.failed', 'session.paused', 'session.ended'] as const;
const MOVES = ['session.resumed', 'session.aborted'] as const;

export interface Stop extends ToldStop {
  type: string;
  data: Record<string, unknown>;
  /** How long ago, by the store's clock. */
  agoMs: number;
}

/** The last one; `null`: it never has. */
export async function latestStop(db: Db, sessionId: string): Promise<Stop | null> {
  const row = await db
    .selectFrom('pulse_events')
    .select(['seq', 'type', 'data', 'at', storeNow().as('now')])
    .where('session_id', '=', sessionId)
    .where('type', 'in', [...STOPS])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const { seq, type, data, at, now } = row;
  return { sessionId, seq, type, data: fromJson(data), agoMs: Date.parse(now) - Date.parse(at) };
}

/** What a person was asked at this stop. */
export async function stopReasonAt(db: Db, { sessionId, seq }: ToldStop): Promise<string | null> {
  const row = await db
    .selectFrom('pulse_events')
    .select('data')
    .where('session_id', '=', sessionId)
    .where('seq', '=', seq)
    .executeTakeFirst();
  const reason = row && fromJson<{ stopReason?: unknown }>(row.data).stopReason;
  return typeof reason === 'string' ? reason : null;
}

/** Whether the session has stopped again since, or, with `hasMoved`, has left this stop at all. */
export async function isOver(
  db: Db,
  { sessionId, seq }: ToldStop,
  { hasMoved }: { hasMoved: boolean },
): Promise<boolean> {
  const row = await db
    .selectFrom('pulse_events')
    .select('seq')
    .where('session_id', '=', sessionId)
    .where('seq', '>', seq)
    .where('type', 'in', [...STOPS, ...(hasMoved ? (['session.resumed'] as const) : [])])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Who ended this stop, and when; `null`: nobody has, or it is no longer known. */
export async function whoWasFirst(
  db: Db,
  { sessionId, seq }: ToldStop,
): Promise<{ actor: string; at: string } | null> {
  const row = await db
    .selectFrom('pulse_events')
    .select(['data', 'at'])
    .where('session_id', '=', sessionId)
    .where('seq', '>', seq)
    .where('type', 'in', [...MOVES])
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const data = fromJson<{ actor?: unknown }>(row.data);
  return { actor: typeof data.actor === 'string' ? data.actor : 'somebody', at: row.at };
}

/** Whether the session is no longer where this stop has left it. */
export async function hasLeft(db: Db, stop: ToldStop): Promise<boolean> {
  return (await whoWasFirst(db, stop)) !== null || isOver(db, stop, { hasMoved: true });
}
