/** What preflight left in a worktree: kept out of every commit, clean and list of changed files. */
import type { Git } from '../../git/exec.ts';
import { pathText, splitNul } from '../../git/path-bytes.ts';
import { PROTECTED_PATHS } from '../../git/stage.ts';
import { readStatus } from '../../git/worktree.ts';

/** Each of them is a pattern that git compares with every file. */
const MOST_PATHS = 1_000;
/** A folder that holds more stands for itself. */
const MOST_FILES = 200;

export interface Preflighted {
  /** Tracked files that are not what they were. */
  changed: string[];
  artifacts: string[];
}

/**
 * Untracked files, told one by one as far as they are few: what a pulse adds beside them is its work. And what is
 * ignored, for a pulse may change what that is: whole folders first. 1 git process, 2 where something is untracked.
 */
export async function readArtifacts(git: Git, worktree: string): Promise<Preflighted> {
  const entries = await readStatus(git, worktree);
  const marked = (mark: string): string[] =>
    entries.filter((entry) => entry.mark === mark).map(({ path }) => path);
  const changed = entries.filter(({ mark }) => mark !== '??' && mark !== '!!').map(({ path }) => path);
  const untracked = await opened(git, worktree, marked('??'));
  const isFolder = (path: string): boolean => path.endsWith('/');
  const ignored = marked('!!').sort((a, b) => Number(isFolder(b)) - Number(isFolder(a)));
  const room = Math.max(0, MOST_PATHS - untracked.length);
  const artifacts = [...untracked, ...ignored.slice(0, room)].map(plain).filter((path) => !isOwn(path));
  return { changed, artifacts };
}

/** A wholly untracked folder as the files in it, unless they are many. */
async function opened(git: Git, worktree: string, paths: readonly string[]): Promise<string[]> {
  const folders = paths.filter((path) => path.endsWith('/'));
  if (folders.length === 0) return [...paths];
  const options = ['ls-files', '--others', '--exclude-standard', '-z'];
  const files = splitNul((await git.run(options, { cwd: worktree })).stdout).map(pathText);
  const below = Map.groupBy(files, (file) => folders.find((folder) => file.startsWith(folder)));
  let count = paths.length;
  return paths.flatMap((path) => {
    const inside = below.get(path) ?? [];
    const isFew = inside.length <= MOST_FILES && count + inside.length <= MOST_PATHS;
    if (inside.length === 0 || !isFew) return [path];
    count += inside.length;
    return inside;
  });
}

function plain(path: string): string {
  return path.replace(/\/$/, '');
}

function isOwn(path: string): boolean {
  return PROTECTED_PATHS.some((own) => path === own || path.startsWith(`${own}/`));
}
