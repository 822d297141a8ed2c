/** Beads: workers execute a graph of small pieces of work, each verified, committed and closed by Pulse. */
import { endReservations } from '../../coordination/reservations/reservations.ts';
import type { IdSource } from '../../domain/ids.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Loop, SessionState } from '../../engine/loop.ts';
import { getControl, listChildren, type Session } from '../../store/sessions.ts';
import type { Db, Store } from '../../store/store.ts';
import { releaseClaim } from './graph/claim.ts';
import { findBead, lockProject } from './graph/rows.ts';
import { type BeadWorkOptions, createBeadWork } from './worker/bead-work.ts';
import { decideBeads } from './worker/decide.ts';
import { acknowledge, reserveFor, takeBead } from './worker/host-steps.ts';
import { createMergeWork, type MergeWorkOptions } from './worker/merge-work.ts';
import { currentTry, findWorker, updateTry } from './worker/rows.ts';
import { settleBead } from './worker/settle.ts';
import { type BeadsState, loadBeads } from './worker/state.ts';

export interface BeadsLoopOptions extends BeadWorkOptions, MergeWorkOptions {
  store: Store;
  /** Reports beside the user's work, written from the rows. */
  writeState(state: SessionState<BeadsState>): Promise<void>;
  handOff(engine: Engine, state: SessionState<BeadsState>, token: number): Promise<void>;
}

export function createBeadsLoop(options: BeadsLoopOptions): Loop<BeadsState> {
  const { store, writeState, handOff } = options;
  return {
    kind: 'beads',
    actions: ['acknowledge', 'take_bead', 'verify_merge', 'hand_off'],
    works: [createBeadWork(options), createMergeWork(options)],
    load: (db, base) => loadBeads(store, db, base),
    decide: decideBeads,
    steps: {
      acknowledge: { perform: acknowledge },
      take_bead: { perform: (engine, step) => takeBead(engine, store, step) },
      hand_off: { perform: (engine, { state, token }) => handOff(engine, state, token) },
    },
    children: ({ children }) => children,
    headOwner: ({ lead }) => lead,
    whenBranchMoved: 'begin_again',
    hooks: {
      // Another worker's bead arrived in this very moment.
      isStale: async (db, { own }, { code }) =>
        code === 'ref_moved' && (await getControl(db, own.lead.id)).head_sha !== own.leadHead,
      settle: settleBead,
      async afterSettle(engine, state) {
        await writeState(state);
        await ringAll(engine, state.own.lead.id);
      },
      end: (db, { session }) => releaseReservationsOf(db, session),
      resume: (db, session) => reserveAgain(db, session, options.ids),
      abort: releaseAll,
      spawned: (workers) => [{ type: 'swarm.workers', data: { workers } }],
    },
  };
}

/** A bead that is closed may free another. */
async function ringAll({ store, bell }: Engine, leadId: string): Promise<void> {
  const children = await store.read((db) => listChildren(db, leadId));
  for (const { id } of [...children, { id: leadId }]) bell.ring(id);
}

/** Its own and its workers': who is stopped keeps nobody from a file. Their beads stay theirs until an abort. */
async function releaseReservationsOf(db: Db, session: Session): Promise<void> {
  for (const { id } of [session, ...(await listChildren(db, session.id))])
    await endReservations(db, { sessionId: id });
}

/** What another has reserved meanwhile stays its: the merge will tell whether the two go together. */
async function reserveAgain(db: Db, session: Session, ids: IdSource): Promise<void> {
  for (const { id } of await listChildren(db, session.id)) {
    const one = await currentTry(db, id);
    const worker = await findWorker(db, id);
    const bead = one && (await findBead(db, one.project_id, one.bead_id));
    if (bead && worker?.mail_name) await reserveFor(db, { bead, worker, projectId: one.project_id, ids });
  }
}

async function releaseAll(db: Db, session: Session): Promise<void> {
  await endReservations(db, { sessionId: session.id });
  const one = await currentTry(db, session.id);
  if (!one) return;
  const lock = await lockProject(db, one.project_id);
  const bead = await findBead(db, one.project_id, one.bead_id);
  if (bead?.claim?.fence === one.fence) await releaseClaim(db, lock, { id: one.bead_id, fence: one.fence });
  await updateTry(db, one.id, { status: 'released', reason: 'The swarm was aborted.' });
}
