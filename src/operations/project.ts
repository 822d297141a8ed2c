/** The repository a session is to work on: a folder that can be read, and none that lies in Pulse's own. */
import { access, constants, realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import type { Git } from '../git/exec.ts';
import { openRepository, type Repository } from '../git/repository.ts';
import type { Home } from '../home.ts';

/** Throws `invalid_input`, `not_a_repository`, `no_commits` or `path_outside`; reads only. */
export async function openProject(
  { git, home }: { git: Git; home: Home },
  path: string,
): Promise<Repository> {
  const repository = await openRepository(git, await readableDirectory(path));
  await refuseOwnFolders(home, repository.root);
  return repository;
}

async function readableDirectory(path: string): Promise<string> {
  const absolute = resolve(path);
  const found = await stat(absolute).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error || !found.isDirectory()) {
    throw new PulseError('invalid_input', `There is no folder ${absolute}.`, {
      hint: 'Run the command inside a git repository, or name one with --path.',
    });
  }
  await access(absolute, constants.R_OK | constants.X_OK).catch((cause: Error) => {
    throw new PulseError('invalid_input', `The folder ${absolute} cannot be read.`, {
      hint: 'Pulse needs to read it and to go into it: look at its permissions.',
      cause,
    });
  });
  return absolute;
}

/**
 * A worktree is where an agent writes. A repository that it makes there, with a config of its own, must not become a
 * project whose commands run outside of the agent's sandbox.
 */
async function refuseOwnFolders(home: Home, root: string): Promise<void> {
  const own = await realpath(home.path).catch(() => resolve(home.path));
  const way = relative(own, await realpath(root));
  if (way === '..' || way.startsWith(`..${sep}`)) return;
  throw new PulseError('path_outside', `${root} lies in the state directory of Pulse.`, {
    hint: 'Name the repository itself with --path: a worktree of a session is no project.',
  });
}
