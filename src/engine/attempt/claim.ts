import type { Work } from '../../domain/attempt.ts';
import { breakerKey } from '../../domain/breaker.ts';
import { DEFAULT_PATIENCE_MS } from '../../domain/failures.ts';
import {
  type FullHost,
  findSlot,
  type Host,
  holdSlot,
  joinLine,
  leaveLine,
  lockSlots,
} from '../../store/agent-slots.ts';
import { type ClosedWay, passBreaker } from '../../store/breakers.ts';
import { appendEvents } from '../../store/events.ts';
import { claimTask, postponeTask, setTaskReservation, type Task, unclaimTask } from '../../store/inbox.ts';
import { recentCosts, startIteration } from '../../store/iterations.ts';
import {
  budgetOwner,
  findSession,
  getControl,
  reserveSpending,
  type Session,
  type SessionControl,
  updateControl,
  updateSession,
  withSharedBudget,
} from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import { reservationUsd } from '../runner/budget.ts';
import type { WorkKinds } from '../work.ts';

export interface Claim {
  sessionId: string;
  owner: string;
  leaseMs: number;
  works: WorkKinds;
  host: Host;
  /** How many agents this host has at once, where the session does not say. */
  maxAgents: number;
}

/** Takes the session's due attempt, marks its iteration running and sets money aside: one transaction. */
export async function claimAttempt(
  db: Db,
  { sessionId, owner, leaseMs, works, host, maxAgents }: Claim,
): Promise<Task | null> {
  const found = await findSession(db, sessionId);
  if (found?.status !== 'running') return null;
  const session = await withSharedBudget(db, found);
  const task = await claimTask(db, { owner, leaseMs, sessionId });
  if (!task) return null;
  const { kind, work } = works.of(task.spec);
  const hasAgent = !kind.runsWithoutAgent?.(work);
  // An agent that has run already asks and spends nothing more.
  const usesService = hasAgent && task.result === null;
  const control = await getControl(db, sessionId);
  const way = usesService
    ? await passBreaker(db, breakerKey(task.spec), { isUrgent: mustTryNow(control) })
    : null;
  if (way) {
    await leaveLine(db, task.id);
    await waitForService(db, { task, way, control });
    return null;
  }
  if (hasAgent) {
    const most = control.settings.maxAgents ?? maxAgents;
    const full = await takeSlot(db, { task, host, maxAgents: most });
    if (full) {
      await waitForSlot(db, { task, full, host });
      return null;
    }
  }
  const reserved = usesService && session.budget_usd !== null ? await reservation(db, session) : 0;
  if (reserved > 0 && !(await reserveSpending(db, budgetOwner(session), reserved))) {
    await unclaimTask(db, task);
    await leaveLine(db, task.id);
    return null;
  }
  await setTaskReservation(db, task, reserved);
  const { counters } = control;
  if (usesService && counters.probes > 0)
    await updateControl(db, sessionId, { counters: { ...counters, probes: 0 } });
  await startIteration(db, { sessionId, number: task.iteration_number });
  if (session.resume_at !== null) await updateSession(db, sessionId, { resume_at: null });
  await appendEvents(db, sessionId, [
    {
      type: 'iteration.started',
      iteration: task.iteration_number,
      data: {
        attempt: task.attempt,
        agent: task.spec.agent,
        taskId: task.id,
        ...(hasAgent ? {} : { byPulse: true }),
      },
    },
  ]);
  if (!kind.load) return { ...task, reserved_usd: reserved };
  const loaded = (await kind.load(db, work, { owner })) as Work;
  return { ...task, reserved_usd: reserved, spec: { ...task.spec, work: loaded } };
}

/** An agent that has run already may have to be asked once more, or be judged by another: it has a slot too. */
async function takeSlot(
  db: Db,
  { task, host, maxAgents }: { task: Task; host: Host; maxAgents: number },
): Promise<FullHost | null> {
  await lockSlots(db, host);
  const full = await findSlot(db, { host, taskId: task.id, maxAgents });
  if (!full) await holdSlot(db, task.id, host.name);
  return full;
}

/** It is told once. Who waits in a fleet has no place in line: any daemon may take the attempt. */
async function waitForSlot(
  db: Db,
  { task, full, host }: { task: Task; full: FullHost; host: Host },
): Promise<void> {
  await unclaimTask(db, task);
  if (task.labels.length > 0) return leaveLine(db, task.id);
  if (!(await joinLine(db, task.id, host.name))) return;
  await appendEvents(db, task.session_id, [
    { type: 'agent.queued', iteration: task.iteration_number, data: { agent: task.spec.agent, ...full } },
  ]);
}

/** By what the last ten cost; the one that begins now has cost nothing yet. */
async function reservation(db: Db, session: Session): Promise<number> {
  return reservationUsd(session, await recentCosts(db, session.id, 11));
}

/** A person has just asked for it, or it has waited as long as it may: then its own try decides. */
function mustTryNow({ counters, settings }: SessionControl): boolean {
  return counters.probes > 0 || counters.serviceWaitMs >= patienceOf(settings);
}

function patienceOf({ patienceMs = DEFAULT_PATIENCE_MS }: SessionControl['settings']): number {
  return patienceMs;
}

/** As a back-off is: durable, part of the session's patience, and a pause takes effect at once. */
async function waitForService(
  db: Db,
  { task, way, control }: { task: Task; way: ClosedWay; control: SessionControl },
): Promise<void> {
  const { counters, settings } = control;
  const { failureClass, now } = way;
  const patienceMs = patienceOf(settings);
  const waitMs = Math.min(way.waitMs, patienceMs - counters.serviceWaitMs);
  const until = new Date(Date.parse(now) + waitMs).toISOString();
  const since = counters.waiting?.since ?? now;
  await postponeTask(db, task, until);
  await updateSession(db, task.session_id, { resume_at: until });
  await updateControl(db, task.session_id, {
    counters: {
      ...counters,
      serviceWaitMs: counters.serviceWaitMs + waitMs,
      waiting: { failureClass, since },
    },
  });
  await appendEvents(db, task.session_id, [
    {
      type: 'agent.waiting',
      iteration: task.iteration_number,
      data: { agent: task.spec.agent, failureClass, until, since, patienceMs },
    },
  ]);
}
