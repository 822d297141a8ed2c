/** The rows of a swarm, folded: as its lead sees them, and as one of its workers does. */
import { hasUnfetched } from '../../../coordination/mail/deliver.ts';
import {
  findSession,
  getControl,
  listChildren,
  type Session,
  type SessionControl,
} from '../../../store/sessions.ts';
import type { Db, Store } from '../../../store/store.ts';
import { type Bead, EPIC } from '../graph/bead.ts';
import { readFeature } from '../graph/feature.ts';
import { findBead, listBeads } from '../graph/rows.ts';
import { type HeldByOthers, lookNext, untoldOf } from './held-files.ts';
import { type Again, CONFLICTS_OF_A_WORKER, type Completion, topicOf } from './model.ts';
import {
  type BeadTry,
  type BeadWorker,
  currentTry,
  findSwarm,
  findWorker,
  isAsked,
  isQueued,
  listInFlight,
  listTries,
  listWorkers,
  type Swarm,
} from './rows.ts';

export interface BeadsState {
  swarm: Swarm;
  /** The session whose branch the beads arrive on: this one, or the one that this one works for. */
  lead: Session;
  /** Where that branch stands. */
  leadHead: string;
  /** Of the lead: those that work for it. */
  children: readonly Session[];
  workers: readonly BeadWorker[];
  /** Of the lead: sessions that have handed over a bead that is not done, which nobody has taken up yet. */
  inFlight: readonly string[];
  /** Of a worker: itself. */
  worker: BeadWorker | null;
  /** `feature`: of the bead, which may be that of an epic within the swarm's. */
  current: { try: BeadTry; bead: Bead; feature: string } | null;
  /** Of all workers: those that are not over. */
  tries: readonly BeadTry[];
  /** What waits to be merged, oldest first. */
  queue: readonly BeadTry[];
  /** Tries that nobody works on: of a worker that is lost, or of a bead that is not its own by now. */
  orphans: readonly BeadTry[];
  /** Beads that somebody has taken and that wait for a person. */
  stalled: readonly string[];
  /** A bead that could be taken now. */
  hasNext: boolean;
  /** Those that could be, were it not for files that somebody outside of the swarm has reserved. */
  held: readonly HeldByOthers[];
  /** The coordinator has not heard of all of that. */
  isHeldUntold: boolean;
  /** Of a worker that could only wait for such files: mail has come for it. */
  hasMail: boolean;
  /** Beads of the epic that are not closed. */
  open: readonly Pick<Bead, 'id' | 'status' | 'title' | 'missing' | 'claim' | 'fields'>[];
}

export async function loadBeads(
  store: Store,
  db: Db,
  { session }: { session: Session; control: SessionControl },
): Promise<BeadsState> {
  const { parent_session_id: parentId } = session;
  const lead = parentId === null ? session : (await findSession(db, parentId))!;
  const swarm = (await findSwarm(db, lead.id))!;
  const { head_sha: head } = await getControl(db, lead.id);
  const worker = parentId === null ? null : await findWorker(db, session.id);
  const found = worker ? await currentTry(db, session.id) : null;
  const bead = found ? await findBead(db, swarm.project_id, found.bead_id) : null;
  const beads = await listBeads(db, swarm.project_id, { epic: swarm.epic });
  const all = await listChildren(db, lead.id);
  const children = parentId === null ? all : [];
  const open = await listTries(db, swarm.session_id, { status: ['working', 'accepted'] });
  const workers = await listWorkers(db, swarm.session_id);
  const isOrphan = (one: BeadTry): boolean =>
    children.some(({ id, status }) => id === one.session_id && status === 'failed') ||
    (one.session_id === session.id && bead?.claim?.fence !== one.fence);
  return {
    swarm,
    lead,
    leadHead: head ?? lead.base_sha,
    children,
    workers,
    inFlight: parentId === null ? await listInFlight(db, swarm.session_id) : [],
    worker,
    current:
      found && bead ? { try: found, bead, feature: await readFeature(db, swarm.project_id, bead) } : null,
    tries: open,
    queue: open.filter(isQueued),
    orphans: open.filter(isOrphan),
    stalled: open.filter((one) => isStalled(one, all)).map(({ bead_id: id }) => id),
    ...(await whatNext(store, db, { swarm, worker, workers, isBusy: found !== null })),
    open: beads.filter(({ status, type }) => status !== 'closed' && type !== EPIC),
  };
}

function isStalled(one: BeadTry, workers: readonly Session[]): boolean {
  if (one.status === 'accepted' && (isAsked(one) || one.conflicts > CONFLICTS_OF_A_WORKER)) return true;
  return workers.some(({ id, status }) => id === one.session_id && status === 'blocked');
}

interface Asking {
  swarm: Swarm;
  worker: BeadWorker | null;
  workers: readonly BeadWorker[];
  isBusy: boolean;
}

/** Of a worker that has a bead nobody asks. */
async function whatNext(
  store: Store,
  db: Db,
  { swarm, worker, workers, isBusy }: Asking,
): Promise<Pick<BeadsState, 'hasNext' | 'held' | 'isHeldUntold' | 'hasMail'>> {
  if (isBusy) return { hasNext: false, held: [], isHeldUntold: false, hasMail: false };
  const { project_id: project, epic } = swarm;
  const agent = worker?.mail_name ?? undefined;
  const { hasNext, held } = await lookNext(store, db, { swarm, workers, agent });
  const isWaiting = agent !== undefined && held.length > 0;
  return {
    ...{ hasNext, held },
    isHeldUntold: isWaiting && (await untoldOf(db, swarm.session_id, held)).length > 0,
    hasMail: isWaiting && (await hasUnfetched(db, { project, agent, topic: topicOf(epic) })),
  };
}

/** What a verdict on a bead writes. */
export interface BeadChange {
  kind?: 'bead';
  try: BeadTry;
  bead: Bead;
  to: 'working' | 'accepted' | 'closed' | 'blocked';
  wip?: string | null;
  again?: Again | null;
  completion?: Completion | null;
  commit?: string | null;
  reason?: string | null;
  startSha?: string;
  /** How full the context was. */
  contextUsed?: number | null;
}

/** What a round of the merge queue writes. */
export interface MergeChange {
  kind: 'merge';
  merged: readonly MergedBead[];
  returned: readonly ReturnedBead[];
}

export interface MergedBead {
  try: BeadTry;
  commit: string;
  files: readonly string[];
  completion: Completion;
}

/** It does not fit, or is red: its worker's turn again, or (`accepted`) a person's. */
export interface ReturnedBead {
  try: BeadTry;
  to: 'working' | 'accepted';
  startSha: string;
  wip: string | null;
  conflicts: number;
  again: Again | null;
  reason: string;
}
