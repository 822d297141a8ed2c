/** What git needs in a sandbox to commit in a linked worktree, and no more. */
import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import { writeBelow } from '../files/folder.ts';
import type { GitPlace } from './exec.ts';
import {
  findRegistration,
  missingIsNull,
  readCommonDir,
  readGitDir,
  readOrNull,
  realPathOf,
} from './layout.ts';
import { OWN_INDEX } from './own-index.ts';

export interface Checkout {
  /** A checkout of the repository that no agent writes. */
  root: string;
  worktree: string;
}

/** Where a worktree's repository is, told by the repository: the worktree's own `.git` file is an agent's to write. */
export async function placeOf({ root, worktree }: Checkout): Promise<GitPlace> {
  const commonDir = await realPathOf(await readCommonDir(await readGitDir(root)));
  const gitDir = await findRegistration(commonDir, worktree);
  if (gitDir !== null) return { worktree, gitDir, commonDir };
  throw new PulseError('git_failed', `The repository ${root} does not know the worktree ${worktree}.`, {
    hint: 'It is made again when the session is resumed.',
    data: { worktree },
  });
}

/**
 * Objects can be added and the worktree's own HEAD and index can change. Refs, configuration, hooks and packs cannot: no
 * branch of the user moves, and nothing can be planted that git would run outside of the sandbox. For the same reason the
 * links between worktree and repository are read-only.
 */
export async function gitSandboxPaths(checkout: Checkout): Promise<{ read: string[]; write: string[] }> {
  const { worktree, gitDir, commonDir } = await placeOf(checkout);
  const objects = join(commonDir, 'objects');
  // What is not there could be made: settings that git reads for this worktree, and the index that Pulse trusts.
  for (const name of ['config.worktree', OWN_INDEX]) {
    const path = join(gitDir, name);
    if (!(await lstat(path).catch(missingIsNull))?.isFile()) await writeBelow(gitDir, path, '');
  }
  return {
    write: [objects, gitDir],
    read: [
      commonDir,
      ...['pack', 'info'].map((name) => join(objects, name)),
      ...['commondir', 'gitdir', 'locked', 'pulse-ready', 'config.worktree', OWN_INDEX].map((name) =>
        join(gitDir, name),
      ),
      join(worktree, '.git'),
      ...(await alternates(objects)),
    ],
  };
}

/** Where a repository borrows objects from. */
async function alternates(objects: string): Promise<string[]> {
  const text = await readOrNull(join(objects, 'info/alternates'));
  const lines = text?.split('\n').filter((line) => line !== '' && !line.startsWith('#')) ?? [];
  return lines.map((line) => resolve(objects, line));
}
