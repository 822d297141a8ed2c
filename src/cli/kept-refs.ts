import { recoveryPrefix } from '../git/refs.ts';
import { createCliGit } from './repository-here.ts';

interface Where {
  id: string;
  project_path: string;
  branch_name: string;
}

export interface SessionRefs {
  /** Refs with work that was not taken over, oldest first. */
  kept: string[];
  /** Where the branch stands; `null`: it is gone. */
  branchHead: string | null;
}

/** Nothing where the repository cannot be read. 1 git process. */
export async function readSessionRefs(session: Where, environment: NodeJS.ProcessEnv): Promise<SessionRefs> {
  const { id, project_path: cwd, branch_name: branch } = session;
  const ref = `refs/heads/${branch}`;
  const format = '--format=%(objectname) %(refname)';
  try {
    const args = ['for-each-ref', '--sort=creatordate', format, recoveryPrefix(id), ref];
    const lines = (await createCliGit(environment).text(args, { cwd })).split('\n').filter(Boolean);
    const refs = lines.map((line) => ({
      sha: line.split(' ', 1)[0]!,
      name: line.slice(line.indexOf(' ') + 1),
    }));
    return {
      kept: refs.filter(({ name }) => name.startsWith(recoveryPrefix(id))).map(({ name }) => name),
      branchHead: refs.find(({ name }) => name === ref)?.sha ?? null,
    };
  } catch {
    return { kept: [], branchHead: null }; // the repository is gone, or elsewhere: there is nothing to point at
  }
}

export async function keptRefs(session: Where, environment: NodeJS.ProcessEnv): Promise<string[]> {
  return (await readSessionRefs(session, environment)).kept;
}
