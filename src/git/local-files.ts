/** Files of the user's checkout that git ignores and a worktree needs, such as `.env`. */
import { existsSync, lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { copyEntry } from '../files/copy.ts';
import { makeFolder } from '../files/folder.ts';
import { globMatcher } from '../files/glob.ts';
import { isNothing } from '../files/regular-file.ts';
import type { Git } from './exec.ts';
import { pathText, splitNul } from './path-bytes.ts';
import { PROTECTED_PATHS } from './stage.ts';

export interface LocalFiles {
  /** The user's checkout. Where there is none, as on another host, nothing is copied. */
  from: string;
  to: string;
  patterns: readonly string[];
  /** Only what git ignores in `to` as well: nothing of it may come into a commit. */
  isCommitted: boolean;
}

/**
 * Copies what is not there yet and returns its paths. A pattern is looked for among the ignored files and folders; inside
 * of an ignored folder a path must be named. A link is copied as the file that it leads to. 1 git process, 2 where
 * something is new and may be committed, 0 without patterns.
 */
export async function copyLocalFiles(
  git: Git,
  { from, to, patterns, isCommitted }: LocalFiles,
): Promise<string[]> {
  if (patterns.length === 0 || !existsSync(from)) return [];
  const names = (await ignoredPaths(git, { root: from, patterns })).filter((name) => isMissing(to, name));
  const wanted = isCommitted ? await ignoredAmong(git, to, names) : names;
  const copied: string[] = [];
  for (const name of wanted) if (await copyOne({ from, to, name })) copied.push(name);
  return copied;
}

async function ignoredPaths(
  git: Git,
  { root, patterns }: { root: string; patterns: readonly string[] },
): Promise<string[]> {
  const list = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
  const { stdout } = await git.run(list, { cwd: root });
  const ignored = splitNul(stdout).map(pathText);
  const folders = ignored.filter((path) => path.endsWith('/'));
  const isWanted = globMatcher(patterns);
  const named = patterns.map(tidy).filter((path) => folders.some((folder) => path.startsWith(folder)));
  const found = [
    ...ignored.map(tidy).filter(isWanted),
    ...named.filter((path) => existsSync(join(root, path))),
  ];
  return [...new Set(found)].filter((path) => !PROTECTED_PATHS.includes(path.split('/')[0]!));
}

function tidy(path: string): string {
  return path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
}

function isMissing(root: string, name: string): boolean {
  return lstatSync(join(root, name), { throwIfNoEntry: false }) === undefined;
}

/** A file's name alone cannot say whether it is a folder, and a rule may hold for folders alone: both are asked. */
async function ignoredAmong(git: Git, root: string, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const stdin = names.map((name) => `${name}\0${name}/\0`).join('');
  const { stdout } = await git.attempt(['check-ignore', '--stdin', '-z'], { cwd: root, stdin });
  const ignored = new Set(splitNul(stdout).map((path) => tidy(pathText(path))));
  return names.filter((name) => ignored.has(name));
}

/** False where it is gone by now, or a link in the worktree would lead the copy elsewhere. */
async function copyOne({ from, to, name }: { from: string; to: string; name: string }): Promise<boolean> {
  try {
    await using _ = await makeFolder(to, name.split('/').slice(0, -1));
    await copyEntry(await realpath(join(from, name)), join(to, name));
    return true;
  } catch (error) {
    if (isNothing(error)) return false;
    throw error;
  }
}
