/** The project's files in a worktree: what git tracks, and what is new and not ignored. */
import type { Git } from './exec.ts';

/** Each followed by a NUL; a tracked file may be gone from the disk. 1 git process. */
export async function listProjectFiles(
  git: Git,
  { worktree, except }: { worktree: string; except: readonly string[] },
): Promise<Buffer> {
  const pathspec = except.length > 0 ? ['--', '.', ...except.map((path) => `:(exclude,literal)${path}`)] : [];
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate', ...pathspec];
  return (await git.run(args, { cwd: worktree })).stdout;
}
