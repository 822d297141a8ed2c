/** What crosses hosts: the session's branch and attempts' commits, by way of the project's remote. */
import { rm } from 'node:fs/promises';
import { PulseError } from '../domain/errors.ts';
import { redact } from '../domain/redact.ts';
import { type Git, gitFailure } from './exec.ts';
import { statOrNull } from './git-dir.ts';
import { type LfsPush, pushLfs } from './lfs.ts';
import { attemptRef } from './refs.ts';
import { headRef, type SessionRefs } from './session-head.ts';

/** The address of a remote, or `null` where the repository has none of that name. 1 git process. */
export async function remoteUrl(git: Git, root: string, name = 'origin'): Promise<string | null> {
  const answer = await git.attempt(['remote', 'get-url', name], { cwd: root });
  if (answer.code !== 0) return null;
  const url = answer.stdout.toString('utf8').trim();
  if (!url.startsWith('-')) return url;
  throw new PulseError('invalid_config', `The address of the remote ${name} begins with a dash.`, {
    hint: 'git would take it for an option. `git remote set-url` sets another.',
  });
}

/** A clone for worktrees, made once; it has no checkout of its own. 0 git processes for an existing one, else 2. */
export async function ensureClone(
  git: Git,
  { path, remote }: { path: string; remote: string },
): Promise<void> {
  if ((await statOrNull(`${path}/.git/pulse-clone`)) !== null) return;
  await rm(path, { recursive: true, force: true });
  await git.run(['clone', '-q', '--no-checkout', remote, path], { cwd: '/' });
  await git.run(['config', '--file', `${path}/.git/pulse-clone`, 'pulse.remote', remote], { cwd: path });
}

/** Brings the branch's commits here. Throws where `sha` is still missing afterwards. 1 or 2 git processes. */
export async function fetchCommit(
  git: Git,
  { root, remote, session, branch, sha }: SessionRefs & { remote: string; sha: string },
): Promise<void> {
  const isThere = async () =>
    (await git.attempt(['cat-file', '-e', `${sha}^{commit}`], { cwd: root })).code === 0;
  if (await isThere()) return;
  const fetch = (ref: string) => git.attempt(['fetch', '-q', '--no-tags', remote, ref], { cwd: root });
  const fetched = await fetch(`refs/heads/${branch}`);
  if (await isThere()) return;
  // A branch that lags behind has the session's head beside it.
  if ((await fetch(headRef(session))).code === 0 && (await isThere())) return;
  if (fetched.code !== 0) throw gitFailure(['fetch', '-q', '--no-tags', remote], fetched);
  throw new PulseError('git_failed', `${redact(remote)} has no commit ${sha} on ${branch}`, {
    hint: 'Push the branch that the session starts from, then resume.',
  });
}

/** Pushes the attempt's result for the session's runner. May be repeated. 1 git process. */
export async function pushAttempt(
  git: Git,
  { root, remote, taskId, commit, since }: LfsPush & { taskId: string },
): Promise<void> {
  await pushLfs(git, { root, remote, commit, since });
  await git.run(['push', '-q', '--force', remote, `${commit}:${attemptRef(taskId)}`], { cwd: root });
}

/** 1 git process. */
export async function fetchAttempt(
  git: Git,
  { root, remote, taskId }: { root: string; remote: string; taskId: string },
): Promise<void> {
  const ref = attemptRef(taskId);
  await git.run(['fetch', '-q', '--no-tags', remote, `+${ref}:${ref}`], { cwd: root });
}

/**
 * Moves the branch at the remote from `from` (`null`: it must not be there) to `to`, and drops the attempt's ref in
 * the same push. Doing it again is no error. Where the branch stands elsewhere it stays, and the commit goes to the
 * session's head there, so that daemons find it. Returns where the branch stands. 1 git process, or 3.
 */
export async function pushBranch(
  git: Git,
  move: SessionRefs & { remote: string; from: string | null; to: string; dropTask?: string },
): Promise<string | null> {
  const { root, remote, session, branch, from, to, dropTask } = move;
  const ref = `refs/heads/${branch}`;
  await pushLfs(git, { root, remote, commit: to, since: from });
  const drop = dropTask ? [`:${attemptRef(dropTask)}`] : [];
  const lease = `--force-with-lease=${ref}:${from ?? ''}`;
  const pushed = await git.attempt(['push', '-q', '--atomic', lease, remote, `${to}:${ref}`, ...drop], {
    cwd: root,
  });
  if (pushed.code === 0) return to;
  const actual = await remoteRef(git, { root, remote, ref });
  if (actual === to) {
    if (drop.length > 0) await git.attempt(['push', '-q', remote, ...drop], { cwd: root });
    return to;
  }
  if (actual === from) throw gitFailure(['push'], pushed);
  if (from === null) {
    throw new PulseError('ref_moved', `${branch} at ${redact(remote)} is at ${actual}, expected none`, {
      hint: 'Somebody made a branch of this name there. Start again with another --branch.',
    });
  }
  await git.run(['push', '-q', '--force', remote, `${to}:${headRef(session)}`, ...drop], { cwd: root });
  return actual;
}

/** Every ref of the remote under the prefix; none for a remote out of reach. 1 git process. */
export async function listRemoteRefs(
  git: Git,
  { root, remote, prefix }: { root: string; remote: string; prefix: string },
): Promise<string[]> {
  const answer = await git.attempt(['ls-remote', remote, `${prefix}*`], { cwd: root });
  if (answer.code !== 0) return [];
  const lines = answer.stdout.toString('utf8').split('\n').filter(Boolean);
  return lines.map((line) => line.split('\t')[1]!);
}

/** Those that are gone already are no error, nor is a remote out of reach: it keeps them. 1 git process, 0 for none. */
export async function dropRemoteRefs(
  git: Git,
  { root, remote, refs }: { root: string; remote: string; refs: readonly string[] },
): Promise<void> {
  if (refs.length > 0)
    await git.attempt(['push', '-q', remote, ...refs.map((ref) => `:${ref}`)], { cwd: root });
}

/** Takes back what `pushAttempt` pushed, unless somebody else's stands there by now. 1 git process. */
export async function dropRemoteAttempt(
  git: Git,
  { root, remote, taskId, commit }: { root: string; remote: string; taskId: string; commit: string },
): Promise<void> {
  const ref = attemptRef(taskId);
  await git.attempt(['push', '-q', `--force-with-lease=${ref}:${commit}`, remote, `:${ref}`], { cwd: root });
}

async function remoteRef(
  git: Git,
  { root, remote, ref }: { root: string; remote: string; ref: string },
): Promise<string | null> {
  const answer = await git.text(['ls-remote', remote, ref], { cwd: root });
  return answer.split(/\s/)[0] || null;
}
