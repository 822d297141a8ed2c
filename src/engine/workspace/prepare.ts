/** Makes the worktree ready for an attempt. What an earlier one left in it is kept first. */
import { isPulseError } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/events.ts';
import { copyLocalFiles } from '../../git/local-files.ts';
import { resetWorktree } from '../../git/recovery.ts';
import { recoveryRef } from '../../git/refs.ts';
import { ensureClone, fetchAttempt, fetchCommit } from '../../git/remote.ts';
import { removePlantedHooks } from '../../git/remove-planted-hooks.ts';
import { seedSubmodules } from '../../git/submodules.ts';
import { setWorktreeAside } from '../../git/worktree.ts';
import { sweepDirectory, sweepRuns } from '../../process/sweep.ts';
import { runsUntil } from '../attempt/held-attempt.ts';
import { worktreeKept } from '../attempt/notices.ts';
import type { HeldAttempt } from '../ports.ts';
import { ensureCheckout } from './checkout.ts';
import { saveIfThere } from './leftovers.ts';
import type { WorkspaceMeans } from './means.ts';
import { forgetSetup } from './setup-once.ts';

/** See `Workspace.prepare`. */
export async function prepareWorktree(
  means: WorkspaceMeans,
  attempt: HeldAttempt,
  how: { keepWork: boolean },
): Promise<NewEvent[]> {
  const notices = await prepareFiles(means, attempt, how);
  const { git, ports } = means;
  const { needs, projectPath: from, worktreePath: to } = attempt.spec;
  if (!needs) return notices;
  attempt.ports = await ports.of(to, needs.ports);
  if (!how.keepWork) await copyLocalFiles(git, { from, to, patterns: needs.copy, isCommitted: true });
  return notices;
}

async function prepareFiles(
  means: WorkspaceMeans,
  attempt: HeldAttempt,
  { keepWork }: { keepWork: boolean },
): Promise<NewEvent[]> {
  const { git, sandboxes, works } = means;
  const { spec, task } = attempt;
  const { worktreePath: path, startSha, projectPath: root, recoverTo } = spec;
  const isInterrupted = task.token > 1 || recoverTo !== null;
  if (isInterrupted) await endEarlierRuns(attempt);
  // Before any git in it: the attempt that was interrupted could not clear up after itself.
  if (isInterrupted && spec.sandbox) await removePlantedHooks(git, path);
  if (keepWork && !spec.onTop) return [];
  await fetchStart(means, attempt);
  if (spec.onTop && keepWork) {
    const { signal } = attempt;
    await ensureCheckout({ git, sandboxes, spec, sha: startSha, isOurs: true, signal });
    const own = await sandboxes.gitIn({ spec, signal });
    await resetWorktree(own, { worktree: path, sha: spec.onTop, keep: works.gitOf(spec).keepOut });
    return [];
  }
  const notices = await makeReady(means, attempt, { isInterrupted }).catch(async (error: unknown) => {
    if (!isInterrupted || !isPulseError(error, 'git_failed') || error.retryable) throw error;
    // Nobody can tell what an agent has done to it. The work stays where it is, and the session continues.
    const aside = `${path}.kept-${attempt.iteration}.${task.attempt}.${task.token}`;
    await setWorktreeAside({ root, path, aside });
    return [worktreeKept(aside, error), ...(await makeReady(means, attempt, { isInterrupted }))];
  });
  // What setup made there before a preflight was interrupted has just gone with the rest.
  if (works.gitOf(spec).forgetsSetup) await forgetSetup(path);
  return notices;
}

/** On another host than the session's: the commit that the attempt starts from, or the one that was put on top. */
async function fetchStart(
  { git }: WorkspaceMeans,
  { spec, task, sessionId, signal }: HeldAttempt,
): Promise<void> {
  const { projectPath: root, remote, branch, startSha, onTop } = spec;
  if (!remote) return;
  const bound = git.bind({ signal });
  if (onTop) return fetchAttempt(bound, { root, remote, taskId: task.id });
  await ensureClone(bound, { path: root, remote });
  await fetchCommit(bound, { root, remote, session: sessionId, branch, sha: startSha });
}

export async function saveAttemptLeftovers(means: WorkspaceMeans, attempt: HeldAttempt): Promise<NewEvent[]> {
  const { sessionId, iteration, task, spec } = attempt;
  const ref = recoveryRef(sessionId, iteration, task.attempt);
  return keepLeftovers(means, attempt, ref).catch((error: unknown) => [
    worktreeKept(spec.worktreePath, error),
  ]);
}

async function endEarlierRuns({ task, spec }: HeldAttempt): Promise<void> {
  await sweepRuns(runsUntil(task.id, task.token - 1));
  await sweepDirectory(spec.worktreePath);
}

async function makeReady(
  means: WorkspaceMeans,
  attempt: HeldAttempt,
  { isInterrupted }: { isInterrupted: boolean },
): Promise<NewEvent[]> {
  const { git, sandboxes, works } = means;
  const { spec, iteration } = attempt;
  const { worktreePath: path, startSha, projectPath: root, recoverTo } = spec;
  const isOurs = isInterrupted || iteration > 1;
  const { signal } = attempt;
  const { state, head } = await ensureCheckout({ git, sandboxes, spec, sha: startSha, isOurs, signal });
  if (state === 'created') await seedSubmodules({ root, worktree: path });
  const notices: NewEvent[] = [];
  const isBegun = state === 'linked' || (state === 'existing' && works.gitOf(spec).beginsClean);
  if (state !== 'created' && recoverTo) notices.push(...(await keepLeftovers(means, attempt, recoverTo)));
  else if (isBegun) notices.push(...(await keepBefore(means, attempt, head)));
  if (isBegun || isInterrupted || head !== startSha)
    await resetWorktree(await sandboxes.gitIn({ spec, signal }), {
      worktree: path,
      sha: startSha,
      keep: works.gitOf(spec).keepOut,
    });
  return notices;
}

function keepLeftovers(
  means: WorkspaceMeans,
  { spec, signal }: HeldAttempt,
  ref: string,
): Promise<NewEvent[]> {
  const { projectPath: root, worktreePath: worktree, startSha } = spec;
  return saveIfThere(means, { spec, root, worktree, ref, startSha, isUrgent: signal?.aborted });
}

/** What was written beyond the last commit, which is Pulse's own: after an accepted completion, or by its checks. */
async function keepBefore(
  means: WorkspaceMeans,
  { spec, sessionId, iteration, signal }: HeldAttempt,
  head: string | null,
): Promise<NewEvent[]> {
  const { projectPath: root, worktreePath: worktree } = spec;
  const ref = recoveryRef(sessionId, iteration, 0);
  const startSha = head ?? spec.startSha;
  const notices = await saveIfThere(means, { spec, root, worktree, ref, startSha });
  // The index was made of a judged tree: without this every file would be written again, and every build would begin again.
  const own = await means.sandboxes.gitIn({ spec, signal });
  await own.attempt(['update-index', '-q', '--refresh'], { cwd: worktree });
  return notices;
}
