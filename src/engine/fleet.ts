/** A daemon of a fleet: takes attempts by label, from any session, and works on them in clones of its own. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttemptSpec } from '../domain/attempt.ts';
import { isPulseError } from '../domain/errors.ts';
import { TERMINAL_STATUSES } from '../domain/status.ts';
import {
  announceDaemon,
  type DaemonIdentity,
  findLabelledWork,
  setDaemonHost,
  withdrawDaemon,
} from '../store/daemons.ts';
import { endedTasks, findTask, holdsTask, type Task } from '../store/inbox.ts';
import { recentIterations } from '../store/iterations.ts';
import { findSession, getControl } from '../store/sessions.ts';
import type { Db } from '../store/store.ts';
import { act } from './actions.ts';
import { claimAttempt } from './claim.ts';
import type { Engine } from './engine.ts';
import { holdAttempt } from './held-attempt.ts';
import type { LastAttempt } from './ports.ts';

/** What is rung when an attempt with labels waits. */
export const INBOX = 'inbox';

export interface FleetOptions {
  host: string;
  labels: readonly string[];
  /** How many attempts at once. */
  concurrency: number;
  clones: string;
  worktrees: string;
  say(text: string): void;
}

/** Until the signal aborts: then agents are ended, leases given back, and the sessions go on elsewhere. */
export async function runFleetDaemon(
  engine: Engine,
  options: FleetOptions,
  signal: AbortSignal,
): Promise<void> {
  const { host, labels, concurrency, say } = options;
  const self: DaemonIdentity = { owner: engine.owner, host, labels };
  const held = new Map<string, { sessionId: string; control: AbortController; done: Promise<void> }>();
  using listener = engine.bell.listen(INBOX);
  const announcing = announce(engine, self, signal);
  try {
    while (!signal.aborted) {
      const task = held.size < concurrency ? await claimNext(engine, self) : null;
      if (!task) {
        await tidy(engine, options, new Set([...held.values()].map(({ sessionId }) => sessionId)));
        await listener.wait(engine.timing.pollMs, signal);
        continue;
      }
      const control = new AbortController();
      const done = work(task, control)
        .catch((error: Error) => say(`${task.session_id}: ${error.message}`))
        .finally(() => {
          held.delete(task.id);
          engine.bell.ring(task.session_id);
          engine.bell.ring(INBOX);
        });
      held.set(task.id, { sessionId: task.session_id, control, done });
    }
  } finally {
    for (const { control } of held.values()) control.abort('shutdown');
    await Promise.all([...held.values()].map(({ done }) => done));
    await announcing;
    await engine.store.tx('withdraw', (db) => withdrawDaemon(db, self.owner));
  }

  async function work(task: Task, control: AbortController): Promise<void> {
    say(`${task.session_id}: iteration ${task.iteration_number}, attempt ${task.attempt}`);
    const over = new AbortController();
    const watching = watchToken(engine, { task, control, over: over.signal });
    try {
      await holdAttempt(engine, { task, spec: localSpec(task, options), control });
    } finally {
      over.abort();
      await watching;
    }
  }
}

/** The attempt as it is here: the project is a clone, the worktree this daemon's. */
function localSpec({ spec, session_id: sessionId }: Task, { clones, worktrees }: FleetOptions): AttemptSpec {
  return {
    ...spec,
    projectPath: join(clones, spec.projectKey),
    worktreePath: join(worktrees, spec.projectKey, sessionId),
  };
}

/** Worktrees here whose session has ended go; those that can be resumed stay. */
async function tidy(
  { store, workspace }: Engine,
  { worktrees, clones, host }: FleetOptions,
  busy: ReadonlySet<string>,
): Promise<void> {
  const endedOf = (ids: string[]) => store.read((db) => endedTasks(db, ids));
  for (const project of await namesIn(worktrees)) {
    for (const sessionId of await namesIn(join(worktrees, project))) {
      const session = await store.read((db) => findSession(db, sessionId));
      if (!session || !TERMINAL_STATUSES.includes(session.status) || busy.has(sessionId)) continue;
      const here = {
        project_path: join(clones, project),
        worktree_path: join(worktrees, project, sessionId),
      };
      const last = await store.read((db) => lastHere(db, sessionId, host));
      await workspace.close({ ...session, ...here }, { last, endedOf });
    }
  }
}

/** What lies in a worktree here belongs to the newest attempt only if that was this host's. */
async function lastHere(db: Db, sessionId: string, host: string): Promise<LastAttempt | null> {
  const { daemon_host } = await getControl(db, sessionId);
  const [iteration] = daemon_host === host ? await recentIterations(db, sessionId, 1) : [];
  if (!iteration) return null;
  const { inbox_task_id: taskId } = iteration;
  return { iteration, task: taskId ? await findTask(db, taskId) : null };
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}

async function claimNext(engine: Engine, self: DaemonIdentity): Promise<Task | null> {
  const { store, trace, timing } = engine;
  const { owner, host } = self;
  const waiting = await store.read((db) => findLabelledWork(db, self));
  for (const session of waiting) {
    const claim = (): Promise<Task | null> =>
      store.tx(
        'claim',
        async (db) => {
          const claimed = await claimAttempt(db, { sessionId: session, owner, leaseMs: timing.leaseMs });
          if (claimed) await setDaemonHost(db, session, host);
          return claimed;
        },
        { session, isImpatient: true },
      );
    const task = await act(trace, 'claim', { perform: () => claim().catch(nullIfBusy) });
    if (task) return task;
  }
  return null;
}

/** Whoever is at work on the session in this moment claims it, or rings when it is done. */
function nullIfBusy(error: unknown): null {
  if (isPulseError(error, 'store_busy')) return null;
  throw error;
}

/** An abort or a pause takes the attempt away: whoever rings for the session makes this daemon look. */
async function watchToken(
  { bell, store }: Engine,
  { task, control, over }: { task: Task; control: AbortController; over: AbortSignal },
): Promise<void> {
  using listener = bell.listen(task.session_id);
  while (!over.aborted && !control.signal.aborted) {
    await listener.wait(5_000, over);
    const isOurs = over.aborted || (await store.read((db) => holdsTask(db, task)).catch(() => true));
    if (!isOurs) control.abort('fenced');
  }
}

async function announce(
  { store, clock, timing }: Engine,
  self: DaemonIdentity,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    // A store that does not answer is borne; without the word another host may take the sessions over.
    await store.tx('announce', (db) => announceDaemon(db, self, timing.leaseMs)).catch(() => undefined);
    await clock.sleep(timing.heartbeatMs, signal);
  }
}
