/** Brings an index, in any state, up to the whole working tree. */

import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import { type Git, type GitResult, gitFailure } from './exec.ts';
import { readGitDir, statOrNull } from './git-dir.ts';
import { type IndexEntry, indexedPaths, readTheirIndex, restoreOwnIndex } from './own-index.ts';
import { pathRaw, splitNul } from './path-bytes.ts';
import { findUnaddable, isIndexBroken, type Unaddable, unopenedFolders } from './unaddable.ts';

/** Pulse's own scratch folders: a unit's commit carries them over from its start as they are. */
export const PROTECTED_PATHS = ['.pulse', '.context'];

export interface StageRequest {
  worktree: string;
  /** The commit that the index is compared with. */
  against: string;
  /** Repository-relative paths to leave as they are in `against`, besides the protected ones. */
  exclude?: string[];
  /** A private index (tree.ts); the worktree's own by default. */
  indexFile?: string;
}

export interface TreeRequest extends Omit<StageRequest, 'indexFile'> {
  /** The repository's checkout, where git's kept processes live. */
  root: string;
  againstTree: string;
}

export interface StagedChange {
  /** latin1 (path-bytes.ts). */
  path: string;
  oldMode: string;
  oldId: string;
  newMode: string;
  newId: string;
}

export interface Staged {
  changes: StagedChange[];
  /** What git could not add: it is not in the index, or as it was there before. */
  leftOut: string[];
}

/**
 * Stages everything but ignored and protected paths and returns what now differs from `against`. A nested repository
 * that is no submodule is staged as the files it holds. A file that git cannot add is left out and named. 2 git
 * processes; 1 more where paths are excluded, where the index is missing or protected paths were staged by the agent,
 * up to 5 more per level of nested repositories, 1 or 2 more for each file that stops git.
 */
export async function stageAll(git: Git, request: StageRequest): Promise<Staged> {
  const stage = await openStage(git, request);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (!(await addAll(stage))) continue;
    const changes = await readStaged(stage);
    if (await stage.trackFurther()) continue;
    const isSpared = (change: StagedChange) => stage.isSpared(change.path);
    const links = await unregisteredLinks(stage, changes);
    await restore(stage, changes.filter(isSpared));
    if (links.length === 0)
      return { changes: changes.filter((change) => !isSpared(change)), leftOut: stage.leftOut() };
    await openUp(stage, links);
  }
  throw tooManyNested(request);
}

/**
 * As `stageAll` into the worktree's own index, with the tree that it now makes. 2 git processes (`diff-tree` may be a
 * kept one); more as for `stageAll`.
 */
export async function stageTree(git: Git, request: TreeRequest): Promise<Staged & { tree: string }> {
  const { root, againstTree } = request;
  const stage = await openStage(git, request);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const tree = await addAndWrite(git, stage);
    if (tree === null) continue;
    const isSame = tree === againstTree;
    const changes = isSame
      ? []
      : parseRaw(splitNul(await git.diffTrees(root, { from: againstTree, to: tree })));
    if (await stage.trackFurther()) continue;
    if (isSame) return { tree, changes, leftOut: stage.leftOut() };
    const spared = changes.filter((change) => stage.isSpared(change.path));
    const links = await unregisteredLinks(stage, changes);
    if (spared.length === 0 && links.length === 0) return { tree, changes, leftOut: stage.leftOut() };
    await restore(stage, spared);
    await openUp(stage, links);
  }
  throw tooManyNested(request);
}

/** `null`: something stood in the way and has been cleared; to be done again. */
async function addAndWrite(git: Git, stage: Stage): Promise<string | null> {
  const both = await git.attempt(stage.adding(), { cwd: stage.worktree, next: ['write-tree'] });
  if (both.code === 0) {
    stage.tell(both);
    return both.stdout.toString().trim();
  }
  if (!(await addAll(stage))) return null;
  const written = await stage.call(['write-tree']);
  if (written.code === 0) return written.stdout.toString().trim();
  await restoreSpared(stage, written);
  return null;
}

/** `false`: as above. */
async function addAll(stage: Stage): Promise<boolean> {
  for (let tries = 0; ; tries++) {
    const added = await stage.call(stage.adding());
    if (added.code === 0) {
      stage.tell(added);
      return true;
    }
    if (await recover(stage, added)) return false;
    const found = tries < MAX_UNADDABLE ? await findUnaddable(stage, added) : null;
    if (found === null) throw gitFailure(ADD, added);
    stage.leaveOut(found);
    // It went on with all the others.
    if (found.isOver) return true;
  }
}

/** What makes no tree and was not added is a conflict that the agent left in a protected path. */
async function restoreSpared(stage: Stage, written: GitResult): Promise<void> {
  const spared = (await readStaged(stage)).filter((change) => stage.isSpared(change.path));
  if (spared.length === 0) throw gitFailure(['write-tree'], written);
  await restore(stage, spared);
}

function tooManyNested({ worktree }: StageRequest): PulseError {
  return new PulseError('git_failed', `${worktree} has too many nested repositories to commit`);
}

const MAX_ROUNDS = 12;
const MAX_UNADDABLE = 500;
/** Modes of what is a repository of its own, and of what is not there. */
export const GITLINK = '160000';
export const NO_FILE = '000000';
const ADD = [
  ...['-c', 'core.safecrlf=false', '-c', 'advice.addEmbeddedRepo=false'],
  ...['add', '-A', '--ignore-errors'],
];

interface Stage {
  worktree: string;
  against: string;
  indexPath: string;
  spared: string[];
  isSpared(path: string): boolean;
  /** The arguments of the `git add` that comes next. */
  adding(): string[];
  /** The folders that git said it could not open. */
  tell(added: GitResult): void;
  leaveOut(found: Unaddable): void;
  /** Once: adds what the agent tracks and git would not add by itself. Whether there was such a thing. */
  trackFurther(): Promise<boolean>;
  leftOut(): string[];
  call(args: string[], stdin?: string): Promise<GitResult>;
  must(args: string[], stdin?: string): Promise<GitResult>;
}

async function openStage(git: Git, request: StageRequest): Promise<Stage> {
  const { worktree, against, exclude = [], indexFile } = request;
  const paths = [...PROTECTED_PATHS, ...exclude];
  const raw = paths.map(pathRaw);
  const env = indexFile === undefined ? undefined : { GIT_INDEX_FILE: indexFile };
  const options = (stdin?: string) => ({
    cwd: worktree,
    env,
    stdin: stdin === undefined ? undefined : Buffer.from(stdin, 'latin1'),
  });
  const gitDir = await readGitDir(worktree);
  const { further, skipped } = await readTheirIndex(gitDir, against.length / 2);
  if (indexFile === undefined) restoreOwnIndex(gitDir);
  const leftOut = new Set<string>();
  const more: string[] = [];
  const stage: Stage = {
    worktree,
    against,
    indexPath: indexFile ?? join(gitDir, 'index'),
    spared: PROTECTED_PATHS.map(sparing),
    adding: () => [...ADD, ...more, '--', ':/', ...stage.spared],
    tell(added) {
      for (const folder of unopenedFolders(added)) leftOut.add(folder);
    },
    leaveOut({ paths, isOver, isSparse }) {
      if (isSparse && !more.includes('--sparse')) more.push('--sparse');
      for (const path of paths) leftOut.add(path);
      if (!isOver) stage.spared.push(...paths.map(sparing));
    },
    async trackFurther() {
      if (further.length === 0) return false;
      const tracked = indexedPaths(stage.indexPath, against.length / 2);
      const missing = further
        .splice(0)
        .filter(({ path }) => !tracked.has(path) && !stage.isSpared(path) && isOnDisk(worktree, path));
      return await track(stage, missing);
    },
    leftOut: () => [...leftOut].sort(),
    isSpared: (path) => raw.some((folder) => path === folder || path.startsWith(`${folder}/`)),
    call: (args, stdin) => git.attempt(args, options(stdin)),
    must: (args, stdin) => git.run(args, options(stdin)),
  };
  // Without its index, files that are tracked although ignored would count as deleted.
  if ((await statOrNull(stage.indexPath)) === null) await stage.must(['read-tree', against]);
  // Whether a repository of its own belongs to this one is told by the index alone.
  await track(
    stage,
    further.filter(({ mode, path }) => mode === GITLINK && !stage.isSpared(path)),
  );
  const absent = skipped.filter(({ path }) => !isOnDisk(worktree, path)).map(({ path }) => `${path}\0`);
  if (absent.length > 0)
    await stage.call(['update-index', '-z', '--skip-worktree', '--stdin'], absent.join(''));
  stage.spared.push(...(await withoutIgnored(stage, exclude)).map(sparing));
  return stage;
}

async function track(stage: Stage, entries: readonly IndexEntry[]): Promise<boolean> {
  const lines = entries.map(({ mode, id, path }) => `${mode} ${id}\t${path}\0`);
  if (lines.length === 0) return false;
  return (await stage.call(['update-index', '-z', '--index-info'], lines.join(''))).code === 0;
}

function isOnDisk(worktree: string, path: string): boolean {
  return (
    lstatSync(Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from(path, 'latin1')]), {
      throwIfNoEntry: false,
    }) !== undefined
  );
}

function sparing(path: string): string {
  return `:(top,exclude,literal)${path}`;
}

/** `git add` refuses to leave out by name what is ignored anyway, and an agent may change what is. */
async function withoutIgnored(stage: Stage, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const asked = paths.map((path) => `${pathRaw(path)}\0`).join('');
  // Where it stops at a path that it cannot judge (behind a link), what it has said so far counts.
  const answer = await stage.call(['check-ignore', '-z', '--stdin'], asked);
  const ignored = new Set(splitNul(answer.stdout));
  return paths.filter((path) => !ignored.has(pathRaw(path)));
}

async function readStaged(stage: Stage): Promise<StagedChange[]> {
  const options = ['--cached', '--raw', '-z', '--no-renames', '--ignore-submodules=none'];
  return parseRaw(splitNul((await stage.must(['diff-index', ...options, stage.against, '--'])).stdout));
}

/** The fields of `--raw -z --no-renames`: `:oldmode newmode oldid newid status`, then the path. */
export function parseRaw(fields: string[]): StagedChange[] {
  const changes: StagedChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const about = fields[at]!.slice(1).split(' ') as [string, string, string, string];
    const [oldMode, newMode, oldId, newId] = about;
    changes.push({ path: fields[at + 1]!, oldMode, newMode, oldId, newId });
  }
  return changes;
}

/** `git add` refuses a corrupt index and a nested repository without a commit. `true`: it may succeed now. */
async function recover(stage: Stage, added: GitResult): Promise<boolean> {
  if (isIndexBroken(added)) {
    await rm(stage.indexPath, { force: true });
    await stage.must(['read-tree', stage.against]);
    return true;
  }
  const others = splitNul((await stage.must(['ls-files', '-o', '--exclude-standard', '-z'])).stdout);
  const nested = others.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1));
  await openUp(stage, nested);
  return nested.length > 0;
}

async function unregisteredLinks(stage: Stage, changes: StagedChange[]): Promise<string[]> {
  const fresh = changes.filter(
    ({ path, newMode, oldMode }) => newMode === GITLINK && oldMode !== GITLINK && !stage.isSpared(path),
  );
  if (fresh.length === 0) return [];
  const query = ['config', '-z', '-f', '.gitmodules', '--get-regexp', '^submodule\\..*\\.path$'];
  const registered = splitNul((await stage.call(query)).stdout).map((entry) =>
    entry.slice(entry.indexOf('\n') + 1),
  );
  return fresh.map((change) => change.path).filter((path) => !registered.includes(path));
}

/**
 * git looks into a nested repository only where the index already holds a file below it. So one that does not exist
 * is entered: the next `git add -A` finds the others and drops it.
 */
async function openUp(stage: Stage, nested: string[]): Promise<void> {
  if (nested.length === 0) return;
  const filler = '1'.repeat(stage.against.length);
  await updateIndex(
    stage,
    nested.flatMap((path) => [remove(path, filler), `100644 ${filler}\t${path}/.pulse-embedded\0`]),
  );
}

async function restore(stage: Stage, changes: StagedChange[]): Promise<void> {
  const lines = changes.map(({ path, oldMode, oldId }) =>
    oldMode === NO_FILE ? remove(path, oldId) : `${oldMode} ${oldId}\t${path}\0`,
  );
  if (lines.length > 0) await updateIndex(stage, lines);
}

function remove(path: string, anyId: string): string {
  return `0 ${'0'.repeat(anyId.length)}\t${path}\0`;
}

async function updateIndex(stage: Stage, lines: string[]): Promise<void> {
  await stage.must(['update-index', '-z', '--index-info'], lines.join(''));
}
