/** Epics within an epic that a swarm works on: nobody else says of them that they are done. */
import type { Db } from '../../../store/store.ts';
import { withBeadTables } from '../tables.ts';
import { EPIC } from './bead.ts';
import { closeBead } from './change.ts';
import { isBelow, type ProjectLock } from './rows.ts';

interface PartRow {
  id: string;
  type: string;
  status: string;
  epic: string | null;
}

const REASON = 'Completed: all beads of it are closed';

/**
 * Closes those that have beads, all of which are closed: beads may wait for such an epic. One without beads is still to be
 * planned, and one that a person has blocked stays so. A part of the transaction that holds the lock.
 */
export async function closeDoneEpics(db: Db, lock: ProjectLock, epic: string): Promise<void> {
  const rows = await withBeadTables(db)
    .selectFrom('beads')
    .select(['id', 'type', 'status', 'epic'])
    .where('project_id', '=', lock.projectId)
    .where(isBelow(lock.projectId, epic))
    .orderBy('id')
    .execute();
  for (const id of doneEpics(rows)) await closeBead(db, lock, { id, reason: REASON });
}

function doneEpics(rows: readonly PartRow[]): string[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const begun = new Set<string>();
  const open = new Set<string>();
  for (const { type, status, epic } of rows) {
    if (type === EPIC) continue;
    for (let at = epic; at !== null; at = byId.get(at)?.epic ?? null) {
      begun.add(at);
      if (status !== 'closed') open.add(at);
    }
  }
  return rows
    .filter(
      ({ id, type, status }) =>
        type === EPIC && (status === 'open' || status === 'in_progress') && begun.has(id),
    )
    .map(({ id }) => id)
    .filter((id) => !open.has(id));
}
