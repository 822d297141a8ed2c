import { sql } from 'kysely';
import type { SessionStatus } from '../domain/status.ts';
import type { Db } from './store.ts';

export interface Figures {
  sessions: Partial<Record<SessionStatus, number>>;
  spentUsd: number;
  tokens: number;
  iterationsSettled: number;
}

/** Sums over everything the store holds; two indexes have all of it, so that no session's row is read. */
export async function readFigures(db: Db): Promise<Figures> {
  const groups = await db
    .selectFrom('pulse_sessions')
    .select(({ fn }) => [
      'status',
      fn.countAll<number>().as('count'),
      fn.sum<number>('spent_usd').as('spent'),
      // As a real number: a sum of whole ones has a largest value, beyond which SQLite fails.
      sql<number>`sum(total_tokens_used * 1.0)`.as('tokens'),
    ])
    .groupBy('status')
    .execute();
  const all = await db
    .selectFrom('session_controls')
    .select(({ fn }) => fn.sum<number | null>('settled_iterations').as('settled'))
    .executeTakeFirst();
  return {
    sessions: Object.fromEntries(groups.map(({ status, count }) => [status, Number(count)])),
    spentUsd: groups.reduce((sum, { spent }) => sum + Number(spent), 0),
    tokens: groups.reduce((sum, { tokens }) => sum + Number(tokens), 0),
    iterationsSettled: Number(all?.settled ?? 0),
  };
}
