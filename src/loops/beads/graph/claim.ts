/** Taking a bead to work on it, so that nobody else does. */
import { findConflicts } from '../../../coordination/reservations/conflicts.ts';
import { listReservations } from '../../../coordination/reservations/held.ts';
import { parsePattern } from '../../../coordination/reservations/pattern.ts';
import { PulseError } from '../../../domain/errors.ts';
import type { Db, Store } from '../../../store/store.ts';
import type { Bead } from './bead.ts';
import {
  findNext,
  type HeldBead,
  type Next,
  type NextQuery,
  type Ready,
  type ReservedFiles,
  rankReady,
} from './next.ts';
import { getBead, lockProject, type ProjectLock, updateState } from './rows.ts';

/** The bead that comes next; nothing is changed. */
export async function readNext(store: Store, query: NextQuery): Promise<Next> {
  return store.read((db) => readNextIn(store, db, query));
}

/** As `readNext`, as a part of another read. */
export async function readNextIn(store: Store, db: Db, query: NextQuery): Promise<Next> {
  return findNext({ store, db, reserved: await reservedForOthers(db, query) }, query);
}

/** Those that could be next, the best first. */
export async function readReady(
  store: Store,
  query: Pick<NextQuery, 'projectId' | 'epic' | 'agent'>,
  count: number,
): Promise<Ready[]> {
  return store.read(async (db) =>
    rankReady({ store, db, reserved: await reservedForOthers(db, query) }, query, count),
  );
}

export interface ClaimQuery extends Omit<NextQuery, 'agent' | 'isExplained'> {
  /** By the name that reservations are held under. */
  worker: string;
}

/** Takes what comes next, or `null`. Two that ask at once never get the same one. */
export async function claimNextBead(
  store: Store,
  query: ClaimQuery,
): Promise<(Bead & { claim: object }) | null> {
  return store.tx('claim_bead', async (db) => {
    const lock = await lockProject(db, query.projectId);
    return (await claimNext({ store, db, lock }, query)).bead;
  });
}

/** As `claimNextBead`, as the first part of a transaction that holds the lock; with what had to be passed over. */
export async function claimNext(
  { store, db, lock }: { store: Store; db: Db; lock: ProjectLock },
  { worker, ...query }: ClaimQuery,
): Promise<{ bead: (Bead & { claim: object }) | null; held: readonly HeldBead[] }> {
  const asked = { ...query, agent: worker };
  const reserved = await reservedForOthers(db, asked);
  const { bead, held } = await findNext({ store, db, lock, reserved }, asked);
  if (!bead) return { bead: null, held };
  const claim = { worker, fence: lock.revision, at: lock.now };
  const taken = { status: 'in_progress', assignee: worker, updated_at: lock.now };
  await updateState(db, lock, {
    id: bead.id,
    ...taken,
    claim_worker: worker,
    claim_fence: claim.fence,
    claimed_at: claim.at,
  });
  return { bead: { ...bead, ...taken, claim, revision: lock.revision }, held };
}

/** The bead, if this claim still holds. Throws `fenced`: a person or another worker has it now. */
export async function requireClaim(
  db: Db,
  projectId: string,
  { id, fence }: { id: string; fence: number },
): Promise<Bead> {
  const bead = await getBead(db, projectId, id);
  if (bead.claim?.fence === fence) return bead;
  throw new PulseError('fenced', `The claim on ${id} is over.`, {
    hint: bead.claim ? `${bead.claim.worker} works on it now.` : `Its status is ${bead.status}.`,
    data: { id, fence, claim: bead.claim },
  });
}

/** Gives a claimed bead back. Throws `fenced`. A part of a transaction that holds the lock. */
export async function releaseClaim(
  db: Db,
  lock: ProjectLock,
  { id, fence, status = 'open' }: { id: string; fence: number; status?: 'open' | 'blocked' },
): Promise<Bead> {
  const bead = await requireClaim(db, lock.projectId, { id, fence });
  const released = { status, assignee: null, updated_at: lock.now };
  await updateState(db, lock, { id, ...released, claim_worker: null, claim_fence: null, claimed_at: null });
  return { ...bead, ...released, claim: null, revision: lock.revision };
}

/** `null`: nobody but the agent itself has reserved anything. */
async function reservedForOthers(
  db: Db,
  { projectId, agent }: Pick<NextQuery, 'projectId' | 'agent'>,
): Promise<ReservedFiles | null> {
  const held = await listReservations(db, { project: projectId });
  const others = held.filter(({ agent_name }) => agent_name !== agent);
  if (others.length === 0) return null;
  return (files) => {
    const asked = files.map((file) => parsePattern(file));
    return findConflicts(asked, others, { isShared: false });
  };
}
