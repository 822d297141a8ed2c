/** Removes what lies in a repository's own folder for worktrees that are gone. */
import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CollectRequest } from './gc.ts';
import { readCommonDir, readGitDir } from './git-dir.ts';
import { bringObjects, dropRunObjects, listRunObjects } from './run-objects.ts';
import { SET_ASIDE } from './worktree.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The registrations of worktrees that were set aside, after their time (30 days by default), and folders of objects whose
 * worktree is no longer registered, with what is in them brought over first. Returns what is gone. 0 git processes.
 */
export async function collectSetAside({
  root,
  nowMs,
  olderThanMs = 30 * DAY_MS,
}: CollectRequest): Promise<string[]> {
  const commonDir = await readCommonDir(await readGitDir(root));
  const gone: string[] = [];
  const kept = join(commonDir, SET_ASIDE);
  for (const name of await readdir(kept).catch(() => [])) {
    if (!(await isOlder(join(kept, name), nowMs - olderThanMs))) continue;
    await rm(join(kept, name), { recursive: true, force: true, maxRetries: 3 });
    gone.push(join(SET_ASIDE, name));
  }
  for (const { folder, gitDir } of listRunObjects(commonDir)) {
    if (existsSync(gitDir) || !(await isOlder(folder, nowMs - DAY_MS))) continue;
    await bringObjects({ gitDir, commonDir });
    dropRunObjects({ gitDir, commonDir });
    gone.push(folder);
  }
  return gone;
}

async function isOlder(path: string, thanMs: number): Promise<boolean> {
  return (await stat(path)).mtimeMs < thanMs;
}
