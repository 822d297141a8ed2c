/** How much of the store what agents said takes, by session. */
import { sql } from 'kysely';
import { type Db, inPortions, storeNow } from './store.ts';

/** Events of agents, packed or not: what retention removes. In bytes; a session without any is left out. */
export async function agentEventBytes(db: Db, ids: readonly string[]): Promise<Map<string, number>> {
  const bytes = new Map<string, number>();
  const add = (rows: readonly { session_id: string; bytes: number | string | null }[]): void => {
    for (const row of rows)
      bytes.set(row.session_id, (bytes.get(row.session_id) ?? 0) + Number(row.bytes ?? 0));
  };
  for (const portion of inPortions(ids)) {
    const events = db
      .selectFrom('pulse_events')
      .select(['session_id', sql<number>`sum(octet_length(CAST(data AS text)))`.as('bytes')])
      .where('session_id', 'in', portion)
      .where('type', 'like', 'agent.%')
      .groupBy('session_id');
    const packed = db
      .selectFrom('packs')
      .select(['session_id', sql<number>`sum(octet_length(bytes))`.as('bytes')])
      .where('session_id', 'in', portion)
      .where('kind', '=', 'events')
      .groupBy('session_id');
    add(await events.execute());
    add(await packed.execute());
  }
  return bytes;
}

/** Sessions that ended before `beforeMs` ago and work for no other, newest first. */
export async function endedBefore(db: Db, beforeMs: number, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('pulse_sessions')
    .select('id')
    .where('status', 'in', ['complete', 'aborted'])
    .where('parent_session_id', 'is', null)
    .where('ended_at', '<', storeNow(-beforeMs))
    .orderBy('id', 'desc')
    .limit(count)
    .execute();
  return rows.map(({ id }) => id);
}
