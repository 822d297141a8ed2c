/** A bead in flight goes to another worker together with the handoff that tells of it. */
import { PulseError } from '../../../domain/errors.ts';
import { appendEvents } from '../../../store/events.ts';
import { findSession } from '../../../store/sessions.ts';
import type { Db } from '../../../store/store.ts';
import { ownerOf } from '../files/handoff-payload.ts';
import { findBead, lockProject, updateState } from '../graph/rows.ts';
import { adoptTry, type BeadTry, type BeadWorker, currentTry, listWorkers, type Swarm } from './rows.ts';
import { endAs } from './tell-coordination.ts';

export interface Passing {
  one: BeadTry;
  to: BeadWorker;
}

/** `null`: the owner has left no bead in flight here. Throws `invalid_transition` where the other cannot take it. */
export async function findPassing(
  db: Db,
  swarm: Swarm,
  { from, to }: { from: string; to: string },
): Promise<Passing | null> {
  const workers = await listWorkers(db, swarm.session_id);
  const ownerIs = (owner: string) => (worker: BeadWorker) =>
    ownerOf(swarm.mode === 'worker' ? worker.mail_name : null) === owner;
  const left = workers.findLast((worker) => worker.left_for !== null && ownerIs(from)(worker));
  const one = left ? await currentTry(db, left.session_id) : null;
  if (!one) return null;
  const taker = workers.findLast((worker) => worker.left_for === null && ownerIs(to)(worker));
  const status = taker ? (await findSession(db, taker.session_id))?.status : undefined;
  if (!taker || status === undefined || ['complete', 'failed', 'aborted'].includes(status))
    throw new PulseError(
      'invalid_transition',
      `${to} is no worker here that could continue ${one.bead_id}.`,
      {
        hint: `Name one of this swarm, or let ${from} resume it.`,
      },
    );
  const busy = await currentTry(db, taker.session_id);
  if (busy)
    throw new PulseError('invalid_transition', `${to} works on ${busy.bead_id}.`, {
      hint: `${one.bead_id} is in flight, and a worker has one bead at a time.`,
    });
  return { one, to: taker };
}

/** Nothing is changed where another has taken the bead up meanwhile. */
export async function passTry(db: Db, swarm: Swarm, { one, to }: Passing): Promise<void> {
  const still = await currentTry(db, one.session_id);
  if (still?.id !== one.id || (await currentTry(db, to.session_id))) return;
  const lock = await lockProject(db, swarm.project_id);
  await adoptTry(db, { from: one.session_id, to: to.session_id });
  await endAs(db, { sessionId: one.session_id });
  const bead = await findBead(db, swarm.project_id, one.bead_id);
  if (bead?.claim?.fence === one.fence)
    await updateState(db, lock, { id: bead.id, assignee: to.mail_name, claim_worker: to.mail_name });
  const data = { bead: one.bead_id, title: bead?.title ?? '', worker: to.mail_name };
  for (const id of [swarm.session_id, to.session_id])
    await appendEvents(db, id, [{ type: 'bead.taken', data }]);
}
