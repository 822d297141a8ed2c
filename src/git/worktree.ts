/** A session's worktree: outside the repository, locked, on a detached HEAD. */
import { mkdir, readdir, rename, rm, utimes } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import { writeBelow } from '../files/folder.ts';
import type { Git } from './exec.ts';
import {
  findGitDir,
  findRegistration,
  missingIsNull,
  readCommonDir,
  readGitDir,
  readHeadFile,
  readOrNull,
  realPathOf,
  statOrNull,
} from './git-dir.ts';
import { keepOwnIndex } from './own-index.ts';
import { pathText, splitNul } from './path-bytes.ts';
import { dropRunObjects } from './run-objects.ts';

export interface WorktreeRequest {
  /** A checkout of the repository. */
  root: string;
  path: string;
  /** Where a new one begins; an existing one stays where it is (`resetWorktree` moves it). */
  sha: string;
  /** An agent has worked there: even if the folder's `.git` is broken, the files are its work. */
  isOurs?: boolean;
  /** A new one is made without its files: the caller has them written (`resetWorktree`). */
  isEmpty?: boolean;
}

export interface EnsuredWorktree {
  /** `linked`: its files were there but its link or its registration was lost; they are kept. */
  state: 'existing' | 'created' | 'linked';
  /** The detached HEAD; null where the agent left it on a branch. */
  head: string | null;
}

/**
 * Makes sure that the worktree is there, after a crash or an agent too. May be repeated. Throws `path_outside`
 * for a path inside the repository, `invalid_input` where a folder that is not ours stands there. 0 git processes
 * for an existing one, 1 to create it, 2 to replace one that was half made or whose registration is lost.
 */
export async function ensureWorktree(
  git: Git,
  { root, path, sha, isOurs = false, isEmpty = false }: WorktreeRequest,
): Promise<EnsuredWorktree> {
  const commonDir = await readCommonDir(await readGitDir(root));
  await assertOutside(path, [root, commonDir]);
  const gitDir = await findRegistration(commonDir, path);
  const isThere = (await statOrNull(path)) !== null;
  const isReady = gitDir !== null && (await statOrNull(join(gitDir, READY))) !== null;

  if (gitDir !== null && isThere && isReady) {
    const state = (await relink(gitDir, path)) ? 'linked' : 'existing';
    return { state, head: (await readHeadFile(gitDir)).sha };
  }
  if (gitDir !== null && isThere) await removeWorktree(git, { root, path });
  else if (isThere && (isOurs ? await holdsFiles(path) : await isOrphan(commonDir, path)))
    return adopt(git, { root, path, sha });
  await add(git, { root, path, sha }, isEmpty ? ['--no-checkout'] : []);
  return { state: 'created', head: sha };
}

/**
 * What an agent has broken, in words: the folder is gone, or its link to the repository is not the one that it was
 * given. `null`: nothing. 0 git processes.
 */
export async function worktreeFault({ root, path }: { root: string; path: string }): Promise<string | null> {
  if ((await statOrNull(path)) === null) return 'the worktree is gone';
  const gitDir = await findRegistration(await readCommonDir(await readGitDir(root)), path);
  if (gitDir === null) return 'the repository no longer knows the worktree';
  const found = await findGitDir(path);
  const isLinked = found !== null && (await realPathOf(found)) === (await realPathOf(gitDir));
  return isLinked ? null : 'the worktree has lost its link to the repository';
}

/**
 * Removes folder and registration, also where one of them is gone. What it holds is lost: `saveLeftovers` first. May
 * be repeated. 1 git process, 0 where nothing is left. Other registrations stay, also of folders that are not there
 * at the moment: they are not Pulse's to judge.
 */
export async function removeWorktree(
  git: Git,
  { root, path, isOurs = false }: Omit<WorktreeRequest, 'sha'>,
): Promise<void> {
  const commonDir = await readCommonDir(await readGitDir(root));
  await assertOutside(path, [root, commonDir]);
  const gitDir = await findRegistration(commonDir, path);
  if (gitDir === null) {
    if (isOurs || (await isOrphan(commonDir, path))) await rm(path, { recursive: true, force: true });
    return;
  }
  dropRunObjects({ gitDir, commonDir });
  // Without the mark it is half made: a removal that is interrupted leaves nothing that looks whole.
  await rm(join(gitDir, READY), { force: true });
  if ((await statOrNull(path)) !== null) await relink(gitDir, path);
  const removed = await git.attempt(['worktree', 'remove', '--force', '--force', path], { cwd: root });
  if (removed.code === 0) return;
  // git stops at the first file it may not delete, with the registration already gone or not.
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
  await rm(gitDir, { recursive: true, force: true, maxRetries: 3 });
}

/**
 * Moves the folder to `aside` and forgets that it was a worktree. What it holds stays, until it is collected: the time of
 * both folders says since when. 0 git processes.
 */
export async function setWorktreeAside({
  root,
  path,
  aside,
}: {
  root: string;
  path: string;
  aside: string;
}): Promise<void> {
  const commonDir = await readCommonDir(await readGitDir(root));
  const gitDir = await findRegistration(commonDir, path);
  const now = new Date();
  if ((await statOrNull(path)) !== null) {
    await rename(path, aside);
    await utimes(aside, now, now);
  }
  if (gitDir === null) return;
  // Not removed: the repositories of its submodules are in it.
  const kept = join(commonDir, SET_ASIDE, basename(aside));
  await mkdir(dirname(kept), { recursive: true });
  await rename(gitDir, kept);
  await utimes(kept, now, now);
}

/** Where the registrations lie of worktrees that were set aside. */
export const SET_ASIDE = 'pulse-kept';

/** Written once git has finished: a registration without it was cut short, and no agent has worked there. */
const READY = 'pulse-ready';
const REASON = 'Pulse works here';

async function assertOutside(path: string, folders: string[]): Promise<void> {
  const real = await realPathOf(path);
  for (const folder of await Promise.all(folders.map(realPathOf))) {
    if (real !== folder && !real.startsWith(folder + sep)) continue;
    throw new PulseError('path_outside', `${path} lies inside the repository ${folder}`, {
      hint: 'A worktree there would resolve the dependencies of your checkout. Set PULSE_HOME to a folder outside.',
      data: { path },
    });
  }
}

/** `--force` twice takes the place of a locked registration whose folder is gone. */
async function add(git: Git, { root, path, sha }: WorktreeRequest, options: string[]): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  const args = ['worktree', 'add', '--force', '--force', '--detach', '--lock', ...options, path, sha];
  await git.run(args, { cwd: root });
  const gitDir = await readGitDir(path);
  // Not `--reason`: git has it since 2.32 only.
  await writeBelow(gitDir, join(gitDir, 'locked'), `${REASON}\n`);
  keepOwnIndex(gitDir);
  await writeBelow(gitDir, join(gitDir, READY), '');
  return gitDir;
}

/** Restores the `.git` file that an agent removed or replaced, and the lock. True if the link was lost. */
async function relink(gitDir: string, path: string): Promise<boolean> {
  if ((await readOrNull(join(gitDir, 'locked'))) === null)
    await writeBelow(gitDir, join(gitDir, 'locked'), `${REASON}\n`);
  const found = await findGitDir(path);
  if (found !== null && (await realPathOf(found)) === (await realPathOf(gitDir))) return false;
  await rm(join(path, '.git'), { recursive: true, force: true });
  await writeBelow(path, join(path, '.git'), `gitdir: ${gitDir}\n`);
  return true;
}

async function holdsFiles(path: string): Promise<boolean> {
  return ((await readdir(path).catch(missingIsNull)) ?? []).length > 0;
}

/** A folder whose `.git` file names a registration of this repository that is gone; an empty one is nobody's. */
async function isOrphan(commonDir: string, path: string): Promise<boolean> {
  const entries = (await readdir(path).catch(missingIsNull)) ?? [];
  if (entries.length === 0) return false;
  const link = entries.includes('.git') ? await statOrNull(join(path, '.git')) : null;
  const target = link?.isFile() ? await readOrNull(join(path, '.git')) : null;
  const home = join(await realPathOf(commonDir), 'worktrees') + sep;
  const named = target === null ? '' : await realPathOf(target.replace(/^gitdir: /, '').trim());
  if (named.startsWith(home)) return true;
  throw new PulseError('invalid_input', `${path} exists and is not a worktree of this repository`, {
    hint: 'Move it away, or set PULSE_HOME to another folder.',
    data: { path },
  });
}

/** Registers a folder again and keeps its files: they may be the only copy of an agent's work. */
async function adopt(git: Git, { root, path, sha }: WorktreeRequest): Promise<EnsuredWorktree> {
  const stand = `${path}.adopting`;
  await removeWorktree(git, { root, path: stand });
  await rm(stand, { recursive: true, force: true });
  const gitDir = await add(git, { root, path: stand, sha }, ['--no-checkout']);
  await git.run(['read-tree', sha], { cwd: stand });
  await rm(join(path, '.git'), { recursive: true, force: true });
  await rename(join(stand, '.git'), join(path, '.git'));
  await writeBelow(gitDir, join(gitDir, 'gitdir'), `${join(await realPathOf(path), '.git')}\n`);
  await rm(stand, { recursive: true, force: true });
  return { state: 'linked', head: sha };
}

export interface CheckoutState {
  changed: string[];
  untracked: string[];
  /** Without a trailing slash; a folder stands for what is in it. */
  ignored: string[];
}

/** What a checkout holds beyond its commit. 1 git process. */
export async function checkoutState(git: Git, worktree: string): Promise<CheckoutState> {
  const entries = await readStatus(git, worktree);
  const named = (isWanted: (mark: string) => boolean): string[] =>
    entries.filter(({ mark }) => isWanted(mark)).map(({ path }) => path.replace(/\/$/, ''));
  return {
    changed: named((mark) => mark !== '??' && mark !== '!!'),
    untracked: named((mark) => mark === '??'),
    ignored: named((mark) => mark === '!!'),
  };
}

/** As git marks them: `??` untracked, `!!` ignored. A folder that stands for what is in it ends with a slash. */
export async function readStatus(git: Git, worktree: string): Promise<{ mark: string; path: string }[]> {
  const options = [
    '--porcelain=v1',
    '-z',
    '--no-renames',
    '--untracked-files=normal',
    '--ignored=traditional',
  ];
  return splitNul((await git.run(['status', ...options], { cwd: worktree })).stdout).map((entry) => ({
    mark: entry.slice(0, 2),
    path: pathText(entry.slice(3)),
  }));
}

/** As `CheckoutState` spells them. 1 git process. */
export async function trackedPaths(git: Git, worktree: string): Promise<string[]> {
  const { stdout } = await git.run(['ls-files', '-z'], { cwd: worktree });
  return splitNul(stdout).map(pathText);
}

/** All that is there and not tracked, ignored or not, empty folders too; as `CheckoutState` spells it. 1 git process. */
export async function untrackedPaths(git: Git, worktree: string): Promise<string[]> {
  const { stdout } = await git.run(['ls-files', '--others', '--directory', '-z'], { cwd: worktree });
  return splitNul(stdout).map((path) => pathText(path).replace(/\/$/, ''));
}
