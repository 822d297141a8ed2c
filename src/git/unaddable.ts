/** What `git add` cannot take, read from what it says: one such file is no reason to lose all the others. */
import { join } from 'node:path';
import type { GitResult } from './exec.ts';
import { findGitDir, statOrNull } from './git-dir.ts';
import { pathText, splitNul } from './path-bytes.ts';

export interface Unaddable {
  paths: string[];
  /** git went on without them; else it stopped and has to be told to leave them out. */
  isOver: boolean;
  /** It stopped at paths outside of a sparse checkout, which it adds when it is told to. */
  isSparse?: boolean;
}

/** Where git is asked about the current index. */
interface Asked {
  worktree: string;
  call(args: string[]): Promise<GitResult>;
}

/** `null` where no file is to blame: a full disk, a lock, a broken repository. At most 1 git process. */
export async function findUnaddable(asked: Asked, added: GitResult): Promise<Unaddable | null> {
  const { stderr, code } = added;
  if (OF_THE_REPOSITORY.test(stderr)) return null;
  // Known since git 2.34, as is the refusal.
  if (SPARSE.test(stderr)) return { paths: [], isOver: false, isSparse: true };
  const filtered = [...stderr.matchAll(FILTER)].map(([, path]) => path!);
  if (filtered.length > 0) return { paths: filtered, isOver: false };
  if (LOST_REPOSITORY.test(stderr)) {
    const paths = await lostSubmodules(asked);
    return paths.length > 0 ? { paths, isOver: false } : null;
  }
  const refused = [...stderr.matchAll(REFUSED)].map(([, a, b]) => (a ?? b)!);
  // With `--ignore-errors` it is 1 where git has come to its end.
  return refused.length > 0 && code === 1 ? { paths: refused, isOver: true } : null;
}

/** Only what git says of the index itself: "unable to index file" is said of others. */
export function isIndexBroken({ stderr }: GitResult): boolean {
  return /^(?:error|fatal): (?:.*: )?(?:index file (?:corrupt|smaller|open failed)|bad (?:index|signature)|index uses|unknown index entry|malformed (?:name|extension))/m.test(
    stderr,
  );
}

/** Of these git only warns. */
export function unopenedFolders({ stderr }: GitResult): string[] {
  return [...stderr.matchAll(/^warning: could not open directory '(.*?)\/?': /gm)].map(([, path]) => path!);
}

const OF_THE_REPOSITORY =
  /No space left on device|insufficient permission for adding an object|failed to insert into database|\.lock': |Read-only file system|Input\/output error|unable to (?:write|create) /;
const SPARSE = /outside of your sparse-checkout definition/;
const FILTER = /^fatal: (.*): clean filter '.*' failed$/gm;
const LOST_REPOSITORY = /^fatal: not a git repository: /m;
const REFUSED =
  /^error: (?:unable to (?:index file|add) '(.*?)'(?: to index)?|'(.*?)\/?' does not have a commit checked out)$/gm;

/** Submodules whose own git folder is gone: git would die of looking into them. */
async function lostSubmodules({ worktree, call }: Asked): Promise<string[]> {
  const entries = splitNul((await call(['ls-files', '-s', '-z'])).stdout);
  const links = entries.filter((entry) => entry.startsWith('160000 '));
  const lost: string[] = [];
  for (const link of links) {
    const path = pathText(link.slice(link.indexOf('\t') + 1));
    const isLinked = (await statOrNull(join(worktree, path, '.git'))) !== null;
    if (isLinked && (await findGitDir(join(worktree, path))) === null) lost.push(path);
  }
  return lost;
}
