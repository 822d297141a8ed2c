/** Reading: nothing here changes or adopts anything. */

import { type Trust, trustOf } from '../domain/check-words.ts';
import { isStoreAway, PulseError } from '../domain/errors.ts';
import type { PulseEvent } from '../domain/events.ts';
import { DEFAULT_PATIENCE_MS, isServiceFailure } from '../domain/failures.ts';
import { beginsStep, type Doing, doingOf, type Seen, STEP_EVENTS } from '../domain/phase.ts';
import type { Redactor } from '../domain/redact.ts';
import { DEFAULT_TIMING } from '../engine/engine.ts';
import type { Unresolved } from '../loops/workflow/unresolved.ts';
import { listUnresolved } from '../loops/workflow/unresolved-rows.ts';
import { lastSeqOf, newestEvents, readEvents } from '../store/events.ts';
import { type Figures, lookAtFigures } from '../store/figures.ts';
import { findIteration, type Iteration, listIterations, newestIteration } from '../store/iterations.ts';
import { listJudgements, newestJudgement, type StoredJudgement } from '../store/judgements.ts';
import { readSessionLease, type SessionLease } from '../store/leases.ts';
import { countUnread } from '../store/notes.ts';
import {
  getControl,
  getSession,
  listSessions,
  type Session,
  type SessionFilter,
  type SessionRequest,
  type SessionSettings,
} from '../store/sessions.ts';
import type { Db } from '../store/store.ts';
import { findTurn, type StoredTurn, sessionTurns } from '../store/turns.ts';
import { listVerifications, type StoredVerification } from '../store/verifications.ts';
import type { Operations } from './context.ts';

/** As much of it as reading sessions takes (reader.ts has no more). */
export interface Reading {
  engine: Pick<Operations['engine'], 'store' | 'owners'>;
  redactor: Redactor;
}

/** `none`: nobody drives it; a running session then needs `pulse resume`. */
export type RunnerState = 'alive' | 'elsewhere' | 'none';

export async function runnerState({ engine }: Reading, sessionId: string): Promise<RunnerState> {
  return holderOf(await engine.store.read((db) => readSessionLease(db, sessionId)), engine.owners);
}

/** Who drives the session that has this lease. */
export function holderOf(
  { owner, isOver, overForMs }: Omit<SessionLease, 'token'>,
  owners: Reading['engine']['owners'],
): RunnerState {
  if (owner === null) return 'none';
  const state = owners(owner);
  if (state === 'dead') return 'none';
  if (state === 'elsewhere') return isOver ? 'none' : 'elsewhere';
  // A process may live and yet have given this session up; one that was only held up speaks within two heartbeats.
  return overForMs > 2 * DEFAULT_TIMING.heartbeatMs ? 'none' : 'alive';
}

export interface SessionView {
  session: Session;
  iterations: Iteration[];
  /** Set while it waits for a service or for the end of a usage limit. */
  waiting: Waiting | null;
  /** What a workflow's pulses were accepted with although it was not resolved. */
  unresolved: Unresolved[];
  /** What happens in it at this moment; `null`: nothing. */
  doing: Doing | null;
  /** Of its newest claim; `null`: none was judged. */
  judgement: StoredJudgement | null;
  /** The commit that its work stands at; `null`: it has not begun. */
  head: string | null;
  /** What it was asked for and has not done yet: `pause` once its iteration is over, `stop` at once. */
  request: SessionRequest | null;
  /** Notes that no agent has got to read. */
  unreadNotes: number;
  /** Where its goal came from. */
  issue: NonNullable<SessionSettings['issue']> | null;
  from: string | null;
}

export interface Waiting {
  agent: string;
  failureClass: string;
  /** When the first try failed. */
  since: string | null;
  until: string;
  /** How long it waits in all; `null`: that is told by the limit itself. */
  patienceMs: number | null;
}

/** The session alone: its iterations may be long. */
export async function viewSessionAlone({ engine, redactor }: Operations, id: string): Promise<Session> {
  return redactor.redactJson(await engine.store.read((db) => getSession(db, id)));
}

export async function viewSession({ engine, redactor }: Reading, id: string): Promise<SessionView> {
  return engine.store.read(async (db) => {
    const session = await getSession(db, id);
    const waiting = await waitingOf(db, session);
    const unresolved = (await listUnresolved(db, [session.id])).get(session.id) ?? [];
    const iterations = await listIterations(db, session.id);
    const doing = await readDoing(db, session);
    const judgement = await newestJudgement(db, session.id);
    const { head_sha: head, settings, request } = await getControl(db, session.id);
    const unreadNotes = (await countUnread(db, [session.id])).get(session.id) ?? 0;
    const { issue = null, from = null } = settings;
    return redactor.redactJson({
      ...{ session, iterations, waiting, unresolved, doing, judgement, head },
      ...{ issue, from, request, unreadNotes },
    });
  });
}

export async function readDoing(
  db: Db,
  { id, status }: Pick<Session, 'id' | 'status'>,
): Promise<Doing | null> {
  return status === 'running' ? doingOf(await readSeen(db, id)) : null;
}

/** So many tell what was last seen. */
const EVENTS_READ = 20;

/** Only behind an agent that has told much is it looked for where its step began. */
export async function readSeen(db: Db, id: string): Promise<Seen> {
  const newestFirst = await newestEvents(db, id, EVENTS_READ);
  const near = newestFirst.find(beginsStep);
  if (near || newestFirst.length < EVENTS_READ) return { newestFirst, began: near ?? null };
  const seq = await lastSeqOf(db, id, STEP_EVENTS);
  const [began = null] = seq === 0 ? [] : await readEvents(db, id, { after: seq - 1, limit: 1 });
  return { newestFirst, began };
}

export async function waitingOf(
  db: Db,
  { id, status, agent, resume_at: until }: Session,
): Promise<Waiting | null> {
  if (status !== 'running' || until === null) return null;
  const { counters, settings } = await getControl(db, id);
  const { failureClass = 'network', since = null } = counters.waiting ?? {};
  const patienceMs = isServiceFailure(failureClass) ? (settings.patienceMs ?? DEFAULT_PATIENCE_MS) : null;
  return { agent, failureClass, since, until, patienceMs };
}

export interface IterationView {
  iteration: Iteration;
  verifications: StoredVerification[];
}

export async function viewIteration(
  { engine, redactor }: Operations,
  id: string,
  number: number,
): Promise<IterationView> {
  return engine.store.read(async (db) => {
    const session = await getSession(db, id);
    const iteration = await findIteration(db, session.id, number);
    if (!iteration) {
      throw new PulseError('not_found', `Session ${session.id} has no iteration ${number}.`, {
        hint: `It is at iteration ${session.current_iteration}.`,
      });
    }
    return redactor.redactJson({ iteration, verifications: await listVerifications(db, session.id, number) });
  });
}

/** The evidence: what Pulse itself ran, oldest first. */
export async function viewVerifications(
  { engine, redactor }: Operations,
  id: string,
): Promise<StoredVerification[]> {
  return engine.store.read(async (db) => {
    const session = await getSession(db, id);
    return redactor.redactJson(await listVerifications(db, session.id));
  });
}

export interface EvidenceView {
  trust: Trust | null;
  verifications: StoredVerification[];
  judgements: StoredJudgement[];
}

/** What Pulse itself ran, and what the referee made of it. */
export async function viewEvidence({ engine, redactor }: Operations, id: string): Promise<EvidenceView> {
  return engine.store.read(async (db) => {
    const session = await getSession(db, id);
    return redactor.redactJson({
      trust: trustOf(session),
      verifications: await listVerifications(db, session.id),
      judgements: await listJudgements(db, session.id),
    });
  });
}

export function viewFigures({ engine }: Operations): Promise<Figures> {
  return lookAtFigures(engine.store);
}

export async function viewSessions({ engine, redactor }: Reading, filter: SessionFilter): Promise<Session[]> {
  return redactor.redactJson(await engine.store.read((db) => listSessions(db, filter)));
}

export interface ContextView {
  session: Session;
  /** The newest, with its brief (`task_content`) and how its anchor was found; `null` before the first. */
  iteration: Iteration | null;
  /** The turn that iteration's context starts at. */
  anchor: StoredTurn | null;
  /** The newest of the session, oldest first. */
  turns: StoredTurn[];
}

/** What the newest iteration was told, and what was said so far. */
export async function viewContext(
  { engine, redactor }: Operations,
  id: string,
  { maxTurns }: { maxTurns: number },
): Promise<ContextView> {
  return engine.store.read(async (db) => {
    const session = await getSession(db, id);
    const iteration = await newestIteration(db, session.id);
    const anchorId = iteration?.anchor_turn_id;
    const { project_id } = await getControl(db, session.id);
    return redactor.redactJson({
      session,
      iteration,
      anchor: anchorId ? await findTurn(db, project_id, anchorId) : null,
      turns: await sessionTurns(db, session.id, maxTurns),
    });
  });
}

export interface FollowOptions {
  after?: number;
  signal?: AbortSignal;
  /** Asked whenever nothing new has come for a while; `true` ends the following. */
  onQuiet?: (session: Session, request: SessionRequest | null) => Promise<boolean>;
  /** Called when the store is away; following continues when it is back. Without it the absence is thrown. */
  onAway?: (error: PulseError) => void;
}

const QUIET_MS = 1_000;
/** A runner that still holds its session after this long is not waited for. */
const CLEARED_WITHIN_MS = 5_000;

/** Every event from `after` on, in order, as it is written; ends when the session has stopped, all was told and its runner has cleared up. */
export async function* followEvents(
  operations: Operations,
  sessionId: string,
  { after = 0, signal, onQuiet, onAway }: FollowOptions = {},
): AsyncGenerator<PulseEvent> {
  const { engine } = operations;
  const { store, clock } = engine;
  const waitForStore = async (error: unknown): Promise<void> => {
    if (!onAway || !isStoreAway(error)) throw error;
    onAway(error);
    await clock.sleep(QUIET_MS, signal);
  };
  using listener = engine.bell.listen(sessionId);
  let clearedBy = Date.now() + CLEARED_WITHIN_MS;
  let seen = after;
  while (!signal?.aborted) {
    const look = await store
      .read(async (db) => ({
        session: await getSession(db, sessionId),
        events: await readEvents(db, sessionId, { after: seen }),
        request: (await getControl(db, sessionId)).request,
      }))
      .catch(waitForStore);
    if (!look) continue;
    const { session, events } = look;
    for (const event of events) {
      seen = event.seq;
      yield event;
    }
    if (events.length > 0) continue;
    if (session.status !== 'running' && session.status !== 'pending') {
      if (Date.now() > clearedBy || (await runnerState(operations, sessionId)) === 'none') return;
      await listener.wait(100, signal);
      continue;
    }
    clearedBy = Date.now() + CLEARED_WITHIN_MS;
    const isLeft = onQuiet && (await onQuiet(session, look.request).catch(waitForStore));
    if (isLeft) return;
    await listener.wait(QUIET_MS, signal);
  }
}
