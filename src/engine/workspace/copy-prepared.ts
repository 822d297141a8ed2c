/** A worktree gets what setup has made in another one: by clones where the file system can, else by copies. */
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { copyEntry } from '../../files/copy.ts';
import type { Git } from '../../git/exec.ts';
import { realPathOf } from '../../git/git-dir.ts';
import { untrackedPaths } from '../../git/worktree.ts';
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
}

/** `false`: setup has to run here. */
export async function copyPrepared(git: Git, { from, to, mark }: PreparedCopy): Promise<boolean> {
  if (from === null || from === to) return false;
  if (!(await isSetUp(from, mark).catch(() => false))) return false;
  const names = await untrackedPaths(git, from);
  // It leads back to where it was made.
  if (findOwnPath(await realPathOf(from), names) !== null) return false;
  for (const name of names) {
    const place = join(to, name);
    await rm(place, { recursive: true, force: true });
    await mkdir(dirname(place), { recursive: true });
    await copyAll(join(from, name), place);
  }
  return true;
}

/** One process copies a folder many times faster than Node.js does file by file. Links stay links. */
async function copyAll(from: string, to: string): Promise<void> {
  const args = process.platform === 'darwin' ? ['-cRp'] : ['-a', '--reflink=auto'];
  const copied = await capture({ file: 'cp', args: [...args, from, to], cwd: dirname(to) }).catch(() => null);
  if (copied?.code === 0) return;
  await rm(to, { recursive: true, force: true });
  await copyEntry(from, to);
}
