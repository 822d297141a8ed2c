/** A copy of a worktree's index (Pulse's own, where there is one) to stage into, so that the real one stays as it is. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyIndex, trustedIndex } from './own-index.ts';

export interface PrivateIndex extends AsyncDisposable {
  /** May not exist yet: the worktree had none, or no git folder was given. */
  path: string;
}

/** The caller disposes of it (`await using`). 0 git processes. */
export async function openPrivateIndex(gitDir: string | null): Promise<PrivateIndex> {
  const folder = await mkdtemp(join(tmpdir(), `pulse-index-${process.pid}-`));
  const path = join(folder, 'index');
  if (gitDir !== null) copyIndex(trustedIndex(gitDir), path);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
