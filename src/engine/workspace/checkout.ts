/** A checkout for an attempt, made in a way that runs nothing of its files outside of the attempt's sandbox. */
import type { Git } from '../../git/exec.ts';
import { resetWorktree } from '../../git/recovery.ts';
import { type EnsuredWorktree, ensureWorktree } from '../../git/worktree.ts';
import type { Sandboxes, SandboxRequest } from '../run/run-sandbox.ts';

export interface CheckoutPlan {
  git: Git;
  sandboxes: Pick<Sandboxes, 'gitIn'>;
  spec: SandboxRequest['spec'];
  /** The attempt's worktree by default. */
  path?: string;
  sha: string;
  isOurs?: boolean;
  signal?: AbortSignal;
}

/** As `ensureWorktree`. The files of a new one are written by git where the attempt runs: its filters may be scripts in it. */
export async function ensureCheckout(plan: CheckoutPlan): Promise<EnsuredWorktree> {
  const { git, sandboxes, spec, path = spec.worktreePath, sha, isOurs, signal } = plan;
  const isEmpty = Boolean(spec.sandbox);
  const request = { root: spec.projectPath, path, sha, isOurs, isEmpty };
  const found = await ensureWorktree(git.bind({ signal }), request);
  if (isEmpty && found.state === 'created')
    await resetWorktree(await sandboxes.gitIn({ spec, cwd: path, signal }), { worktree: path, sha });
  return found;
}
