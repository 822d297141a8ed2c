/**
 * The clean room of a session: a checkout in which only checks run, never an agent (docs/protocol/referee.md, Clean room).
 * Before each claim it holds the claim's tree, and beside it exactly what setup and the run on the base have made.
 * One attempt at a time uses it: the attempt's lease is its lock, so a crash leaves none behind.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { VerificationRecord } from '../../domain/attempt.ts';
import { copyEntry } from '../../files/copy.ts';
import { identityEnvironment } from '../../git/commit.ts';
import type { Git, GitPlace } from '../../git/exec.ts';
import { readCommonDir, readGitDir, realPathOf } from '../../git/git-dir.ts';
import { copyLocalFiles } from '../../git/local-files.ts';
import { pathText, splitNul } from '../../git/path-bytes.ts';
import { checkoutState, untrackedPaths } from '../../git/worktree.ts';
import { detectSetup, setupMark } from '../../project/setup.ts';
import { findOwnPath } from './own-path.ts';
import { isBelowFolders, isFree, keepPrepared, openPrepared, type PreparedPaths } from './prepared-paths.ts';
import {
  checkOutTree,
  giveOwnGit,
  makeRoomGit,
  type RoomFolders,
  type RoomTree,
  roomFolders,
  roomPlace,
} from './room-git.ts';
import { checkOutSubmodules } from './room-submodules.ts';

export interface RoomOptions {
  path: string;
  /** A checkout of the repository that no agent writes. */
  root: string;
  git: Git;
  /** Git for calls in the room, where the files of a claim may bring filters. */
  inside(place: GitPlace): Promise<Git>;
  /** Git folders with copies of submodules. */
  submodules?: readonly string[];
  /** Patterns of ignored files of `root` that checks need beside the commit. */
  localFiles?: readonly string[];
  /** Of the session; `null`: told by the lockfiles. */
  setup: readonly string[] | null;
}

export interface EnterRequest {
  /** A checkout that was set up and that no agent has touched yet: what setup made is copied from there. */
  source?: string | null;
  /** Runs setup commands in the room. Returns the failing record, or `null`. */
  runSetup(commands: readonly string[]): Promise<VerificationRecord | null>;
}

export interface EnteredRoom {
  /** Tells rooms apart in which setup made different things. */
  key: string;
  /** What of setup failed: nothing can be run here. */
  setupFailure: VerificationRecord | null;
  /** What setup has made is not kept yet: `keep` does it. */
  isNew: boolean;
}

export interface Room {
  readonly folders: RoomFolders;
  /** What commands in the room get beside the session's own environment. */
  readonly environment: Record<string, string>;
  /** Makes the repository of the room, with the settings that hold now. May be repeated. */
  make(): Promise<void>;
  /** Puts the room on a tree. May be repeated after a crash at any point. */
  enter(at: RoomTree, request: EnterRequest): Promise<EnteredRoom>;
  /** The tracked files that are not as the tree has them. 1 git process. */
  listChanged(): Promise<string[]>;
  /** A tracked file as the tree has it; `null`: it has none. 1 git process. */
  readTracked(path: string): Promise<string | null>;
  /** Puts the tracked files back; what lies beside them stays. */
  reset(): Promise<void>;
  /** What lies beside the tree now is put back before each claim from here on. */
  keep(at: RoomTree, key: string): Promise<void>;
}

export function openRoom(options: RoomOptions): Room {
  const { path, root, git } = options;
  const folders = roomFolders(path);
  const place = roomPlace(folders);
  const parts: RoomParts = { ...options, folders, place, current: join(path, 'current') };
  return {
    folders,
    environment: {
      TMPDIR: folders.tmp,
      XDG_CACHE_HOME: folders.cache,
      XDG_STATE_HOME: folders.state,
      // Python takes a compiled file for the source of the same size and second: two trees can follow each other faster.
      PYTHONDONTWRITEBYTECODE: '1',
    },

    make: () => makeRoomGit(git, { folders, root }),
    enter: (at, request) => enterRoom(parts, at, request),
    keep: (at, key) => keepBeside(parts, at, key),

    async listChanged() {
      const inside = await options.inside(place);
      const { stdout } = await inside.run(DIFF_FILES, { cwd: folders.tree });
      return splitNul(stdout).map(pathText);
    },

    async readTracked(name) {
      const inside = await options.inside(place);
      const found = await inside.attempt(['cat-file', 'blob', `:${name}`], { cwd: folders.tree });
      return found.code === 0 ? found.stdout.toString('utf8') : null;
    },

    async reset() {
      const inside = await options.inside(place);
      const tree = await inside.text(['write-tree'], { cwd: folders.tree });
      await inside.run(['read-tree', '--reset', '-u', '--no-recurse-submodules', tree], {
        cwd: folders.tree,
      });
    },
  };
}

interface RoomParts extends RoomOptions {
  folders: RoomFolders;
  place: GitPlace;
  /** Names what lies beside the tree; without it nobody knows. */
  current: string;
}

async function enterRoom(parts: RoomParts, at: RoomTree, request: EnterRequest): Promise<EnteredRoom> {
  const { path, root, git, folders, place, current } = parts;
  const isFresh = !existsSync(folders.git);
  await makeRoomGit(git, { folders, root });
  const before = await readFile(current, 'utf8').catch(() => null);
  const held = before === null ? null : await readPrepared(path, before);
  await clearAround(path);
  const inside = await parts.inside(place);
  await checkOutTree(inside, { folders, at, keep: inTree(held), isFresh });
  await checkOutSubmodules({
    worktree: folders.tree,
    git: inside,
    folder: join(folders.git, 'modules'),
    sources: parts.submodules ?? [],
    inside: parts.inside,
  });
  await emptyFolder(folders.tmp);
  const key = await markOf(parts, folders.tree);
  const kept = before === key ? held : await readPrepared(path, key);
  if (before !== key || kept === null) await clearBeside(parts, held?.names ?? []);
  await kept?.putBack();
  for (const folder of [folders.cache, folders.state]) await mkdir(folder, { recursive: true });
  await giveOwnGit(folders, { commit: await commitOf(git, folders, at), objects: await objectsOf(root) });
  if (kept === null) return { key, setupFailure: await prepare(parts, key, request), isNew: true };
  await writeFile(current, key);
  return { key, setupFailure: null, isNew: false };
}

/** Of a room; the making of its repository is ended by then. */
const OF_A_ROOM = ['tree', 'git', 'tmp', 'cache', 'state', 'prepared', 'current'];
const A_SESSION = /^ses_[\w-]+$/;

/** Many programs look for their settings above the folder that they run in: nothing but rooms may lie there. */
async function clearAround(path: string): Promise<void> {
  const above = dirname(path);
  const strange = [
    ...(await readdir(path)).filter((name) => !OF_A_ROOM.includes(name)).map((name) => join(path, name)),
    ...(await readdir(above)).filter((name) => !A_SESSION.test(name)).map((name) => join(above, name)),
  ];
  for (const entry of strange) await rm(entry, { recursive: true, force: true });
}

async function clearBeside({ path, current }: RoomParts, names: readonly string[]): Promise<void> {
  // From here until it is written again, nobody knows what lies beside the tree.
  await rm(current, { force: true });
  for (const name of [...names, 'cache', 'state'])
    if (isBelowFolders(path, name)) await rm(join(path, name), { recursive: true, force: true });
}

/** Makes beside the tree what setup makes: a copy of it, or setup itself. */
async function prepare(
  parts: RoomParts,
  key: string,
  { source, runSetup }: EnterRequest,
): Promise<VerificationRecord | null> {
  const { folders, setup, git, root, localFiles: patterns = [] } = parts;
  const bring = { from: root, to: folders.tree, patterns, isCommitted: false };
  const names = source ? await copyableNames(parts, source) : null;
  const isRoomFor = (name: string): boolean => isFree(folders.tree, name);
  if (source && names?.every(isRoomFor) && (await markOf(parts, source)) === key) {
    for (const name of names) await copyEntry(join(source, name), join(folders.tree, name));
    await copyLocalFiles(git, bring);
    return null;
  }
  await copyLocalFiles(git, bring);
  return runSetup(setup ?? (await detectSetup(folders.tree)));
}

/** `null`: it leads back to where it was made. */
async function copyableNames({ git }: RoomParts, source: string): Promise<string[] | null> {
  const names = await untrackedPaths(git, source);
  return findOwnPath(await realPathOf(source), names) === null ? names : null;
}

async function markOf({ setup, localFiles = [] }: RoomParts, cwd: string): Promise<string> {
  const mark = (await setupMark({ commands: setup, cwd })) ?? NO_SETUP;
  return localFiles.length === 0 ? mark : `${mark}-${shortHash(localFiles)}`;
}

function shortHash(words: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 16);
}

async function keepBeside(parts: RoomParts, at: RoomTree, key: string): Promise<void> {
  const { path, root, git, folders, place, current } = parts;
  const inside = await parts.inside(place);
  const { changed, untracked, ignored } = await checkoutState(inside, folders.tree);
  const names = [...untracked, ...ignored].filter((name) => name !== '.git');
  if (changed.length > 0) {
    await checkOutTree(inside, { folders, at, keep: names });
    await giveOwnGit(folders, { commit: await commitOf(git, folders, at), objects: await objectsOf(root) });
  }
  const copy = preparedFolder(path, key);
  await rm(copy, { recursive: true, force: true });
  const all = ['cache', 'state', ...names.map((name) => `tree/${name}`)];
  const kept = await keepPrepared({ checkout: path, copy: join(copy, 'files'), names: all });
  await writePrepared(path, key, kept);
  await writeFile(current, key);
}

const NO_SETUP = 'none';
const DIFF_FILES = ['diff-files', '--name-only', '-z', '--no-renames', '--ignore-submodules=all'];

function inTree(held: PreparedPaths | null): string[] {
  const names = held?.names ?? [];
  return names.filter((name) => name.startsWith('tree/')).map((name) => name.slice('tree/'.length));
}

async function emptyFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
}

async function objectsOf(root: string): Promise<string> {
  return join(await realPathOf(await readCommonDir(await readGitDir(root))), 'objects');
}

/** What nobody has committed gets a commit that only the room knows: tools ask for HEAD. */
async function commitOf(git: Git, { git: gitDir }: RoomFolders, { tree, commit }: RoomTree): Promise<string> {
  if (commit !== null) return commit;
  // Always the same commit for the same tree.
  const dates = { GIT_AUTHOR_DATE: '@0 +0000', GIT_COMMITTER_DATE: '@0 +0000' };
  const env = { ...identityEnvironment(null), ...dates };
  return git.text(['--git-dir', gitDir, 'commit-tree', tree, '-m', 'under judgement'], { cwd: gitDir, env });
}

function preparedFolder(path: string, key: string): string {
  return join(roomFolders(path).prepared, key);
}

/** What was kept for a key; `null`: nothing, or not all of it. */
async function readPrepared(path: string, key: string): Promise<PreparedPaths | null> {
  const folder = preparedFolder(path, key);
  const open = opened.get(folder);
  if (open && existsSync(join(folder, 'seen.json'))) return open;
  const text = await readFile(join(folder, 'seen.json'), 'utf8').catch(() => null);
  if (text === null || !existsSync(folder)) return null;
  const { names, seen } = JSON.parse(text) as { names: string[]; seen: [string, string][] };
  return remember(
    folder,
    openPrepared({ checkout: path, copy: join(folder, 'files'), names }, new Map(seen)),
  );
}

/** Of the rooms that this process used last: what is put back looks otherwise than the file says. */
const opened = new Map<string, PreparedPaths>();
const MOST_OPENED = 8;

function remember(folder: string, prepared: PreparedPaths): PreparedPaths {
  opened.delete(folder);
  opened.set(folder, prepared);
  for (const oldest of [...opened.keys()].slice(0, -MOST_OPENED)) opened.delete(oldest);
  return prepared;
}

/** Written last and at once: a copy without it does not count. */
async function writePrepared(path: string, key: string, kept: PreparedPaths): Promise<void> {
  const file = join(preparedFolder(path, key), 'seen.json');
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify({ names: kept.names, seen: [...kept.seen()] }));
  await rename(draft, file);
  remember(preparedFolder(path, key), kept);
}
