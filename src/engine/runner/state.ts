import { ownerState, parseOwner } from '../../process/owner.ts';
import { findTask, glanceAtAttempt, readTaskLease, type Task } from '../../store/inbox.ts';
import { isLive, recentIterations, treeSeen } from '../../store/iterations.ts';
import { findSession, getControl, withSharedBudget } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import { countHoldChanges, isHeldHere } from '../attempt/held-here.ts';
import type { LeaseJudge } from '../attempt/lease-judge.ts';
import type { LiveIteration, SessionState } from '../loop.ts';
import type { Loops } from '../loops.ts';

/** As far back as any decision looks: five for stagnation, the rest is room for a window that a resume cut. */
const RECENT = 8;

export type OwnerState = (owner: string) => 'alive' | 'dead' | 'elsewhere';

/** Who asks, and how it knows of others. */
export interface Self {
  owner: string;
  owners: OwnerState;
  host: string;
  leases: LeaseJudge;
  loops: Loops;
}

/** On its own host a dead owner is known at once; elsewhere only the lease tells. */
export const hostOwnerState: OwnerState = (owner) => ownerState(parseOwner(owner));

/** Folds the rows into what `decide` sees. Its cost does not grow with the session's length. */
export async function loadState(
  db: Db,
  sessionId: string,
  { owner, owners, host, leases, loops }: Self,
): Promise<SessionState> {
  const holdChanges = countHoldChanges();
  const session = await withSharedBudget(db, (await findSession(db, sessionId))!);
  const control = await getControl(db, sessionId);
  const iterations = await recentIterations(db, sessionId, RECENT + 1);
  const newest = iterations[0];
  const own = await loops.of(session).load?.(db, { session, control, host });
  if (!newest || !isLive(newest)) {
    return {
      session,
      control,
      recent: iterations.slice(0, RECENT),
      live: null,
      isNewTree: false,
      own,
    };
  }
  const task = (await findTask(db, newest.inbox_task_id!))!;
  const live: LiveIteration = {
    iteration: newest,
    task,
    lease: await leaseOf(db, { ...task, sessionId }, { owner, owners, leases, holdChanges }),
    isWaiting: task.status === 'pending' && (session.resume_at !== null || task.queued_at !== null),
  };
  const tree = task.result?.stage === 'reported' && task.result.commit ? task.result.tree : null;
  return {
    session,
    control,
    recent: iterations.slice(1),
    live,
    isNewTree: tree !== null && !(await treeSeen(db, sessionId, tree)),
    own,
  };
}

/**
 * Whether the attempt that `seen` waits for is still executed by the same owner, and nobody has asked for anything
 * since. Every batch of an agent's events wakes the runner: this answers with one small row, and only where it says no
 * is there anything to decide.
 */
export async function isStillWaiting(db: Db, seen: SessionState, self: Self): Promise<boolean> {
  const { session, control, live } = seen;
  if (live?.lease !== 'held') return false;
  const holdChanges = countHoldChanges();
  const now = await glanceAtAttempt(db, live.task.id);
  return (
    now !== null &&
    now.sessionStatus === session.status &&
    now.request === control.request &&
    now.status === live.task.status &&
    now.token === live.task.token &&
    now.stage === (live.task.result?.stage ?? null) &&
    (await leaseOf(db, { ...now, id: live.task.id, sessionId: session.id }, { ...self, holdChanges })) ===
      'held'
  );
}

/**
 * What this process's own daemon holds is never lost to it, even if a sleeping machine let the lease run out; what it
 * had to give up in the middle, it has given back.
 */
async function leaseOf(
  db: Db,
  task: Pick<Task, 'id' | 'status' | 'token' | 'lease_owner'> & { sessionId: string },
  { owner, owners, leases, holdChanges }: Pick<Self, 'owner' | 'owners' | 'leases'> & { holdChanges: number },
): Promise<LiveIteration['lease']> {
  if (task.status !== 'running') return 'none';
  if (task.lease_owner === null) return 'lost';
  if (task.lease_owner === owner) return isHeldHere(owner, task, holdChanges) ? 'held' : 'lost';
  const holder = owners(task.lease_owner);
  if (holder === 'dead') return 'lost';
  const seen = await readTaskLease(db, task.id);
  return leases.mayTake({ key: `${task.id}.${task.token}`, holder, ...seen }) ? 'lost' : 'held';
}
