/** `agent_breakers`: a row while a service's breaker is not closed. Times are the store's own. */
import type { Selectable } from 'kysely';
import { BREAKER_TRANSITIONS, type BreakerEvent, breakerWaitMs } from '../domain/breaker.ts';
import type { FailureClass } from '../domain/failures.ts';
import type { AgentBreakersTable } from './schema.ts';
import { type Db, storeNow } from './store.ts';

export type Breaker = Selectable<AgentBreakersTable>;

export async function findBreaker(db: Db, key: string): Promise<Breaker | null> {
  const row = await db.selectFrom('agent_breakers').selectAll().where('key', '=', key).executeTakeFirst();
  return row ?? null;
}

/** What stands in the way of an attempt, and for how long from now, by the store's clock. */
export interface ClosedWay {
  failureClass: FailureClass;
  now: string;
  waitMs: number;
}

/**
 * `null`: the attempt goes through, as the probe where the breaker was due, or where it must (`isUrgent`). Else it waits.
 */
export async function passBreaker(
  db: Db,
  key: string,
  { isUrgent }: { isUrgent: boolean },
): Promise<ClosedWay | null> {
  const breaker = await findBreaker(db, key);
  if (!breaker) return null;
  let probing = db
    .updateTable('agent_breakers')
    .set({
      state: BREAKER_TRANSITIONS[breaker.state].probed as Breaker['state'],
      retry_at: storeNow(breakerWaitMs(breaker.trips)),
    })
    .where('key', '=', key);
  if (!isUrgent) probing = probing.where('retry_at', '<=', storeNow());
  if (await probing.returning('key').executeTakeFirst()) return null;
  // Another session may have been quicker: then its probe is waited for, or it has closed the breaker.
  const closed = await db
    .selectFrom('agent_breakers')
    .select(['failure_class', 'retry_at', storeNow().as('now')])
    .where('key', '=', key)
    .executeTakeFirst();
  if (!closed) return null;
  const waitMs = Math.max(1, Date.parse(closed.retry_at) - Date.parse(closed.now));
  return { failureClass: closed.failure_class, now: closed.now, waitMs };
}

/** Says what came of an attempt. Only the first of several that say the same moves the breaker. */
export async function recordServiceFailure(
  db: Db,
  key: string,
  event: Extract<BreakerEvent, 'failed' | 'given_up'>,
  failureClass: FailureClass,
): Promise<void> {
  const breaker = await findBreaker(db, key);
  const from = breaker?.state ?? 'closed';
  if (BREAKER_TRANSITIONS[from][event] === from) return;
  const trips = (breaker?.trips ?? 0) + 1;
  const open = {
    state: 'open',
    trips,
    failure_class: failureClass,
    retry_at: storeNow(breakerWaitMs(trips)),
  } as const;
  await (breaker
    ? db.updateTable('agent_breakers').set(open).where('key', '=', key).where('state', '=', breaker.state)
    : db
        .insertInto('agent_breakers')
        .values({ key, ...open })
        .onConflict((conflict) => conflict.column('key').doNothing())
  ).execute();
}

export async function closeBreaker(db: Db, key: string): Promise<void> {
  await db.deleteFrom('agent_breakers').where('key', '=', key).execute();
}
