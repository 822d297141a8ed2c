/** What is kept for a while only: the rows. */
import { type Db, storeNow } from './store.ts';

/** Sessions that stopped before `beforeMs` ago and still have what is removed by then. */
export async function retirableSessions(db: Db, beforeMs: number, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('pulse_sessions as session')
    .innerJoin('session_controls as control', 'control.session_id', 'session.id')
    .select('session.id')
    .where('session.status', 'not in', ['running', 'pending'])
    .where('session.ended_at', '<', storeNow(-beforeMs))
    .where((eb) =>
      eb.or([
        eb('control.retired_at', 'is', null),
        // It was resumed, and stopped again.
        eb('control.retired_at', '<', eb.ref('session.ended_at')),
      ]),
    )
    .orderBy('session.id')
    .limit(count)
    .execute();
  return rows.map(({ id }) => id);
}

/** What its agents said beside their final messages. */
export async function forgetAgentEvents(db: Db, sessionId: string): Promise<void> {
  await db.deleteFrom('packs').where('session_id', '=', sessionId).where('kind', '=', 'events').execute();
  await db
    .deleteFrom('pulse_events')
    .where('session_id', '=', sessionId)
    .where('type', 'like', 'agent.%')
    .execute();
  await db
    .updateTable('session_controls')
    .set({ retired_at: storeNow() })
    .where('session_id', '=', sessionId)
    .execute();
}

/** Daemons that have not been heard of for so long; one that lives says so again. */
export async function forgetDaemons(db: Db, silentMs: number): Promise<void> {
  await db.deleteFrom('daemons').where('seen_until', '<', storeNow(-silentMs)).execute();
}

/** Where sessions have worked. */
export async function projectPaths(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('pulse_sessions').select('project_path').distinct().execute();
  return rows.map(({ project_path: path }) => path);
}
