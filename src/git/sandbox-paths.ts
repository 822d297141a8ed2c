/** What git needs in a sandbox to commit in a linked worktree, and no more. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import { writeBelow } from '../files/folder.ts';
import type { GitPlace } from './exec.ts';
import { findRegistration, missingIsNull, readCommonDir, readGitDir, realPathOf } from './git-dir.ts';
import { OWN_INDEX } from './own-index.ts';
import { openRunObjects } from './run-objects.ts';

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

/** What is shown inside at another place than it has outside. */
interface Shown {
  from: string;
  at: string;
  isWritable: boolean;
}

/**
 * The worktree's own HEAD and index can change, and objects are written to a folder of the run's own (run-objects.ts). Refs,
 * configuration, hooks, packs and the objects of the repository cannot: no branch of the user moves, nothing is lost, and
 * nothing can be planted that git would run outside of the sandbox. For the same reason the links between worktree and
 * repository are read-only.
 */
export async function gitSandboxPaths({
  worktree,
  gitDir,
  commonDir,
}: GitPlace): Promise<{ read: string[]; write: string[]; shown: Shown[] }> {
  // What is not there could be made: settings that git reads for this worktree, and the index that Pulse trusts.
  for (const name of ['config.worktree', OWN_INDEX]) {
    const path = join(gitDir, name);
    if (!(await lstat(path).catch(missingIsNull))?.isFile()) await writeBelow(gitDir, path, '');
  }
  const { folder, at, sharedAt, borrowed } = await openRunObjects({ gitDir, commonDir });
  return {
    write: [gitDir],
    read: [
      commonDir,
      ...['commondir', 'gitdir', 'locked', 'pulse-ready', 'config.worktree', OWN_INDEX].map((name) =>
        join(gitDir, name),
      ),
      join(worktree, '.git'),
      ...borrowed,
    ],
    shown: [
      { from: folder, at, isWritable: true },
      ...['pack', 'info'].map((name) => ({
        from: join(folder, name),
        at: join(at, name),
        isWritable: false,
      })),
      { from: at, at: sharedAt, isWritable: false },
    ],
  };
}
