import { recoveryPrefix } from '../git/refs.ts';
import { createCliGit } from './repository-here.ts';

/** Refs with work of a session that was not taken over, oldest first; none where the repository cannot be read. */
export async function keptRefs(
  { id, project_path: cwd }: { id: string; project_path: string },
  environment: NodeJS.ProcessEnv,
): Promise<string[]> {
  try {
    const args = ['for-each-ref', '--sort=committerdate', '--format=%(refname)', recoveryPrefix(id)];
    return (await createCliGit(environment).text(args, { cwd })).split('\n').filter(Boolean);
  } catch {
    return []; // the repository is gone, or elsewhere: there is nothing to point at
  }
}
