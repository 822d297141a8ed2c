/**
 * The repository of a clean room. It borrows the objects of the user's repository and nothing else: settings and refs are
 * those that were there before any agent ran, hooks there are none. Pulse's git works with a folder that no command in
 * the room is shown; the commands get a `.git` of their own, made again before each claim.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git, GitPlace } from '../../git/exec.ts';
import { readCommonDir, readGitDir, realPathOf } from '../../git/git-dir.ts';
import { splitNul } from '../../git/path-bytes.ts';
import { ignorePattern } from '../../git/recovery.ts';
import { type Setting, writeSettings } from './room-settings.ts';

export interface RoomFolders {
  /** What is checked out: where the commands run. */
  tree: string;
  /** Pulse's own repository of it. */
  git: string;
  tmp: string;
  cache: string;
  state: string;
  /** What setup and the run on the base have made, to put it back. */
  prepared: string;
}

export function roomFolders(path: string): RoomFolders {
  const below = (name: string): string => join(path, name);
  return {
    tree: below('tree'),
    git: below('git'),
    tmp: below('tmp'),
    cache: below('cache'),
    state: below('state'),
    prepared: below('prepared'),
  };
}

export function roomPlace({ tree, git }: RoomFolders): GitPlace {
  return { worktree: tree, gitDir: git, commonDir: git };
}

/** Makes the room's repository, whole or not at all. May be repeated. 2 git processes, 0 where it is there. */
export async function makeRoomGit(
  git: Git,
  { folders, root }: { folders: RoomFolders; root: string },
): Promise<void> {
  if (existsSync(folders.git)) return;
  const commonDir = await realPathOf(await readCommonDir(await readGitDir(root)));
  const draft = `${folders.git}.making`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(join(draft, 'objects', 'info'), { recursive: true });
  await mkdir(join(draft, 'refs'));
  await mkdir(folders.tree, { recursive: true });
  await writeFile(join(draft, 'HEAD'), 'ref: refs/heads/pulse\n');
  await writeFile(join(draft, 'objects', 'info', 'alternates'), `${join(commonDir, 'objects')}\n`);
  await writeFile(
    join(draft, 'config'),
    writeSettings(await readSettings(git, { root, commonDir })),
    'latin1',
  );
  await writeFile(join(draft, 'packed-refs'), await readRefs(git, root));
  if (existsSync(join(commonDir, 'shallow')))
    await copyFile(join(commonDir, 'shallow'), join(draft, 'shallow'));
  await copyFile(join(draft, 'config'), join(draft, CONFIG_COPY));
  await rename(draft, folders.git);
}

/** A filter in a claim's files may write where git writes: the settings are put back before each use. */
const CONFIG_COPY = 'config.pulse';

/** Of one repository, and not of a clone of it; and what would run something. */
const NOT_COPIED =
  /^(?:core\.(?:worktree|bare|hookspath|fsmonitor)$|extensions\.(?:worktreeconfig|refstorage)$|include|hook\.)/i;

async function readSettings(
  git: Git,
  { root, commonDir }: { root: string; commonDir: string },
): Promise<Setting[]> {
  const file = join(commonDir, 'config');
  const { stdout } = await git.run(['config', '--file', file, '--includes', '--list', '-z'], { cwd: root });
  const settings = splitNul(stdout).map((entry): Setting => {
    const at = entry.indexOf('\n');
    return at < 0 ? { key: entry, value: null } : { key: entry.slice(0, at), value: entry.slice(at + 1) };
  });
  const kept = settings.filter(({ key }) => !NOT_COPIED.test(key));
  const lfs = join(commonDir, 'lfs');
  const storage = kept.some(({ key }) => key === 'lfs.storage') ? [] : [{ key: 'lfs.storage', value: lfs }];
  return [...kept, { key: 'core.bare', value: 'false' }, ...storage];
}

/** Branches and tags, as tools look for them that name a version. */
async function readRefs(git: Git, root: string): Promise<string> {
  const format = '%(objectname) %(refname)';
  const refs = await git.text(['for-each-ref', `--format=${format}`, 'refs/heads', 'refs/tags'], {
    cwd: root,
  });
  return refs === '' ? '' : `${refs}\n`;
}

export interface RoomTree {
  tree: string;
  /** `null`: nobody has committed it yet. */
  commit: string | null;
}

/**
 * Puts the checkout on a tree: tracked files are those of the tree, and what is not tracked goes, but for what is named.
 * May be repeated. 2 git processes, 1 where nothing can be there yet (`isFresh`).
 */
export async function checkOutTree(
  git: Git,
  {
    folders,
    at,
    keep,
    isFresh = false,
  }: { folders: RoomFolders; at: RoomTree; keep: readonly string[]; isFresh?: boolean },
): Promise<void> {
  const { tree: cwd, git: gitDir } = folders;
  await rm(join(cwd, '.git'), { recursive: true, force: true });
  await rm(join(gitDir, 'index.lock'), { force: true });
  await copyFile(join(gitDir, CONFIG_COPY), join(gitDir, 'config'));
  const read = ['read-tree', '--reset', '-u', '--no-recurse-submodules', at.tree];
  const first = await git.attempt(read, { cwd });
  if (first.code !== 0) {
    // An index that a crash or a filter has broken: everything is written again.
    await rm(join(gitDir, 'index'), { force: true });
    await git.run(read, { cwd });
  }
  if (isFresh) return;
  await git.run(['clean', '-ffdxq', ...keep.flatMap((path) => ['-e', ignorePattern(path)])], { cwd });
}

/** The `.git` that the commands find. What they do to it is gone with it. 0 git processes. */
export async function giveOwnGit(
  folders: RoomFolders,
  { commit, objects }: { commit: string; objects: string },
): Promise<void> {
  const own = join(folders.tree, '.git');
  await rm(own, { recursive: true, force: true });
  await mkdir(join(own, 'objects', 'info'), { recursive: true });
  await mkdir(join(own, 'refs'));
  await writeFile(join(own, 'HEAD'), `${commit}\n`);
  await writeFile(
    join(own, 'objects', 'info', 'alternates'),
    `${objects}\n${join(folders.git, 'objects')}\n`,
  );
  for (const name of ['config', 'packed-refs', 'shallow', 'index']) {
    const from = join(folders.git, name);
    if (existsSync(from)) await copyFile(from, join(own, name));
  }
}
