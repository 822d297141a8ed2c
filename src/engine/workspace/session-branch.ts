/** A session's head, its branch, and the end of its worktree. */
import type { NewEvent } from '../../domain/events.ts';
import { collectAttempts } from '../../git/gc.ts';
import { landCommit } from '../../git/landing.ts';
import { putCommitOnTop } from '../../git/put-on-top.ts';
import { attemptRef, publishAttempt, readRef } from '../../git/refs.ts';
import { fetchAttempt, pushAttempt, pushBranch } from '../../git/remote.ts';
import {
  advanceHead,
  dropHead,
  ensureHead,
  followHead,
  type HeadMoved,
  headRef,
  readStand,
  takeStand,
} from '../../git/session-head.ts';
import { haveSameTree } from '../../git/tree.ts';
import { removeWorktree } from '../../git/worktree.ts';
import { sweepDirectory, sweepRuns } from '../../process/sweep.ts';
import type { Session } from '../../store/sessions.ts';
import { runsUntil } from '../attempt/held-attempt.ts';
import { worktreeKept } from '../attempt/notices.ts';
import type { Ending, LandingRequest, Workspace } from '../ports.ts';
import { saveLast } from './leftovers.ts';
import type { WorkspaceMeans } from './means.ts';

export type SessionBranch = Pick<
  Workspace,
  | 'createBranch'
  | 'readRef'
  | 'branchHead'
  | 'isUnchanged'
  | 'takeStand'
  | 'follow'
  | 'putOnTop'
  | 'land'
  | 'close'
>;

export function createSessionBranch(means: WorkspaceMeans): SessionBranch {
  const { git } = means;
  return {
    async createBranch(session, remote) {
      const to = session.base_sha;
      git.keepForCommits(session.project_path);
      // The branch of another session is there already; what a person commits on it meanwhile is met at the first landing.
      if (session.follows !== null) await ensureHead(git, { ...refsOf(session), to });
      else await advanceHead(git, { ...refsOf(session), from: null, to });
      if (remote) await pushBranch(git, { ...refsOf(session), remote, from: null, to });
    },
    readRef: ({ project_path: root }, ref) => readRef(git, root, ref),
    branchHead: (session) => readStand(git, standOf(session)),
    isUnchanged: ({ project_path: root, base_sha: from }, to) => haveSameTree(git, { root, from, to }),
    takeStand: (session) => takeStand(git, standOf(session)),
    follow: (session) => followHead(git, { ...refsOf(session), left: session.branch_lags_at }),
    async putOnTop({ project_path: root }, { taskId, to, onto, remote }) {
      const unit = await putCommitOnTop(git, { root, commit: to, onto });
      const commit = unit?.commit ?? to;
      if (unit) await publishAttempt(git, { root, taskId, commit });
      if (remote) await pushAttempt(git, { root, remote, taskId, commit, since: null });
      return unit;
    },
    land: (session, landing) => land(means, session, landing),
    close: (session, ending) => close(means, session, ending),
  };
}

async function land(
  { git }: WorkspaceMeans,
  session: Session,
  { head, name = {}, drop = [], dropBranch, taskId, left, remote }: LandingRequest,
): Promise<HeadMoved | null> {
  const { root } = refsOf(session);
  const over = [...drop, ...(taskId === null ? [] : [attemptRef(taskId)])];
  const isRemote = remote !== null && head !== null && taskId !== null;
  if (isRemote && (await readRef(git, root, headRef(session.id))) !== head.to)
    await fetchAttempt(git, { root, remote, taskId });
  const moved = await landCommit(git, { ...refsOf(session), head, left, name, drop: over, dropBranch });
  if (!isRemote || moved?.is !== 'moved') return moved;
  const { from, to } = head;
  const at = await pushBranch(git, { ...refsOf(session), remote, from, to, dropTask: taskId });
  return at === to ? moved : { is: 'moved', lag: moved.lag ?? { at, checkedOutIn: null } };
}

async function close(
  means: WorkspaceMeans,
  session: Session,
  { last, endedOf }: Ending,
): Promise<NewEvent[]> {
  const { git } = means;
  const { project_path: root, worktree_path: path } = session;
  const notices: NewEvent[] = [];
  if (last?.task) await sweepRuns(runsUntil(last.task.id, last.task.token));
  await sweepDirectory(path);
  try {
    notices.push(...(await saveLast(means, session, last)));
    await removeWorktree(git, { root, path, isOurs: true });
  } catch (error) {
    notices.push(worktreeKept(path, error));
  }
  const remote = last?.task?.spec.remote;
  await dropHead(git, refsOf(session)).catch(bear);
  // The next clean-up finds those that stay.
  await collectAttempts(git, { root, remotes: remote ? [remote] : [], ended: endedOf }).catch(bear);
  return notices;
}

function refsOf({ id: session, project_path: root, branch_name: branch }: Session) {
  return { root, session, branch };
}

function standOf(session: Session) {
  return { ...refsOf(session), isLagging: session.branch_lags_at !== null };
}

function bear(): void {
  // nothing depends on it
}
