/** What a person does with a swarm: start it, look at it, stop it. */
import { ensureAgent } from '../../../coordination/mail/agents.ts';
import { sendMessage } from '../../../coordination/mail/messages.ts';
import { PulseError } from '../../../domain/errors.ts';
import type { IdSource } from '../../../domain/ids.ts';
import type { Doing } from '../../../domain/phase.ts';
import type { Operations } from '../../../operations/context.ts';
import { pause } from '../../../operations/control.ts';
import type { InputOf } from '../../../operations/fields.ts';
import type { CallerOptions } from '../../../operations/operation.ts';
import { openTrustedProject } from '../../../operations/project.ts';
import { type Started, startSession } from '../../../operations/start.ts';
import { readDoing } from '../../../operations/view.ts';
import { getSession, listChildren, type Session } from '../../../store/sessions.ts';
import type { Db } from '../../../store/store.ts';
import type { Handoff } from '../files/handoff-payload.ts';
import { listHandoffs, reassignHandoff } from '../files/handoffs.ts';
import { swarmMail } from '../files/mail-texts.ts';
import { readOnboarding } from '../files/onboarding.ts';
import { readToolingStatus } from '../files/tooling-status.ts';
import { type Bead, EPIC, featureOf } from '../graph/bead.ts';
import { bounceIncomplete, PULSE_SENDER } from '../graph/bounce.ts';
import { closeDoneEpics } from '../graph/close-epics.ts';
import { getBead, listBeads, lockProject } from '../graph/rows.ts';
import { type HeldByOthers, lookNext } from '../worker/held-files.ts';
import { nicknameOf, topicOf } from '../worker/model.ts';
import { refuseSecondSwarm } from '../worker/one-swarm.ts';
import { findPassing, passTry } from '../worker/reassign-try.ts';
import {
  type BeadTry,
  type BeadWorker,
  findSwarm,
  insertSwarm,
  listTries,
  listWorkers,
  type Swarm,
} from '../worker/rows.ts';
import type * as definitions from './swarm-definitions.ts';

type SwarmInput = InputOf<typeof definitions.start.fields> & CallerOptions;

const USUAL_WORKERS = 2;
const COORDINATOR = 'coordinator';

/** `found`: the session whose findings the beads are. */
export async function startSwarm(
  operations: Operations,
  input: SwarmInput,
  { found }: { found?: string } = {},
): Promise<Started> {
  const { epic: epicId, workers, standalone, coordinator = COORDINATOR, hint, within, ...start } = input;
  const { engine } = operations;
  const project = await openTrustedProject(operations, input);
  const { projectKey: projectId, root } = project.repository;
  await requireOnboarding(root);
  const isAlone = standalone ?? (await readToolingStatus(root))?.recommended_mode === 'single-worker';
  if (project.config.values.labels.length > 0)
    throw new PulseError(
      'invalid_config',
      'A swarm works on the host of its runner: it takes no labels yet.',
      {
        hint: 'Take `labels` out of the config for this repository.',
      },
    );
  const epic = await engine.store.read((db) => getBead(db, projectId, epicId));
  if (epic.type !== EPIC)
    throw new PulseError('invalid_input', `${epic.id} is a bead of type ${epic.type}, not an epic.`, {
      hint: 'pulse bead list shows the epics of this project.',
    });
  if (standalone && workers !== undefined && workers > 1)
    throw new PulseError('usage', 'A standalone swarm has one worker.', { hint: 'Leave --workers out.' });
  const goal = epic.body.trim() === '' ? epic.title : `${epic.title}\n\n${epic.body.trim()}`;
  return startSession(
    operations,
    { ...start, kind: 'beads', goal, verify: [], maxIterations: 1_000_000 },
    {
      project,
      hasOwnChecks: true,
      implements: found,
      within: async (db, sessionId) => {
        const lock = await lockProject(db, projectId);
        await refuseSecondSwarm(db, { session_id: sessionId, project_id: projectId, epic: epic.id });
        await ensureAgent(db, projectId, coordinator);
        const feature = featureOf(epic);
        const count = isAlone ? 1 : (workers ?? USUAL_WORKERS);
        const swarm = { epic: epic.id, coordinator, feature, hint: hint ?? null };
        if (!isAlone) await announce(db, { projectId, ids: engine.ids }, { ...swarm, count });
        await closeDoneEpics(db, lock, epic.id);
        await bounceIncomplete(db, lock, { epic: epic.id, coordinator, ids: engine.ids });
        await insertSwarm(db, {
          session_id: sessionId,
          project_id: projectId,
          epic: epic.id,
          feature,
          mode: isAlone ? 'standalone' : 'worker',
          workers: count,
          coordinator,
          hint: hint ?? null,
        });
        await within?.(db, sessionId);
      },
    },
  );
}

/**
 * The swarm's coordination message. None of its workers has a name in mail yet: they find it on the thread and the topic,
 * and it is nobody's in particular.
 */
async function announce(
  db: Db,
  { projectId: project, ids }: { projectId: string; ids: IdSource },
  { count, ...swarm }: Pick<Swarm, 'epic' | 'coordinator' | 'feature' | 'hint'> & { count: number },
): Promise<void> {
  await ensureAgent(db, project, PULSE_SENDER);
  const nicknames = Array.from({ length: count }, (_, index) => nicknameOf(index + 1));
  const topic = topicOf(swarm.epic);
  const place = { project, from: swarm.coordinator, to: [PULSE_SENDER], threadId: swarm.epic, topic, ids };
  await sendMessage(db, { ...place, ...swarmMail({ ...swarm, topic, nicknames }) });
}

/** What a worker must know of the repository was written by this version of Pulse. */
export async function requireOnboarding(root: string): Promise<void> {
  const state = await readOnboarding(root);
  if (state === 'current') return;
  const what = state === 'missing' ? 'is missing' : 'was written by another version of Pulse';
  throw new PulseError('invalid_config', `.pulse/onboarding.json ${what}.`, {
    hint: 'pulse init writes it.',
  });
}

export interface SwarmRows {
  session: Session;
  swarm: Swarm;
  workers: (BeadWorker & { session: Session | null; doing: Doing | null })[];
  tries: BeadTry[];
  /** Of the epic, oldest first. */
  beads: Bead[];
  /** Those that could be worked on, but for files that others have reserved. */
  held: HeldByOthers[];
}

export async function readSwarm({ engine: { store } }: Operations, id: string): Promise<SwarmRows> {
  return store.read(async (db) => {
    const session = await getSession(db, id);
    const swarm = await findSwarm(db, session.id);
    if (!swarm)
      throw new PulseError(
        'invalid_input',
        `Session ${session.id} is no swarm: it is of kind ${session.kind}.`,
        {
          hint: '`pulse swarm start --epic E` starts one.',
        },
      );
    const children = await listChildren(db, session.id);
    const workers: SwarmRows['workers'] = [];
    for (const worker of await listWorkers(db, session.id)) {
      const child = children.find(({ id: one }) => one === worker.session_id) ?? null;
      workers.push({ ...worker, session: child, doing: child && (await readDoing(db, child)) });
    }
    const isAtWork = session.status === 'running';
    const { held } = isAtWork ? await lookNext(store, db, { swarm, workers }) : { held: [] };
    return {
      ...{ session, swarm, workers, held },
      tries: await listTries(db, session.id),
      beads: (await listBeads(db, swarm.project_id, { epic: swarm.epic })).filter(
        ({ type }) => type !== EPIC,
      ),
    };
  });
}

export async function stopSwarm(
  operations: Operations,
  id: string,
  decision: Parameters<typeof pause>[2],
): Promise<Session> {
  const { session } = await readSwarm(operations, id);
  return pause(operations, session.id, { ...decision, now: true });
}

/** All of the project: a handoff is its owner's, also one that paused in another swarm. */
export async function readHandoffs(operations: Operations, id: string): Promise<Handoff[]> {
  const { session } = await readSwarm(operations, id);
  return operations.redactor.redactJson(await listHandoffs(session.project_path));
}

export async function reassign(
  operations: Operations,
  id: string,
  { from, to, reason, actor }: { from: string; to: string; reason?: string; actor: string },
): Promise<{ session: Session; handoff: Handoff }> {
  const { session, swarm } = await readSwarm(operations, id);
  const { store } = operations.engine;
  if (from === to)
    throw new PulseError('invalid_input', `${from.slice(0, 200)} has it already.`, {
      hint: 'Name another owner.',
    });
  const passing = await store.read((db) => findPassing(db, swarm, { from, to }));
  const handoff = await reassignHandoff(session.project_path, {
    ...{ from, to, reason: reason ?? `Reassigned by ${actor}` },
    at: new Date(operations.engine.ids.nowMs()).toISOString(),
  });
  if (passing) await store.tx('reassign', (db) => passTry(db, swarm, passing), { session: session.id });
  return { session, handoff: operations.redactor.redactJson(handoff) };
}
