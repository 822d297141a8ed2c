/** Where a path of an agent leads: inside its worktree, symlinks resolved, never into git's own directory. */
import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

export interface WorkPath {
  /** Absolute, without symlinks, with the names as the file system spells them. */
  path: string;
  /** The same from the worktree's root, with `/`; `.` is the root. */
  shown: string;
  exists: boolean;
}

/** A path that may not be used, and why, in words for the agent. */
export class PathRefusal extends Error {
  override readonly name = 'PathRefusal';
}

/**
 * `root` has no symlinks itself. A path that does not exist may be made: its nearest existing folder is what is
 * checked. Throws `PathRefusal`.
 */
export function resolveWorkPath(root: string, given: string): WorkPath {
  if (given === '' || given.includes('\0')) throw new PathRefusal('The path is empty or holds a NUL.');
  const names = relative(root, resolve(root, given)).split(sep).filter(Boolean);
  const found = followNames(root, names, given);
  const shown = relative(root, found.path).split(sep).join('/') || '.';
  // Asked again of the real path: a symlink may lead into a `.git`.
  if (shown.split('/').some(isGitName)) {
    throw new PathRefusal(`${given} lies in .git, which is not yours to read or change.`);
  }
  return { path: found.path, shown, exists: found.exists };
}

/** Whether a path is a folder or lies below it, by its letters alone. */
export function isWithin(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest === '' || (rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}

/** Also `.GIT`, `.git.` and the like, which some file systems take for the same name. */
export function isGitName(name: string): boolean {
  const plain = name
    .normalize('NFC')
    .replace(/[\p{Cf}\p{Mn}]/gu, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
  return plain === '.git' || plain === 'git~1';
}

function followNames(root: string, names: string[], given: string): { path: string; exists: boolean } {
  let folder = root;
  for (const [index, name] of names.entries()) {
    if (isGitName(name))
      throw new PathRefusal(`${given} lies in .git, which is not yours to read or change.`);
    if (!lstatSync(folder).isDirectory())
      throw new PathRefusal(`${basename(folder)} is a file, not a folder.`);
    const entry = realName(folder, name);
    if (entry === null) {
      refuseTwin(folder, name, given);
      return { path: join(folder, ...names.slice(index)), exists: false };
    }
    folder = realTarget(join(folder, entry), given);
    if (!isWithin(root, folder)) throw outside(given);
  }
  return { path: folder, exists: true };
}

/** The entry's name as the folder has it; `null` if there is none. */
function realName(folder: string, name: string): string | null {
  const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
  if (!stat) return null;
  return spellingAmong(readdirSync(folder), name, (entry) => {
    const other = lstatSync(join(folder, entry), { throwIfNoEntry: false });
    return other?.ino === stat.ino && other.dev === stat.dev;
  });
}

/**
 * Where case does not count, a name opens an entry that is spelled in another way: the one spelling is the file's, so
 * that one file is never taken for two. `isSame`: whether an entry is what the name opens.
 */
export function spellingAmong(
  entries: readonly string[],
  name: string,
  isSame: (entry: string) => boolean,
): string {
  if (entries.includes(name)) return name;
  return entries.find((entry) => fold(entry) === fold(name) && isSame(entry)) ?? name;
}

/** A second name that differs in case alone cannot be checked out on many machines. */
function refuseTwin(folder: string, name: string, given: string): void {
  const twin = readdirSync(folder).find((entry) => fold(entry) === fold(name));
  if (twin === undefined) return;
  throw new PathRefusal(
    `There is no ${given}, but ${join(dirname(given), twin)} differs from it in case alone.`,
  );
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function realTarget(path: string, given: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new PathRefusal(`${given} is a symlink to something that does not exist.`);
    if (code === 'ELOOP') throw new PathRefusal(`${given} is a symlink that leads in a circle.`);
    throw error;
  }
}

function outside(given: string): PathRefusal {
  return new PathRefusal(`${given} leads out of the worktree.`);
}
