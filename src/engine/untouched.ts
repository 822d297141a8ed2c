import { createGit } from '../git/exec.ts';
import { worktreeHead } from '../git/layout.ts';
import { dirtyPaths } from '../git/repository.ts';
import { capture } from '../process/capture.ts';
import type { HeldAttempt } from './ports.ts';

/** Whether a run left its worktree as it found it: no commit, no change. One or two git processes. */
export async function isUntouched({ spec }: HeldAttempt, environment: NodeJS.ProcessEnv): Promise<boolean> {
  const git = createGit({ exec: (call) => capture({ file: 'git', ...call }), env: environment });
  const head = await worktreeHead(git, spec.worktreePath);
  return head === spec.startSha && (await dirtyPaths(git, spec.worktreePath)).count === 0;
}
