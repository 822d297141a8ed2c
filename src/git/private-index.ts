/** A copy of a worktree's index to stage into, so that the real one stays as it is. */
import { copyFile, mkdtemp, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingIsNull } from './layout.ts';

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
  const original = await stat(source).catch(missingIsNull);
  if (original === null) return;
  await copyFile(source, target);
  const second = Math.floor(original.mtimeMs / 1000);
  await utimes(target, second, second);
}
