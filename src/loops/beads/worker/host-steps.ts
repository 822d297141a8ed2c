/** What Pulse does for a worker between its runs. Each is one action: done again after a crash, it finds itself done. */
import { ensureAgent, registerAgent } from '../../../coordination/mail/agents.ts';
import type { NewEvent } from '../../../domain/events.ts';
import { uuidv7 } from '../../../domain/ids.ts';
import { act } from '../../../engine/actions.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { HostStep } from '../../../engine/loop.ts';
import { appendEvents } from '../../../store/events.ts';
import { getControl } from '../../../store/sessions.ts';
import type { Db, Store } from '../../../store/store.ts';
import { onlineMail } from '../files/mail-texts.ts';
import type { Bead } from '../graph/bead.ts';
import { claimNext, releaseClaim } from '../graph/claim.ts';
import { lockProject } from '../graph/rows.ts';
import { type HeldByOthers, heldByOthers, reportHeldFiles, untoldOf } from './held-files.ts';
import { topicOf } from './model.ts';
import { reserveFor } from './reserve-bead.ts';
import {
  type BeadTry,
  findWorker,
  insertTry,
  listWorkers,
  markWorker,
  updateTry,
  updateWorker,
} from './rows.ts';
import { readInbox, releaseIfOurs, reportToLead } from './settle.ts';
import type { BeadsState } from './state.ts';
import { endAs, sendAs } from './tell-coordination.ts';

type Step = HostStep<BeadsState>;

export interface Acknowledging {
  /** Whether the workers begin with an AGENTS.md. Absent: it is not looked for. */
  hasAgentsFile?(state: Step['state']): Promise<boolean>;
}

/** Registers the worker, reports in on the epic's thread, and reads its inbox: before that no bead is given out. */
export async function acknowledge(
  engine: Engine,
  { state, token }: Step,
  { hasAgentsFile: look }: Acknowledging,
): Promise<void> {
  const { session, own } = state;
  const { swarm } = own;
  const hasAgentsFile = (await look?.(state)) ?? true;
  await act(engine.trace, 'acknowledge', {
    perform: () =>
      engine.store.tx(
        'acknowledge',
        async (db) => {
          const worker = (await findWorker(db, session.id))!;
          if (worker.acknowledged_at !== null) return;
          const { project_id: project, coordinator, epic, mode } = swarm;
          await ensureAgent(db, project, coordinator);
          const { nickname } = worker;
          // One that continues for another has its name.
          const name =
            worker.mail_name ?? (await registerAgent(db, { project, name: nickname, ids: engine.ids })).name;
          if (mode === 'worker') {
            const mail = onlineMail({ nickname, mailName: name }, { hasAgentsFile });
            const place = { project, from: name, to: [coordinator], threadId: epic, topic: topicOf(epic) };
            await sendAs(db, session.id, { ...place, ...mail, ids: engine.ids });
          }
          await updateWorker(db, session.id, { mail_name: name });
          await markWorker(db, session.id, 'acknowledged_at');
          await readInbox(db, swarm, { ...worker, mail_name: name });
          await appendEvents(db, session.id, [{ type: 'worker.online', data: { nickname, name } }], {
            token,
          });
        },
        { session: session.id },
      ),
  });
}

/**
 * Reads the inbox, takes what comes next and reserves its files: all of it, or nothing. What files of others keep it from
 * is told.
 */
export async function takeBead(engine: Engine, store: Store, { state, token }: Step): Promise<void> {
  const { session, own } = state;
  const { swarm, worker } = own;
  const { project_id: projectId, epic, hint } = swarm;
  const { ids, owner } = engine;
  const name = worker!.mail_name!;
  await act(engine.trace, 'take_bead', {
    perform: () =>
      engine.store.tx(
        'take_bead',
        async (db) => {
          await readInbox(db, swarm, worker!);
          const lock = await lockProject(db, projectId);
          const query = { projectId, epic, worker: name, ...(hint ? { hint } : {}) };
          const { bead, held } = await claimNext({ store, db, lock }, query);
          const inTheWay = heldByOthers(held, await listWorkers(db, swarm.session_id));
          const reservation = bead && { bead, worker: worker!, projectId, ids, owner };
          const { conflicts } = reservation ? await reserveFor(db, reservation) : { conflicts: [] };
          // Somebody was quicker: it stays open for a later look.
          if (bead && conflicts.length > 0)
            await releaseClaim(db, lock, { id: bead.id, fence: (bead.claim as { fence: number }).fence });
          const told = await reportInTheWay(db, inTheWay, { state, ids });
          if (bead && conflicts.length === 0) told.push(await beginTry(db, engine, { state, bead }));
          await appendEvents(db, session.id, told, { token });
        },
        { session: session.id },
      ),
  });
}

async function reportInTheWay(
  db: Db,
  held: readonly HeldByOthers[],
  { state, ids }: { state: Step['state']; ids: Engine['ids'] },
): Promise<NewEvent[]> {
  const { swarm, worker } = state.own;
  const untold = await untoldOf(db, swarm.session_id, held);
  const events = await reportHeldFiles(db, untold, { swarm, worker: worker!, ids });
  for (const event of events) await reportToLead(db, state, event);
  return events;
}

async function beginTry(
  db: Db,
  { ids }: Engine,
  { state, bead }: { state: Step['state']; bead: Bead & { claim: object } },
): Promise<NewEvent> {
  const { session, own } = state;
  const { swarm, worker, lead } = own;
  await insertTry(db, {
    id: `try_${uuidv7(ids)}`,
    session_id: session.id,
    swarm_id: swarm.session_id,
    project_id: swarm.project_id,
    bead_id: bead.id,
    fence: (bead.claim as { fence: number }).fence,
    // As it is now: what was merged since the decision may be in the files that have just become free.
    start_sha: (await getControl(db, lead.id)).head_sha ?? lead.base_sha,
  });
  const data = { bead: bead.id, title: bead.title, worker: worker!.mail_name! };
  const [event] = await reportToLead(db, state, { type: 'bead.taken', data });
  return event!;
}

/** What nobody works on is open for others: the worker is lost, or the bead is not its own by now. */
export async function releaseBead(engine: Engine, { state, token }: Step): Promise<void> {
  const { session, own } = state;
  await act(engine.trace, 'release_bead', {
    perform: () =>
      engine.store.tx(
        'release_bead',
        async (db) => {
          for (const one of own.orphans) await releaseTry(db, one, 'Nobody works on it.');
          const data = { beads: own.orphans.map(({ bead_id: id }) => id) };
          await appendEvents(db, session.id, [{ type: 'bead.released', data }], { token });
        },
        { session: session.id },
      ),
  });
}

/** Ends a try and its claim, if that still holds, with what its worker has reserved. */
export async function releaseTry(db: Db, one: BeadTry, reason: string): Promise<void> {
  await releaseIfOurs(db, one, 'open');
  await endAs(db, { sessionId: one.session_id });
  await updateTry(db, one.id, { status: 'released', reason });
}
