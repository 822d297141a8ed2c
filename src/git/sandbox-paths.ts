/** What git needs in a sandbox to commit in a linked worktree, and no more. */
import { join, resolve } from 'node:path';
import { writeBelow } from '../files/folder.ts';
import { readCommonDir, readGitDir, readOrNull } from './layout.ts';

/**
 * Objects can be added and the worktree's own HEAD and index can change. Refs, configuration, hooks and packs cannot: no
 * branch of the user moves, and nothing can be planted that git would run outside of the sandbox. For the same reason the
 * links between worktree and repository are read-only.
 */
export async function gitSandboxPaths(worktree: string): Promise<{ read: string[]; write: string[] }> {
  const gitDir = await readGitDir(worktree);
  const commonDir = await readCommonDir(gitDir);
  const objects = join(commonDir, 'objects');
  // Read by git where the repository has a configuration for each worktree: it must not be the agent's to write.
  const settings = join(gitDir, 'config.worktree');
  if ((await readOrNull(settings)) === null) await writeBelow(gitDir, settings, '');
  return {
    write: [objects, gitDir],
    read: [
      commonDir,
      ...['pack', 'info'].map((name) => join(objects, name)),
      ...['commondir', 'gitdir', 'locked', 'pulse-ready', 'config.worktree'].map((name) =>
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
