/** The project that an operation is about, by a folder of its repository or by its id. */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import type { Git } from '../git/exec.ts';
import { openRepository } from '../git/repository.ts';
import type { Operations } from './context.ts';

export interface NamedProject {
  /** The same for all worktrees of the repository. */
  id: string;
  /** The top of the checkout that was named; none where only the id was. */
  root?: string;
}

/** `given`: an absolute path of any folder of the repository, or the project's id. Throws `not_a_repository` … */
export async function findProject({ git }: Pick<Operations, 'git'>, given: string): Promise<NamedProject> {
  if (isAbsolute(given)) return openKnown(git, given);
  if (/^[\w.-]{1,100}-[0-9a-f]{8}$/.test(given)) return { id: given };
  throw new PulseError('invalid_input', `"${given.slice(0, 100)}" names no project.`, {
    hint: 'An absolute path of a folder of the repository, or the id of the project.',
  });
}

interface Known extends NamedProject {
  commonDir: string;
  mark: string;
  /** By the clock of `performance.now()`. */
  openedAt: number;
  lookedAt: number;
}

/** Asking git costs two processes, and looking at the folder still as much as a message does. */
const OPENED_MS = 30_000;
const LOOKED_MS = 1_000;
const MOST_KNOWN = 1_000;
const known = new WeakMap<Git, Map<string, Known>>();

async function openKnown(git: Git, path: string): Promise<NamedProject> {
  const projects = known.get(git) ?? new Map<string, Known>();
  known.set(git, projects);
  const before = projects.get(path);
  if (before && (await isStill(before))) return before;
  const { projectKey, root, commonDir } = await openRepository(git, path);
  if (projects.size >= MOST_KNOWN) projects.clear();
  const found = {
    id: projectKey,
    root: await realpath(root),
    commonDir,
    mark: await markOf(commonDir),
    openedAt: performance.now(),
    lookedAt: performance.now(),
  };
  projects.set(path, found);
  return found;
}

async function isStill(known: Known): Promise<boolean> {
  const now = performance.now();
  if (now - known.openedAt > OPENED_MS) return false;
  if (now - known.lookedAt < LOOKED_MS) return true;
  known.lookedAt = now;
  return (await markOf(known.commonDir)) === known.mark;
}

/** Another repository in the same place is another folder. */
async function markOf(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => null);
  return found ? `${found.dev}:${found.ino}:${found.birthtimeMs}` : '';
}
