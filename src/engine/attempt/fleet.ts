/** A daemon of a fleet: takes attempts by label, from any session, and works on them in clones of its own. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttemptSpec } from '../../domain/attempt.ts';
import { isPulseError, isStoreAway } from '../../domain/errors.ts';
import { TERMINAL_STATUSES } from '../../domain/status.ts';
import {
  announceDaemon,
  type DaemonIdentity,
  findLabelledWork,
  setDaemonHost,
  withdrawDaemon,
} from '../../store/daemons.ts';
import { endedTasks, findTask, holdsTask, type Task } from '../../store/inbox.ts';
import { recentIterations } from '../../store/iterations.ts';
import { findSession, getControl } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import { act } from '../actions.ts';
import type { Engine } from '../engine.ts';
import type { LastAttempt } from '../ports.ts';
import { INBOX } from '../wake/bells.ts';
import { ringWaiting, slotsOf } from './agent-slots.ts';
import { claimAttempt } from './claim.ts';
import { holdAttempt } from './held-attempt.ts';
import { claimHere } from './held-here.ts';

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
  const { bell, clock, store, timing } = engine;
  const self: DaemonIdentity = { owner: engine.owner, host, labels };
  const held = new Map<string, { sessionId: string; control: AbortController; done: Promise<void> }>();
  const tidying = createTidying(engine, options);
  const leaving = new AbortController();
  const refused = new Set<string>();
  const refuse = (sessionId: string, error: unknown): void => {
    if (!refused.has(sessionId)) say(`${sessionId}: cannot be taken: ${describe(error)}`);
    refused.add(sessionId);
  };
  /** Sessions that are pinned to this host wait for it only while it takes work. */
  let isTakingWork = true;
  using listener = bell.listen(INBOX);
  const announcing = announce(engine, {
    self,
    isDue: () => isTakingWork,
    signal: AbortSignal.any([signal, leaving.signal]),
  });
  try {
    for (let failures = 0; !signal.aborted; ) {
      try {
        const task = held.size < concurrency ? await claimNext(engine, self, refuse) : null;
        isTakingWork = true;
        failures = 0;
        if (task) hold(task);
        else {
          await tidying.tidy(new Set([...held.values()].map(({ sessionId }) => sessionId)));
          await listener.wait(timing.pollMs, signal);
        }
      } catch (error) {
        // Agents go on: what went wrong is the look for more work.
        isTakingWork = false;
        failures += 1;
        if (failures === 1) say(`cannot take work: ${describe(error)}; trying again`);
        await clock.sleep(Math.min(1_000 * 2 ** (failures - 1), LONGEST_PAUSE_MS), signal);
      }
    }
  } finally {
    leaving.abort();
    for (const { control } of held.values()) control.abort('shutdown');
    await Promise.all([...held.values()].map(({ done }) => done));
    await announcing;
    // Without the word its announcement runs out by itself.
    await store.tx('withdraw', (db) => withdrawDaemon(db, self.owner)).catch(() => undefined);
  }

  function hold(task: Task): void {
    const control = new AbortController();
    const done = work(task, control)
      .catch((error: unknown) => say(`${task.session_id}: ${describe(error)}`))
      .finally(() => {
        held.delete(task.id);
        tidying.lookSoon();
        bell.ring(task.session_id);
        bell.ring(INBOX);
        void ringWaiting(engine);
      });
    held.set(task.id, { sessionId: task.session_id, control, done });
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

const LONGEST_PAUSE_MS = 60_000;

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The attempt as it is here: the project is a clone, the worktree this daemon's. */
function localSpec({ spec, session_id: sessionId }: Task, { clones, worktrees }: FleetOptions): AttemptSpec {
  return {
    ...spec,
    projectPath: join(clones, spec.projectKey),
    worktreePath: join(worktrees, spec.projectKey, sessionId),
  };
}

interface Tidying {
  /** Removes the worktrees here whose session has ended; those that can be resumed stay. */
  tidy(busy: ReadonlySet<string>): Promise<void>;
  /** A session may have ended: the next `tidy` looks at once. */
  lookSoon(): void;
}

/** Nobody waits for an ended worktree to go, and each look asks the store about every one that is here. */
const TIDY_MS = 30_000;
/** One that cannot be removed (a file of another user's) is left alone that long. */
const TIDY_AGAIN_MS = 3_600_000;

function createTidying(
  { store, workspace, clock, timing }: Engine,
  { worktrees, clones, host, say }: FleetOptions,
): Tidying {
  const endedOf = (ids: string[]) => store.read((db) => endedTasks(db, ids));
  const refusedUntilMs = new Map<string, number>();
  let nextMs = Number.NEGATIVE_INFINITY;

  async function tidyOne(project: string, sessionId: string): Promise<void> {
    const session = await store.read((db) => findSession(db, sessionId));
    if (!session || !TERMINAL_STATUSES.includes(session.status)) return;
    const here = { project_path: join(clones, project), worktree_path: join(worktrees, project, sessionId) };
    const last = await store.read((db) => lastHere(db, sessionId, host));
    const notices = await workspace.close({ ...session, ...here }, { last, endedOf });
    const kept = notices.find(({ type }) => type === 'worktree.kept');
    if (kept) throw new Error(String(kept.data?.reason));
  }

  return {
    lookSoon() {
      // Its runner settles it first.
      nextMs = Math.min(nextMs, clock.elapsedMs() + timing.pollMs);
    },
    async tidy(busy) {
      const nowMs = clock.elapsedMs();
      if (nowMs < nextMs) return;
      nextMs = nowMs + TIDY_MS;
      for (const project of await namesIn(worktrees)) {
        for (const sessionId of await namesIn(join(worktrees, project))) {
          if (busy.has(sessionId) || (refusedUntilMs.get(sessionId) ?? nowMs) > nowMs) continue;
          try {
            await tidyOne(project, sessionId);
          } catch (error) {
            if (!refusedUntilMs.has(sessionId))
              say(`${sessionId}: its worktree cannot be removed: ${describe(error)}`);
            refusedUntilMs.set(sessionId, nowMs + TIDY_AGAIN_MS);
          }
        }
      }
    },
  };
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

async function claimNext(
  engine: Engine,
  self: DaemonIdentity,
  onRefused: (sessionId: string, error: unknown) => void,
): Promise<Task | null> {
  const { store, trace, timing } = engine;
  const { owner, host } = self;
  const waiting = await store.read((db) => findLabelledWork(db, self));
  for (const session of waiting) {
    const claim = (): Promise<Task | null> =>
      store.tx(
        'claim',
        async (db) => {
          const claimed = await claimAttempt(db, {
            sessionId: session,
            owner,
            leaseMs: timing.leaseMs,
            works: engine.loops.works,
            ...slotsOf(engine),
          });
          if (claimed) await setDaemonHost(db, session, host);
          return claimed;
        },
        { session, isImpatient: true },
      );
    const task = await claimHere(engine, session, () =>
      act(trace, 'claim', { perform: () => claim().catch(nullIfBusy) }),
    ).catch((error: unknown) => {
      // One that cannot be read must not keep the others waiting.
      if (isStoreAway(error)) throw error;
      onRefused(session, error);
      return null;
    });
    if (task) return task;
  }
  return null;
}

/** If another process works on the session at this moment, that one claims it, or rings when it is done. */
function nullIfBusy(error: unknown): null {
  if (isPulseError(error, 'store_busy')) return null;
  throw error;
}

/** An abort or a pause takes the attempt away: a ring for the session makes this daemon look. */
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

interface Announcing {
  self: DaemonIdentity;
  isDue(): boolean;
  signal: AbortSignal;
}

async function announce(
  { store, clock, timing }: Engine,
  { self, isDue, signal }: Announcing,
): Promise<void> {
  while (!signal.aborted) {
    if (isDue()) {
      const say = (db: Db) => announceDaemon(db, self, timing.leaseMs);
      // A store that is away hears it at the next beat.
      await store.tx('announce', say, { isLease: true }).catch(() => undefined);
    }
    await clock.sleep(timing.heartbeatMs, signal);
  }
}
