import { worktreeHead } from '../../git/git-dir.ts';
import { dirtyPaths } from '../../git/repository.ts';
import type { HeldAttempt } from '../ports.ts';
import type { Sandboxes } from './run-sandbox.ts';

/** Whether a run left its worktree as it found it: no commit, no change. One or two git processes. */
export async function isUntouched({ spec, signal }: HeldAttempt, sandboxes: Sandboxes): Promise<boolean> {
  const git = await sandboxes.gitIn({ spec, signal });
  const head = await worktreeHead(git, spec.worktreePath);
  return head === spec.startSha && (await dirtyPaths(git, spec.worktreePath)).count === 0;
}
