/** A commit's change, made again in a worktree that stands elsewhere. */
import { type Git, gitFailure } from './exec.ts';

/**
 * Into index and files, uncommitted; where it does not fit, nothing of it stays. The worktree must be clean. 2 git
 * processes, 4 where it does not fit.
 */
export async function cherryPickCommit(
  git: Git,
  { worktree: cwd, change }: { worktree: string; change: string },
): Promise<{ isApplied: boolean; subject: string }> {
  const subject = await git.text(['show', '-s', '--format=%s', change], { cwd });
  const applied = await git.attempt(['cherry-pick', '--no-commit', '--allow-empty', change], { cwd });
  if (applied.code === 0) return { isApplied: true, subject };
  const unmerged = await git.text(['ls-files', '-u'], { cwd });
  if (unmerged === '') throw gitFailure(['cherry-pick'], applied);
  await git.run(['reset', '--hard', '-q', 'HEAD'], { cwd });
  return { isApplied: false, subject };
}
