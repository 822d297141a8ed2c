/** Which daemons live, and which waiting attempts they may take (docs/protocol/evidence.md, Attempt). */
import { type Db, fromJson, storeNow, toJson, WAITING } from './store.ts';

export interface DaemonIdentity {
  owner: string;
  host: string;
  labels: readonly string[];
}

/** Says that the daemon lives for another while. */
export async function announceDaemon(
  db: Db,
  { owner, host, labels }: DaemonIdentity,
  aliveMs: number,
): Promise<void> {
  const seen_until = storeNow(aliveMs);
  await db
    .insertInto('daemons')
    .values({ owner, host, labels: toJson(labels), seen_until })
    .onConflict((conflict) => conflict.column('owner').doUpdateSet({ seen_until }))
    .execute();
}

/** The last seen first. */
export async function listDaemons(
  db: Db,
): Promise<{ owner: string; host: string; labels: string[]; seenUntil: string; isAlive: boolean }[]> {
  const rows = await db
    .selectFrom('daemons')
    .selectAll()
    .select(storeNow().as('now'))
    .orderBy('seen_until', 'desc')
    .execute();
  return rows.map(({ owner, host, labels, seen_until: seenUntil, now }) => ({
    ...{ owner, host, labels: fromJson<string[]>(labels), seenUntil, isAlive: seenUntil > now },
  }));
}

export async function withdrawDaemon(db: Db, owner: string): Promise<void> {
  await db.deleteFrom('daemons').where('owner', '=', owner).execute();
}

/** As many are looked at together; those with labels that nobody has must not hide the others. */
const PAGE = 50;

/**
 * Sessions whose attempt is due and asks for labels that this daemon has, most urgent first. One whose worktree is
 * prepared on another host is left to that host while a daemon lives there.
 */
export async function findLabelledWork(db: Db, { host, labels }: DaemonIdentity): Promise<string[]> {
  const living = await db.selectFrom('daemons').select('host').where('seen_until', '>', storeNow()).execute();
  const hosts = new Set(living.map((row) => row.host));
  for (let offset = 0; ; offset += PAGE) {
    const rows = await dueWork(db, offset);
    const fitting = rows
      .filter((row) => fromJson<string[]>(row.labels).every((label) => labels.includes(label)))
      .filter(({ daemon_host: other }) => other === null || other === host || !hosts.has(other));
    if (fitting.length > 0 || rows.length < PAGE) return fitting.map((row) => row.session_id);
  }
}

function dueWork(db: Db, offset: number) {
  return db
    .selectFrom('inbox_tasks as task')
    .innerJoin('session_controls as control', 'control.session_id', 'task.session_id')
    .innerJoin('pulse_sessions as session', 'session.id', 'task.session_id')
    .select(['task.session_id', 'task.labels', 'control.daemon_host'])
    .where('task.status', '=', WAITING)
    .where('task.run_at', '<=', storeNow())
    .where('session.status', '=', 'running')
    .where('task.labels', '!=', '[]')
    .orderBy('task.priority', 'desc')
    .orderBy('task.run_at')
    .orderBy('task.id')
    .limit(PAGE)
    .offset(offset)
    .execute();
}

export async function setDaemonHost(db: Db, sessionId: string, host: string): Promise<void> {
  await db
    .updateTable('session_controls')
    .set({ daemon_host: host })
    .where('session_id', '=', sessionId)
    .execute();
}
