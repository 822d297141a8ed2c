/**
 * One swarm at a time works on an epic. Each has a branch: what one closes is not on the other's, and a bead would begin
 * without what it waits for.
 */
import { PulseError } from '../../../domain/errors.ts';
import type { SessionStatus } from '../../../domain/status.ts';
import type { Db } from '../../../store/store.ts';
import { findBead } from '../graph/rows.ts';
import type { Swarm } from './rows.ts';
import { withWorkerTables } from './tables.ts';

/** One that is stopped or blocked moves nothing. Resuming it asks the same. */
const AT_WORK: readonly SessionStatus[] = ['pending', 'running'];

/**
 * Throws `invalid_transition` where another works on this epic, on one above it or on one below it. A part of a transaction
 * that holds the project's lock.
 */
export async function refuseSecondSwarm(
  db: Db,
  { session_id: own, project_id: projectId, epic }: Pick<Swarm, 'session_id' | 'project_id' | 'epic'>,
): Promise<void> {
  const others = await withWorkerTables(db)
    .selectFrom('swarms')
    .innerJoin('pulse_sessions as sessions', 'sessions.id', 'swarms.session_id')
    .select(['swarms.session_id', 'swarms.epic'])
    .where('swarms.project_id', '=', projectId)
    .where('swarms.session_id', '<>', own)
    .where('sessions.status', 'in', AT_WORK)
    .execute();
  for (const { session_id: other, epic: theirs } of others) {
    const isShared =
      (await isWithin(db, projectId, { id: epic, epic: theirs })) ||
      (await isWithin(db, projectId, { id: theirs, epic }));
    if (!isShared) continue;
    const what = theirs === epic ? epic : `${theirs}, which shares beads with ${epic}`;
    throw new PulseError('invalid_transition', `The swarm ${other} works on ${what}.`, {
      hint: `pulse watch ${other} follows it, pulse swarm stop ${other} stops it.`,
      data: { swarm: other, epic: theirs },
    });
  }
}

/** Epics may lie within epics; a circle of them is never written. */
async function isWithin(
  db: Db,
  projectId: string,
  { id, epic }: { id: string; epic: string },
): Promise<boolean> {
  for (let at: string | null = id; at !== null; ) {
    if (at === epic) return true;
    const bead = await findBead(db, projectId, at);
    at = bead?.epic ?? null;
  }
  return false;
}
