/** Beads: workers execute a graph of small pieces of work, each verified, committed and closed by Pulse. */
import type { IdSource } from '../../domain/ids.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Loop, SessionState } from '../../engine/loop.ts';
import { currentOwner, formatOwner } from '../../process/owner.ts';
import { getControl, listChildren, type Session } from '../../store/sessions.ts';
import type { Db, Store } from '../../store/store.ts';
import { closeDoneEpics } from './graph/close-epics.ts';
import { findBead, lockProject } from './graph/rows.ts';
import { type BeadWorkOptions, createBeadWork } from './worker/bead-work.ts';
import { claimLanding } from './worker/claim-landing.ts';
import { decideBeads } from './worker/decide.ts';
import { type Acknowledging, acknowledge, releaseBead, releaseTry, takeBead } from './worker/host-steps.ts';
import { createMergeWork, type MergeWorkOptions } from './worker/merge-work.ts';
import { CONFLICTS_OF_A_WORKER } from './worker/model.ts';
import { refuseSecondSwarm } from './worker/one-swarm.ts';
import { createPrepareWork } from './worker/prepare-work.ts';
import { reserveFor } from './worker/reserve-bead.ts';
import { currentTry, findSwarm, findWorker, updateTry, updateWorker } from './worker/rows.ts';
import { settleBead } from './worker/settle.ts';
import { type BeadsState, loadBeads } from './worker/state.ts';
import { endAs } from './worker/tell-coordination.ts';

export interface BeadsLoopOptions extends BeadWorkOptions, MergeWorkOptions, Acknowledging {
  store: Store;
  /** Reports beside the user's work, written from the rows. */
  writeState(state: SessionState<BeadsState>): Promise<void>;
  handOff(engine: Engine, state: SessionState<BeadsState>, token: number): Promise<void>;
}

export function createBeadsLoop(options: BeadsLoopOptions): Loop<BeadsState> {
  const { store, writeState, handOff } = options;
  return {
    kind: 'beads',
    actions: ['acknowledge', 'take_bead', 'claim_landing', 'release_bead', 'verify_merge', 'hand_off'],
    works: [createBeadWork(options), createMergeWork(options), createPrepareWork(options)],
    load: (db, base) => loadBeads(store, db, base),
    decide: decideBeads,
    steps: {
      acknowledge: { perform: (engine, step) => acknowledge(engine, step, options) },
      take_bead: { perform: (engine, step) => takeBead(engine, store, step) },
      claim_landing: { perform: claimLanding },
      release_bead: { perform: releaseBead },
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
      async resume(db, session) {
        const swarm = await findSwarm(db, session.id);
        const lock = swarm && (await lockProject(db, swarm.project_id));
        if (swarm) await refuseSecondSwarm(db, swarm);
        await reserveAgain(db, session, options.ids);
        // A person may have closed the last bead of an epic that others wait for.
        if (swarm && lock) await closeDoneEpics(db, lock, swarm.epic);
      },
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
  for (const { id } of [session, ...(await listChildren(db, session.id))]) await endAs(db, { sessionId: id });
}

/**
 * Until the workers' runs begin and reserve for themselves. What another has reserved meanwhile stays its: the merge will
 * tell whether the two go together.
 */
async function reserveAgain(db: Db, session: Session, ids: IdSource): Promise<void> {
  for (const { id, status } of await listChildren(db, session.id)) {
    const one = await currentTry(db, id);
    const worker = await findWorker(db, id);
    // It had nothing to do, and the person may have mended what it could not take: another continues in its place.
    if (status === 'complete' && worker?.left_for === null)
      await updateWorker(db, id, { left_for: 'rested' });
    const bead = one && (await findBead(db, one.project_id, one.bead_id));
    const owner = formatOwner(currentOwner());
    if (bead && worker?.mail_name)
      await reserveFor(db, { bead, worker, projectId: one.project_id, ids, owner });
    // A person has looked at the conflict: the merge queue tries it once more.
    if (one && one.conflicts > CONFLICTS_OF_A_WORKER)
      await updateTry(db, one.id, { conflicts: CONFLICTS_OF_A_WORKER, reason: null });
  }
}

async function releaseAll(db: Db, session: Session): Promise<void> {
  await endAs(db, { sessionId: session.id });
  const one = await currentTry(db, session.id);
  if (one) await releaseTry(db, one, 'The swarm was aborted.');
}
