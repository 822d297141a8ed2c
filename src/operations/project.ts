/** The repository a session is to work on: a folder that can be read, and none that lies in Pulse's own. */
import { access, constants, realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import type { Config } from '../config.ts';
import { PulseError } from '../domain/errors.ts';
import { openRepository, type Repository } from '../git/repository.ts';
import type { Home } from '../home.ts';
import { getControl, type Session } from '../store/sessions.ts';
import { loadTrustedConfig } from '../trust.ts';
import type { Operations } from './context.ts';

export interface Project {
  repository: Repository;
  /** Trusted: what it says may be acted on. */
  config: Config;
}

/** What a start works on, found and read once for all of its parts. Throws also what `loadTrustedConfig` throws. */
export async function openTrustedProject(
  operations: Operations,
  { path, trust }: { path: string; trust?: boolean },
): Promise<Project> {
  const { home, environment } = operations;
  refuseInsideRun(environment);
  const repository = await openProject(operations, path);
  const config = await loadTrustedConfig({ home, environment, project: repository, isTrustedNow: trust });
  return { repository, config };
}

/** The config for a decision about a session that is there; what it was started with needs no new trust. */
export async function configOfSession(operations: Operations, session: Session): Promise<Config> {
  const { engine, git, home, environment } = operations;
  const { settings } = await engine.store.read((db) => getControl(db, session.id));
  const project = await openRepository(git, session.project_path);
  return loadTrustedConfig({ home, environment, project, trustedBefore: settings.trustedConfig });
}

/** Throws `invalid_input`, `not_a_repository`, `no_commits` or `path_outside`; reads only. */
async function openProject({ git, home }: Operations, path: string): Promise<Repository> {
  const repository = await openRepository(git, await readableDirectory(path));
  await refuseOwnFolders(home, repository.root);
  return repository;
}

/** An agent that could start sessions would spend beyond the budget of its own, and widen what it was given. */
function refuseInsideRun({ PULSE_RUN_ID }: NodeJS.ProcessEnv): void {
  if (!PULSE_RUN_ID) return;
  throw new PulseError('inside_run', 'An agent inside a run may not start sessions.', {
    hint: 'Do the work in this run, or end the iteration with the signal BLOCKED and say what a person should start.',
  });
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
