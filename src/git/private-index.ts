/** A copy of a worktree's index to stage into, so that the real one stays as it is. */
import { copyFile, mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isNothing, openRegularFile } from '../files/regular-file.ts';

export interface PrivateIndex extends AsyncDisposable {
  /** May not exist yet: the worktree had none, or no git folder was given. */
  path: string;
}

/** The caller disposes of it (`await using`). 0 git processes. */
export async function openPrivateIndex(gitDir: string | null): Promise<PrivateIndex> {
  const folder = await mkdtemp(join(tmpdir(), 'pulse-index-'));
  const path = join(folder, 'index');
  if (gitDir !== null) await copyIndex(join(gitDir, 'index'), path);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/**
 * git trusts an entry's file times only where they are older than the index. A copy is younger than its source and
 * would hide an edit made right after the source was written: so it gets the source's time, rounded down.
 */
async function copyIndex(source: string, target: string): Promise<void> {
  await using original = await openRegularFile(source).catch((error: unknown) => {
    if (isNothing(error)) return null;
    throw error;
  });
  if (original === null) return;
  const { mtimeMs } = await original.stat();
  // The file that is open, whatever stands at its name by now; a copy by name can be a clone.
  await copyFile(process.platform === 'linux' ? `/proc/self/fd/${original.fd}` : source, target);
  const second = Math.floor(mtimeMs / 1000);
  await utimes(target, second, second);
}
