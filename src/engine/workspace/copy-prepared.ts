/** A worktree gets what setup has made in another one: by clones where the file system can, else by copies. */
import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { copyEntry } from '../../files/copy.ts';
import { makeFolder } from '../../files/folder.ts';
import type { Git } from '../../git/exec.ts';
import { realPathOf } from '../../git/git-dir.ts';
import { PROTECTED_PATHS } from '../../git/stage.ts';
import { trackedPaths, untrackedPaths } from '../../git/worktree.ts';
import { capture } from '../../process/capture.ts';
import { findOwnPath } from '../../referee/room/own-path.ts';
import { isSetUp } from './setup-once.ts';

export interface PreparedCopy {
  /** Set up, and never touched by an agent; `null`: there is none. */
  from: string | null;
  /** Nothing was set up here before. What a copy that broke off has left is replaced. */
  to: string;
  /** What setup would do here: the same was done there, or nothing is copied. */
  mark: string;
  signal?: AbortSignal;
}

/** `false`: setup has to run here. Rejects when it is aborted, and where a link here would lead the copy elsewhere. */
export async function copyPrepared(git: Git, { from, to, mark, signal }: PreparedCopy): Promise<boolean> {
  if (from === null || from === to) return false;
  if (!(await isSetUp(from, mark).catch(() => false))) return false;
  const names = (await untrackedPaths(git, from)).filter(isOfSetup);
  // A name that is no UTF-8 cannot be told to `cp`.
  if (names.some((name) => !isThere(join(from, name)))) return false;
  if (isTracked(names, await trackedPaths(git, to))) return false;
  // It leads back to where it was made.
  if (findOwnPath(await realPathOf(from), names) !== null) return false;
  for (const name of names) {
    const parents = name.split('/').slice(0, -1);
    await using _ = await makeFolder(to, parents);
    const place = join(to, name);
    await rm(place, { recursive: true, force: true });
    await copyAll(join(from, name), place, signal);
  }
  return true;
}

/** What Pulse keeps in a checkout is that checkout's own. */
function isOfSetup(name: string): boolean {
  return !PROTECTED_PATHS.includes(name.split('/')[0]!);
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The commit here has such a file, a file below it, or a file or link where it has a folder. */
function isTracked(names: readonly string[], tracked: readonly string[]): boolean {
  const files = new Set(tracked);
  const folders = new Set(tracked.flatMap(foldersAbove));
  return names.some(
    (name) => files.has(name) || folders.has(name) || foldersAbove(name).some((folder) => files.has(folder)),
  );
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** One process copies a folder many times faster than Node.js does file by file. Links stay links. */
async function copyAll(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
  const args = process.platform === 'darwin' ? ['-cRp'] : ['-a', '--reflink=auto'];
  const call = { file: 'cp', args: [...args, from, to], cwd: dirname(to), signal };
  const copied = await capture(call).catch(() => null);
  signal?.throwIfAborted();
  if (copied?.code === 0) return;
  await rm(to, { recursive: true, force: true });
  await copyEntry(from, to);
}
