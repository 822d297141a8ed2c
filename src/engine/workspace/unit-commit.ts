/** The commit that an attempt's work becomes, and the ref that it is found by until it is settled. */
import { cherryPickCommit } from '../../git/cherry-pick.ts';
import { commitUnit, findUnitCommit } from '../../git/commit.ts';
import { readGitDir } from '../../git/git-dir.ts';
import { openPrivateIndex } from '../../git/private-index.ts';
import { agentRef, attemptRef, deleteRefs, publishAttempt, readRef } from '../../git/refs.ts';
import { dropRemoteAttempt, pushAttempt } from '../../git/remote.ts';
import { stageAll } from '../../git/stage.ts';
import { keepSubmodules } from '../../git/submodules.ts';
import { submodulesKept, worktreeKept } from '../attempt/notices.ts';
import type { CommitAgainOn, HeldAttempt, UnitCommit, UnitMessage } from '../ports.ts';
import type { WorkKinds } from '../work.ts';
import { submodulesOf } from './leftovers.ts';
import type { WorkspaceMeans } from './means.ts';
import { mendWorktree } from './restore-worktree.ts';

export async function findCommit(
  { sandboxes, works }: WorkspaceMeans,
  { spec, sessionId, iteration, signal }: HeldAttempt,
): Promise<UnitCommit | null> {
  const worktree = spec.worktreePath;
  const trailers = trailersOf(works, { spec, sessionId, iteration });
  const own = await sandboxes.gitIn({ spec, signal });
  const found = await findUnitCommit(own, { worktree, startSha: works.gitOf(spec).parent, trailers });
  if (!found?.commit) return found;
  await using index = await openPrivateIndex(await readGitDir(worktree));
  const request = {
    worktree,
    against: found.commit,
    exclude: works.gitOf(spec).keepOut,
    indexFile: index.path,
  };
  return { ...found, leftOut: (await stageAll(own, request)).leftOut };
}

export async function commitWork(
  { git, sandboxes, works }: WorkspaceMeans,
  attempt: HeldAttempt,
  { subject, body, accepted }: UnitMessage,
): Promise<UnitCommit> {
  if (accepted) await mendWorktree({ git, sandboxes }, attempt);
  const own = await sandboxes.gitIn(attempt);
  // Where it fails here, it fails again at the end: then the worktree stays.
  const notices = await keepSubmodules(own, { ...submodulesOf(attempt), keeper: git }).then(
    submodulesKept,
    (error: unknown) => [worktreeKept(attempt.spec.worktreePath, error)],
  );
  const unit = await commitUnit(own, {
    ...unitOf(works, attempt),
    subject,
    body,
    tree: accepted?.tree,
    allowEmpty: Boolean(accepted),
  });
  const { leftOut = unit.leftOut } = accepted ?? {};
  return { ...unit, ...(leftOut ? { leftOut } : {}), ...(notices.length > 0 ? { notices } : {}) };
}

/** See `Workspace.commitAgain`. */
export async function commitAgain(
  { sandboxes, works }: WorkspaceMeans,
  attempt: HeldAttempt,
  { change, on }: { change: string; on?: CommitAgainOn },
): Promise<UnitCommit | null> {
  const { worktreePath: worktree } = attempt.spec;
  const own = await sandboxes.gitIn(attempt);
  const { subject, isApplied } = await cherryPickCommit(own, { worktree, change });
  if (!isApplied) return null;
  const unit = unitOf(works, attempt);
  if (!on) return commitUnit(own, { ...unit, subject });
  const { parent, trailers } = on;
  const place = { startSha: parent, beganAt: parent, trailers: { ...unit.trailers, ...trailers } };
  return commitUnit(own, { ...unit, ...place, subject });
}

export async function publishUnit(
  { git }: WorkspaceMeans,
  { spec, task, signal }: HeldAttempt,
  commit: string,
): Promise<void> {
  const { projectPath: root, remote } = spec;
  await publishAttempt(git, { root, taskId: task.id, commit });
  const pushing = git.bind({ signal });
  if (remote) await pushAttempt(pushing, { root, remote, taskId: task.id, commit, since: spec.startSha });
}

export async function unpublishUnit(
  { git }: WorkspaceMeans,
  { spec, task }: HeldAttempt,
  commit: string,
): Promise<void> {
  const { projectPath: root, remote } = spec;
  const ref = attemptRef(task.id);
  if ((await readRef(git, root, ref)) === commit) await deleteRefs(git, { root, refs: [ref] });
  if (remote) await dropRemoteAttempt(git, { root, remote, taskId: task.id, commit });
}

function trailersOf(
  works: WorkKinds,
  { spec, sessionId, iteration }: Pick<HeldAttempt, 'spec' | 'sessionId' | 'iteration'>,
) {
  const own = { 'Pulse-Session': sessionId, 'Pulse-Iteration': String(iteration) };
  return { ...own, ...works.gitOf(spec).trailers };
}

function unitOf(works: WorkKinds, { spec, sessionId, iteration }: HeldAttempt) {
  return {
    root: spec.projectPath,
    worktree: spec.worktreePath,
    startSha: works.gitOf(spec).parent,
    beganAt: spec.startSha,
    trailers: trailersOf(works, { spec, sessionId, iteration }),
    identity: spec.identity,
    agentRef: agentRef(sessionId, iteration),
    exclude: works.gitOf(spec).keepOut,
  };
}
