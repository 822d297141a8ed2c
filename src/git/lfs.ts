/** The contents behind LFS pointers. Pulse pushes without hooks, so it brings them to the remote itself. */
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Git, gitFailure } from './exec.ts';
import { readCommonDir, readGitDir } from './git-dir.ts';

export interface LfsPush {
  root: string;
  remote: string;
  commit: string;
  /** What the remote has already; `null`: nothing is known. */
  since: string | null;
}

/**
 * Brings what the new commits point to. Contents that are not here are taken to be there: the author of the commit has
 * brought them. 0 git processes for a repository without LFS, else 1.
 */
export async function pushLfs(git: Git, { root, remote, commit, since }: LfsPush): Promise<void> {
  const commonDir = await readCommonDir(await readGitDir(root));
  if (!existsSync(join(commonDir, 'lfs', 'objects'))) return;
  const args = ['-c', 'lfs.allowincompletepush=true', '-c', 'lfs.locksverify=false'];
  // git takes a bare path for a remote, git-lfs does not.
  const address = isAbsolute(remote) ? pathToFileURL(remote).href : remote;
  // What the pre-push hook of git-lfs runs, with the lines that git gives it.
  const push = [...args, 'lfs', 'pre-push', address, address];
  const stdin = `refs/heads/pulse ${commit} refs/heads/pulse ${since ?? '0'.repeat(commit.length)}\n`;
  const pushed = await git.attempt(push, { cwd: root, stdin });
  if (pushed.code !== 0) throw gitFailure(['lfs', 'pre-push', '<remote>'], pushed);
}
