/** The user's repository: what it is and where it stands. Everything here reads; nothing touches the checkout. */
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Identity } from '../domain/attempt.ts';
import { PulseError } from '../domain/errors.ts';
import { type Git, type GitResult, gitFailure } from './exec.ts';
import { isObjectId, statOrNull } from './git-dir.ts';
import { pathText, splitNul } from './path-bytes.ts';

export interface Repository {
  /** The top of the checkout that was asked for. */
  root: string;
  /** What all its worktrees share. */
  commonDir: string;
  headSha: string;
  /** Null on a detached HEAD. */
  branch: string | null;
  /** The oldest root commit of HEAD: the same in every clone (not in a shallow one). */
  rootCommit: string;
  /** `<name>-<8 hex>`, a folder name; the same from every worktree of the repository. */
  projectKey: string;
}

/** Accepts any folder inside a checkout. Throws `not_a_repository` or `no_commits`. 2 git processes. */
export async function openRepository(git: Git, path: string): Promise<Repository> {
  const found = await statOrNull(path);
  if (!found?.isDirectory()) throw notARepository(path, found ? 'is not a folder' : 'does not exist');
  const asked = ['--is-bare-repository', '--is-inside-git-dir', '--git-common-dir', '--show-toplevel'];
  const answer = await git.attempt(['rev-parse', ...asked, 'HEAD', '--symbolic-full-name', 'HEAD'], {
    cwd: path,
  });
  const [isBare, isInside, shared, top, headSha, ref] = answer.stdout.toString('utf8').split('\n');
  if (isBare === 'true') throw notARepository(path, 'is a bare repository: Pulse needs one with a checkout');
  if (isInside === 'true')
    throw notARepository(path, 'lies inside the .git folder: name the checkout itself');
  if (!shared || !top) throw unreadable(path, answer);
  if (!headSha || !isObjectId(headSha)) throw noCommits(top);

  const commonDir = await realpath(resolve(path, shared));
  const roots = (await git.text(['rev-list', '--max-parents=0', headSha], { cwd: top })).split('\n');
  return {
    root: top,
    commonDir,
    headSha,
    branch: ref?.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null,
    rootCommit: roots.at(-1)!,
    projectKey: projectKey(commonDir, (await isShallow(commonDir)) ? null : roots.at(-1)!),
  };
}

export interface DirtyPaths {
  count: number;
  /** The first of them, sorted as git does. */
  paths: string[];
}

/** What a session started from HEAD does not include. Not the config: that is read where it is. 1 git process. */
export async function notIncludedPaths(git: Git, root: string, limit = 50): Promise<DirtyPaths> {
  return dirtyPaths(git, root, { limit, among: [':/', ':(top,exclude).pulse'] });
}

/** What differs from HEAD; ignored files are left out. 1 git process. */
export async function dirtyPaths(
  git: Git,
  root: string,
  { limit = 50, among = [] }: { limit?: number; among?: readonly string[] } = {},
): Promise<DirtyPaths> {
  const options = ['--porcelain=v1', '-z', '--no-renames', '--untracked-files=normal'];
  const { stdout } = await git.run(['status', ...options, '--ignore-submodules=dirty', '--', ...among], {
    cwd: root,
  });
  const entries = splitNul(stdout);
  return { count: entries.length, paths: entries.slice(0, limit).map((entry) => pathText(entry.slice(3))) };
}

export interface Base {
  sha: string;
  /** The local branch of that name; null for a tag, a remote branch or a commit. */
  branch: string | null;
}

/** Throws `unknown_base` where the name is no commit. 1 git process. */
export async function resolveBase(git: Git, root: string, name: string): Promise<Base> {
  const isPlain = name !== '' && !/^[-^]|\.\.|[\s:]/.test(name);
  const asked = ['rev-parse', '-q', `${name}^{commit}`, '--symbolic-full-name', name];
  const answer = isPlain ? await git.attempt(asked, { cwd: root }) : null;
  const [sha, ref] = answer?.code === 0 ? answer.stdout.toString('utf8').split('\n') : [];
  if (!sha || !isObjectId(sha)) {
    throw new PulseError('unknown_base', `"${name}" is no branch, tag or commit of ${root}`, {
      hint: '`git branch --all` lists the branches.',
      data: { base: name },
    });
  }
  return { sha, branch: ref?.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null };
}

/** The author git is configured with; null where it would have to guess from the host. 1 git process. */
export async function readIdentity(git: Git, root: string): Promise<Identity | null> {
  const answer = await git.attempt(['-c', 'user.useConfigOnly=true', 'var', 'GIT_AUTHOR_IDENT'], {
    cwd: root,
  });
  const parsed = /^(.+) <(.+)> \d+ [+-]\d{4}\n$/.exec(answer.stdout.toString('utf8'));
  return answer.code === 0 && parsed ? { name: parsed[1]!, email: parsed[2]! } : null;
}

/** 1 git process. */
export async function branchExists(git: Git, root: string, branch: string): Promise<boolean> {
  const args = ['show-ref', '--verify', '-q', `refs/heads/${branch}`];
  return (await git.attempt(args, { cwd: root })).code === 0;
}

/** Its oldest commit is not known, and would be another one after the next fetch. */
async function isShallow(commonDir: string): Promise<boolean> {
  return (await statOrNull(join(commonDir, 'shallow'))) !== null;
}

/** Two repositories that lie at the same path on two hosts, or one after the other, are not one project. */
function projectKey(commonDir: string, rootCommit: string | null): string {
  const name = basename(basename(commonDir) === '.git' ? dirname(commonDir) : commonDir);
  const safe =
    name
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 40) || 'project';
  return `${safe}-${createHash('sha256')
    .update([commonDir, rootCommit ?? ''].join('\0'))
    .digest('hex')
    .slice(0, 8)}`;
}

function notARepository(path: string, why: string): PulseError {
  return new PulseError('not_a_repository', `${path} ${why}`, {
    hint: 'Name a folder of a git checkout; `git init` makes one.',
    data: { path },
  });
}

function noCommits(root: string): PulseError {
  return new PulseError('no_commits', `${root} has no commit yet`, {
    hint: 'Make a first one: `git add -A && git commit -m "Start"`.',
    data: { path: root },
  });
}

function unreadable(path: string, answer: GitResult): PulseError {
  if (/not a git repository/.test(answer.stderr))
    return notARepository(path, 'is not inside a git repository');
  return gitFailure(['rev-parse'], answer);
}
