import { isPulseError } from '../domain/errors.ts';
import { createGit, type Git } from '../git/exec.ts';
import { openRepository, type Repository } from '../git/repository.ts';
import { capture } from '../process/capture.ts';

export function createCliGit(environment: NodeJS.ProcessEnv): Git {
  return createGit({ exec: (call) => capture({ file: 'git', ...call }), env: environment });
}

/** The repository `cwd` lies in, or `null`; one without a commit counts as none. */
export async function openHere(cwd: string, environment: NodeJS.ProcessEnv): Promise<Repository | null> {
  try {
    return await openRepository(createCliGit(environment), cwd);
  } catch (error) {
    if (isPulseError(error, 'not_a_repository') || isPulseError(error, 'no_commits')) return null;
    throw error;
  }
}
