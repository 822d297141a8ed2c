/**
 * A person gives more files to a bead that somebody works on: its worker holds them too, and hears of it. Both are part
 * of the transaction that widens the bead, so no crash leaves a worker that waits for an answer.
 */
import { type ConflictView, viewConflict } from '../../../coordination/reservations/conflicts.ts';
import { listReservations } from '../../../coordination/reservations/held.ts';
import type { IdSource } from '../../../domain/ids.ts';
import type { Db } from '../../../store/store.ts';
import { conflictMail, scopeAllowedMail } from '../files/mail-texts.ts';
import type { Bead } from '../graph/bead.ts';
import { topicOf } from './model.ts';
import { reserveFor } from './reserve-bead.ts';
import { type BeadWorker, findSwarm, findTryOfClaim, findWorker } from './rows.ts';
import { sendAs } from './tell-coordination.ts';

export interface Widening {
  projectId: string;
  bead: Bead;
  /** What it may change now, and could not before. */
  added: readonly string[];
  ids: IdSource;
}

/** Returns what stands in the way of holding them. */
export async function notifyHolder(db: Db, widening: Widening): Promise<ConflictView[]> {
  const { projectId, bead, added, ids } = widening;
  if (added.length === 0 || bead.claim === null) return [];
  const one = await findTryOfClaim(db, { projectId, beadId: bead.id, fence: bead.claim.fence });
  const worker = one && (await findWorker(db, one.session_id));
  const swarm = worker && (await findSwarm(db, worker.swarm_id));
  if (!swarm || worker.mail_name === null) return [];
  const conflicts = await reserveMore(db, worker, widening);
  const from = { project: projectId, threadId: swarm.epic, topic: topicOf(swarm.epic), ids };
  const { coordinator } = swarm;
  if (conflicts.length > 0 && swarm.mode === 'worker') {
    const holders = conflicts.map(({ holder }) => holder);
    await sendAs(db, worker.session_id, {
      ...{ ...from, from: worker.mail_name, to: [coordinator] },
      ...conflictMail({ beadId: bead.id, files: added, holders }),
    });
  }
  await sendAs(db, worker.session_id, {
    ...{ ...from, from: coordinator, to: [worker.mail_name] },
    ...scopeAllowedMail({ beadId: bead.id, files: added, conflicts }),
  });
  return conflicts;
}

/** Only with those that it holds at this moment: a worker that was stopped holds nothing, and its next run all of them. */
async function reserveMore(
  db: Db,
  worker: BeadWorker,
  { projectId: project, bead, added, ids }: Widening,
): Promise<ConflictView[]> {
  const held = await listReservations(db, { project, agent: worker.mail_name! });
  const own = held.find((each) => each.session_id === worker.session_id && each.attempt_id === '');
  if (!own) return [];
  const { conflicts } = await reserveFor(db, {
    ...{ bead, worker, projectId: project, ids, files: added },
    owner: own.owner ?? undefined,
  });
  return conflicts.map(viewConflict);
}
