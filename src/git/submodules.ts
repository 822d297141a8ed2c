/**
 * Work in submodules. In a linked worktree a submodule's repository lies with the worktree and goes with it: what is
 * committed there and nowhere else is kept beside the user's own copy of the submodule first.
 */
import { existsSync } from 'node:fs';
import { constants, cp, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Identity } from '../domain/attempt.ts';
import { identityEnvironment } from './commit.ts';
import type { Git } from './exec.ts';
import { findGitDir, readCommonDir, readGitDir, realPathOf } from './git-dir.ts';
import { pathText, splitNul } from './path-bytes.ts';
import { GITLINK } from './stage.ts';

export interface SubmodulesRequest {
  /** A checkout of the repository that stays. */
  root: string;
  worktree: string;
  /** For what is written outside of the worktree, where the other git is enclosed in it. */
  keeper?: Git;
  /** What the refs are called by below `refs/pulse/submodules/`, such as `<session>/<iteration>.<attempt>`. */
  name: string;
  identity: Identity | null;
  /** Of the commits that hold what was not committed; `null`: such work is left as it is. */
  message: string | null;
}

export interface KeptSubmodule {
  /** Of the worktree. */
  path: string;
  commit: string;
  /** The repository that has it now, and the ref in it. */
  repository: string;
  ref: string;
}

/**
 * Commits what lies uncommitted in initialised submodules, the inner ones first, and keeps every commit that no remote has
 * in `<common dir>/modules/<name>`, or in a repository of Pulse's own where the user has none. May be repeated. Throws
 * `git_failed` where something cannot be kept. 0 git processes where there is no submodule, else 1 for the worktree and 2
 * to 6 for each submodule.
 */
export async function keepSubmodules(git: Git, request: SubmodulesRequest): Promise<KeptSubmodule[]> {
  const gitDir = await readGitDir(request.worktree);
  if (!mayHaveSubmodules(request.worktree, gitDir)) return [];
  const kept: KeptSubmodule[] = [];
  for (const submodule of await findSubmodules(git, request.worktree)) {
    if (request.message !== null) await commitLeftovers(git, submodule, request);
    const head = await ownHead(git, submodule);
    if (head === null) continue;
    const keeper = request.keeper ?? git;
    const repository = await openKeeper(keeper, { gitDir, submodule, root: request.root });
    const ref = `refs/pulse/submodules/${request.name}`;
    // By refs, not by name: a repository need not hand out a commit that is only named.
    const refspecs = [`+HEAD:${ref}`, `+refs/heads/*:${ref}-heads/*`];
    await keeper.run(['fetch', '-q', '--no-tags', '--no-write-fetch-head', submodule.gitDir, ...refspecs], {
      cwd: repository,
    });
    kept.push({ path: submodule.path, commit: head, repository, ref });
  }
  return kept;
}

/**
 * Puts initialised submodules where the worktree's commit has them, without a trace of what was there; ignored files stay.
 * One whose commit is not here stays as it is. `keepSubmodules` first. May be repeated.
 */
export async function resetSubmodules(git: Git, worktree: string): Promise<void> {
  if (!mayHaveSubmodules(worktree, await readGitDir(worktree))) return;
  for (const { checkout, wanted } of await findDirect(git, worktree)) {
    const command = ['checkout', '-q', '--force', '--detach', '--no-recurse-submodules', wanted];
    if ((await git.attempt(command, { cwd: checkout })).code !== 0) continue;
    await git.run(['clean', '-ffdq'], { cwd: checkout });
    await resetSubmodules(git, checkout);
  }
}

/**
 * Copies the repositories of submodules into a fresh checkout, so that `git submodule update` finds in them what no
 * remote has: from the checkout `from`, else from the user's own. By reflink where the file system can, never by a link.
 * Nothing happens where it has some already. 0 git processes.
 */
export async function seedSubmodules({
  root,
  worktree,
  from,
}: {
  root: string;
  worktree: string;
  from?: string;
}): Promise<void> {
  const gitDir = await readGitDir(worktree);
  const target = join(gitDir, 'modules');
  if (!existsSync(join(worktree, '.gitmodules')) || existsSync(target)) return;
  const near = from === undefined ? null : await findGitDir(from);
  const sources = [near, await readCommonDir(await readGitDir(root))].filter((dir) => dir !== null);
  const source = sources.map((dir) => join(dir, 'modules')).find((dir) => existsSync(dir));
  if (source === undefined) return;
  const draft = join(gitDir, 'pulse-modules');
  await rm(draft, { recursive: true, force: true });
  await cp(source, draft, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (path) => !OF_A_CHECKOUT.test(path.slice(source.length)),
  });
  await rename(draft, target);
}

/** What belongs to the checkout that it was copied from. */
const OF_A_CHECKOUT = /\/(?:index|worktrees|hooks)$|\.lock$/;

interface Submodule {
  /** Of the outermost worktree. */
  path: string;
  checkout: string;
  gitDir: string;
  /** What the index around it names. */
  wanted: string;
}

function mayHaveSubmodules(worktree: string, gitDir: string): boolean {
  return existsSync(join(worktree, '.gitmodules')) || existsSync(join(gitDir, 'modules'));
}

/** Those that are initialised, inner ones before the one that they are in. 1 git process for each, and 1. */
async function findSubmodules(git: Git, worktree: string, prefix = ''): Promise<Submodule[]> {
  const found: Submodule[] = [];
  for (const submodule of await findDirect(git, worktree)) {
    const path = `${prefix}${submodule.path}`;
    found.push(...(await findSubmodules(git, submodule.checkout, `${path}/`)), { ...submodule, path });
  }
  return found;
}

async function findDirect(git: Git, worktree: string): Promise<Submodule[]> {
  const listed = await git.attempt(['ls-files', '-s', '-z'], { cwd: worktree });
  const found: Submodule[] = [];
  for (const entry of splitNul(listed.stdout)) {
    if (!entry.startsWith(`${GITLINK} `)) continue;
    const path = pathText(entry.slice(entry.indexOf('\t') + 1));
    const checkout = join(worktree, path);
    const gitDir = await findGitDir(checkout);
    if (gitDir !== null) found.push({ path, checkout, gitDir, wanted: entry.split(' ')[1]! });
  }
  return found;
}

/** Where HEAD is on a branch, the branch goes along, as it would by `git commit`. */
async function commitLeftovers(
  git: Git,
  { checkout: cwd, path }: Submodule,
  { identity, message }: SubmodulesRequest,
): Promise<void> {
  const options = ['--porcelain=v1', '--no-renames', '--untracked-files=normal', '--ignore-submodules=dirty'];
  if ((await git.text(['status', ...options], { cwd })) === '') return;
  const add = ['-c', 'core.safecrlf=false', 'add', '-A', '--ignore-errors', '--', ':/'];
  await git.attempt(add, { cwd });
  const tree = await git.text(['write-tree'], { cwd });
  // Not with `--verify`, which takes one name only.
  const before = await git.attempt(['rev-parse', '-q', 'HEAD^{commit}', 'HEAD^{tree}'], { cwd });
  const [head, headTree] = before.code === 0 ? before.stdout.toString().split('\n') : [];
  if (tree === headTree) return;
  const commit = await git.text(['commit-tree', tree, ...(head ? ['-p', head] : [])], {
    cwd,
    env: identityEnvironment(identity),
    stdin: `${message}\n\nWhat lay uncommitted in the submodule ${path}.\n`,
  });
  await git.run(['update-ref', '-m', 'pulse', 'HEAD', commit], { cwd });
}

/** `null` where a remote has all that there is, or where there is nothing. */
async function ownHead(git: Git, { checkout: cwd }: Submodule): Promise<string | null> {
  const head = await git.attempt(['rev-parse', '-q', '--verify', 'HEAD^{commit}'], { cwd });
  if (head.code !== 0) return null;
  const own = await git.text(['rev-list', '-1', 'HEAD', '--branches', '--not', '--remotes', '--tags'], {
    cwd,
  });
  return own === '' ? null : head.stdout.toString().trim();
}

/** Repositories of Pulse's own, for submodules that the user has no copy of. */
export const OWN_FOLDER = 'pulse-submodules';

/** The user's own copy of the submodule, so that their checkouts find the commit; else one of Pulse's. */
async function openKeeper(
  git: Git,
  { gitDir, submodule, root }: { gitDir: string; submodule: Submodule; root: string },
): Promise<string> {
  const commonDir = await readCommonDir(await readGitDir(root));
  const inside = relative(await realPathOf(gitDir), await realPathOf(submodule.gitDir));
  const isAbsorbed = inside.startsWith(`modules${sep}`);
  const theirs = join(commonDir, inside);
  if (isAbsorbed && existsSync(join(theirs, 'HEAD'))) return theirs;
  const ours = join(commonDir, OWN_FOLDER, submodule.path, 'kept.git');
  if (existsSync(join(ours, 'HEAD'))) return ours;
  await mkdir(dirname(ours), { recursive: true });
  await git.run(['init', '-q', '--bare', ours], { cwd: root });
  return ours;
}
