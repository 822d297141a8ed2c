/** Which sessions a `serve` runs, so that the next one on its state directory continues them. */
import type { Db } from './store.ts';

export async function setServedBy(db: Db, sessionId: string, servedBy: string | null): Promise<void> {
  await db
    .updateTable('session_controls')
    .set({ served_by: servedBy })
    .where('session_id', '=', sessionId)
    .execute();
}

/** The ids of those that should be running, oldest first. */
export async function listServed(db: Db, servedBy: string): Promise<string[]> {
  const rows = await db
    .selectFrom('session_controls')
    .innerJoin('pulse_sessions', 'pulse_sessions.id', 'session_controls.session_id')
    .select('pulse_sessions.id')
    .where('served_by', '=', servedBy)
    .where('status', 'in', ['pending', 'running'])
    .orderBy('pulse_sessions.id')
    .execute();
  return rows.map(({ id }) => id);
}
