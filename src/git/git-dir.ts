/**
 * What can be read from git's own files without a git process: which folder is whose, and where HEAD stands. An agent can
 * write many of them: a link, a pipe or a huge file in such a place counts as none. Small files, dozens of them an
 * iteration: read at once, they cost a tenth of what they cost through Node's threads.
 */
import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { inflateSync } from 'node:zlib';
import { PulseError } from '../domain/errors.ts';
import { readRegularFileSync, readTextOrNullSync } from '../files/regular-file.ts';
import type { Git } from './exec.ts';

/** The private git folder of a checkout (`.git`, or what its `.git` file names). Throws `git_failed` if it is lost. */
export async function readGitDir(worktree: string): Promise<string> {
  const gitDir = await findGitDir(worktree);
  if (gitDir !== null) return gitDir;
  throw new PulseError('git_failed', `${worktree} has lost its link to the repository`, {
    hint: 'The worktree is linked again when the session is resumed.',
    data: { worktree },
  });
}

/** As `readGitDir`, null where there is no git folder behind it. */
export async function findGitDir(worktree: string): Promise<string | null> {
  const link = join(worktree, '.git');
  const kind = await statOrNull(link);
  if (kind === null) return null;
  if (kind.isDirectory()) return link;
  const target = await readGitLink(await realPathOf(link));
  if (target === null) return null;
  const gitDir = resolve(worktree, target);
  return (await statOrNull(join(gitDir, 'HEAD'))) === null ? null : gitDir;
}

/** What a `.git` file names, as it stands there; `null` where it names nothing. */
export async function readGitLink(link: string): Promise<string | null> {
  return /^gitdir: (.*?)\n?$/s.exec((await readOrNull(link)) ?? '')?.[1] ?? null;
}

/** The folder that all worktrees of a repository share. */
export async function readCommonDir(gitDir: string): Promise<string> {
  const shared = await readOrNull(join(gitDir, 'commondir'));
  return shared === null ? gitDir : resolve(gitDir, shared.trimEnd());
}

/** `sha` when HEAD is detached, `ref` when it is on a branch; neither where only git can tell (reftable). */
export interface HeadFile {
  sha: string | null;
  ref: string | null;
  /** Whether there is a file at all: git would wait for ever for a pipe in its place. */
  isThere: boolean;
}

export async function readHeadFile(gitDir: string): Promise<HeadFile> {
  const found = await readOrNull(join(gitDir, 'HEAD'));
  const content = (found ?? '').trim();
  if (isObjectId(content)) return { sha: content, ref: null, isThere: true };
  const ref = /^ref:\s*(.+)$/.exec(content)?.[1] ?? null;
  return { sha: null, ref: ref === 'refs/heads/.invalid' ? null : ref, isThere: found !== null };
}

/** The commit a checkout stands on, null where its branch is unborn. 0 git processes when detached, else 1. */
export async function worktreeHead(git: Git, worktree: string): Promise<string | null> {
  const head = await readHeadFile(await readGitDir(worktree));
  if (head.sha !== null || !head.isThere) return head.sha;
  const resolved = await git.attempt(['rev-parse', '--verify', '-q', 'HEAD^{commit}'], { cwd: worktree });
  return resolved.code === 0 ? resolved.stdout.toString().trim() : null;
}

/** The tree of a commit. 0 git processes where the commit is a loose object (a fresh one always is), else 1. */
export async function treeOf(git: Git, { cwd, commit }: { cwd: string; commit: string }): Promise<string> {
  const known = knownTrees.get(commit) ?? (await lookUpTree(git, cwd, commit));
  rememberTree(commit, known);
  return known;
}

/** The names of objects never change their meaning. Only so many are kept. */
const knownTrees = new Map<string, string>();
const TREES_KNOWN = 500;

export function rememberTree(commit: string, tree: string): void {
  if (knownTrees.size >= TREES_KNOWN) knownTrees.clear();
  knownTrees.set(commit, tree);
}

async function lookUpTree(git: Git, cwd: string, commit: string): Promise<string> {
  const commonDir = await readCommonDir(await readGitDir(cwd));
  const path = join(commonDir, 'objects', commit.slice(0, 2), commit.slice(2));
  const tree = /^commit \d+\0tree ([0-9a-f]+)\n/.exec(inflated(path))?.[1];
  return tree || (await git.text(['rev-parse', '--verify', `${commit}^{tree}`], { cwd }));
}

/** Longer ones are left to git. */
const LONGEST_COMMIT = 64 * 1024;

/** Empty for what is not there, is no object, or unfolds to far more than a commit has: git is asked, and says what is wrong. */
function inflated(path: string): string {
  try {
    const loose = readRegularFileSync(path, { maxBytes: LONGEST_COMMIT });
    return inflateSync(loose, { maxOutputLength: 16 * LONGEST_COMMIT }).toString('latin1');
  } catch {
    return '';
  }
}

/** Each checkout of a repository by its private git folder, the main one first. */
export async function listGitDirs(commonDir: string): Promise<string[]> {
  const linked = join(commonDir, 'worktrees');
  const names = unlessMissing(() => readdirSync(linked)) ?? [];
  return [commonDir, ...names.map((name) => join(linked, name))];
}

/** The registration of a linked worktree at this path, even where its folder or its `.git` file is gone. */
export async function findRegistration(commonDir: string, path: string): Promise<string | null> {
  const wanted = await realPathOf(path);
  const linked = basename((await findGitDir(path)) ?? '');
  const gitDirs = (await listGitDirs(commonDir)).slice(1);
  // The one that its own link names comes first: with hundreds of worktrees the others need not be read.
  gitDirs.sort((a, b) => Number(basename(b) === linked) - Number(basename(a) === linked));
  for (const gitDir of gitDirs) {
    const link = await readOrNull(join(gitDir, 'gitdir'));
    if (link === null) continue;
    if ((await realPathOf(dirname(resolve(gitDir, link.trimEnd())))) === wanted) return gitDir;
  }
  return null;
}

/** The real path of what may not exist yet: its nearest existing ancestor is resolved. */
export async function realPathOf(path: string): Promise<string> {
  const absolute = resolve(path);
  const real = unlessMissing(() => realpathSync.native(absolute));
  if (real !== null) return real;
  const parent = dirname(absolute);
  return parent === absolute ? absolute : join(await realPathOf(parent), basename(absolute));
}

export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

export async function readOrNull(path: string): Promise<string | null> {
  return readTextOrNullSync(path, { maxBytes: LONGEST_FILE });
}

/** None of git's own small files is longer. */
const LONGEST_FILE = 4 * 1024 * 1024;

export async function statOrNull(path: string): Promise<Stats | null> {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

function unlessMissing<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    return missingIsNull(error as NodeJS.ErrnoException);
  }
}

/** For `catch`: a file that is not there is an answer, anything else is an error. */
export function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
