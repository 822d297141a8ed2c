/** Puts a worktree back on a commit, from any state. */
import type { Git } from '../../git/exec.ts';
import { resetWorktree } from '../../git/recovery.ts';
import { worktreeFault } from '../../git/worktree.ts';
import type { HeldAttempt } from '../ports.ts';
import type { Sandboxes } from '../run/run-sandbox.ts';
import { ensureCheckout } from './checkout.ts';

interface Means {
  git: Git;
  sandboxes: Sandboxes;
}

/** The worktree's link may be broken; the files stay. */
export async function mendWorktree({ git, sandboxes }: Means, { spec }: HeldAttempt): Promise<void> {
  const { projectPath: root, worktreePath: path, startSha: sha } = spec;
  if ((await worktreeFault({ root, path })) !== null)
    await ensureCheckout({ git, sandboxes, spec, sha, isOurs: true });
}

/** Ignored files stay. */
export async function restoreWorktree(
  means: Means,
  attempt: HeldAttempt,
  { sha }: { sha: string },
): Promise<void> {
  await mendWorktree(means, attempt);
  const { worktreePath: worktree } = attempt.spec;
  const own = await means.sandboxes.gitIn(attempt);
  await resetWorktree(own, { worktree, sha });
}
