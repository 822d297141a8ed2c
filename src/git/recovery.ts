/** What happens to a worktree whose attempt was interrupted: its leftovers are kept, then it begins afresh. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Identity } from '../domain/attempt.ts';
import { isPulseError } from '../domain/errors.ts';
import { identityEnvironment } from './commit.ts';
import type { Git } from './exec.ts';
import { gitFailure } from './exec.ts';
import { readGitDir, worktreeHead } from './git-dir.ts';
import { forgetOperation, healGitDir, readOperation } from './operation.ts';
import { keepOwnIndex, restoreOwnIndex } from './own-index.ts';
import { splitNul } from './path-bytes.ts';
import { openPrivateIndex } from './private-index.ts';
import { type Staged, type StageRequest, stageAll } from './stage.ts';
import { resetSubmodules } from './submodules.ts';
import { isIndexBroken } from './unaddable.ts';

export interface LeftoversRequest {
  worktree: string;
  /** `recoveryRef(…)`; overwritten where it exists. */
  ref: string;
  startSha: string;
  message: string;
  identity?: Identity | null;
  /** Paths that are nobody's work, such as what preflight left. */
  exclude?: string[];
  /** How long filters may take before the files are kept as they are. */
  filterLimitMs?: number;
}

export interface SavedLeftovers {
  commit: string | null;
  /** What git could not add. */
  leftOut: string[];
}

/**
 * Keeps what differs from `startSha` as one commit under `ref`: its first parent is `startSha`, the agent's own
 * commits are the others. Index, HEAD and files stay as they are (stale locks go). No commit where nothing differs. Ignored
 * files, `.pulse` and `.context` are left out. A filter that hangs keeps nothing from being saved: then the files are
 * kept as they are, unfiltered. 2 git processes where nothing differs, else 5.
 */
export async function saveLeftovers(git: Git, request: LeftoversRequest): Promise<SavedLeftovers> {
  const { worktree, ref, startSha, message, identity = null, exclude } = request;
  const gitDir = await readGitDir(worktree);
  await healGitDir(gitDir, startSha);
  await using index = await openPrivateIndex(gitDir);
  const toStage = { worktree, against: startSha, indexFile: index.path, exclude };
  const staged = await stageInTime(git, toStage, request.filterLimitMs);
  const { leftOut } = staged;
  const { origHead } = await readOperation(gitDir);
  const heads = new Set([startSha, await worktreeHead(git, worktree), origHead]);
  heads.delete(null);
  if (staged.changes.length === 0 && heads.size === 1) return { commit: null, leftOut };

  const env = { ...identityEnvironment(identity), GIT_INDEX_FILE: index.path };
  const tree = await git.text(['write-tree'], { cwd: worktree, env });
  const parents = [...heads].flatMap((sha) => ['-p', sha!]);
  const args = ['commit-tree', tree, ...parents];
  const commit = await git.text(args, { cwd: worktree, env, stdin: `${message.toWellFormed().trim()}\n` });
  await git.run(['update-ref', ref, commit], { cwd: worktree });
  return { commit, leftOut };
}

async function stageInTime(git: Git, request: StageRequest, limitMs: number | undefined): Promise<Staged> {
  try {
    return await stageAll(limitMs === undefined ? git : git.bind({ limitMs }), request);
  } catch (error) {
    if (!isPulseError(error, 'git_stopped')) throw error;
    await rm(`${request.indexFile}.lock`, { force: true });
    const config = (await filterNames(git, request.worktree)).flatMap((name) =>
      ['clean=', 'process=', 'required=false'].map((end) => `${name}.${end}`),
    );
    return await stageAll(git.bind({ config }), request);
  }
}

/** The filters that are configured, as `filter.<name>`. */
async function filterNames(git: Git, worktree: string): Promise<string[]> {
  const asked = ['config', '-z', '--name-only', '--get-regexp', '^filter\\..*\\.(clean|process)$'];
  const keys = splitNul((await git.attempt(asked, { cwd: worktree })).stdout);
  const names = keys.map((key) => key.slice(0, key.lastIndexOf('.')));
  return [...new Set(names)].filter((name) => !name.includes('='));
}

export interface ResetRequest {
  worktree: string;
  sha: string;
  /** Untracked paths to keep, such as a prepared `node_modules` that nothing ignores. */
  keep?: string[];
}

/**
 * Puts a worktree on `sha`, detached, without a trace of what was there; ignored files stay. Branches stay where
 * they are. May be repeated, and continues where it was interrupted. 2 git processes.
 */
export async function resetWorktree(git: Git, { worktree, sha, keep = [] }: ResetRequest): Promise<void> {
  const gitDir = await readGitDir(worktree);
  await healGitDir(gitDir, sha);
  await forgetOperation(gitDir, await readOperation(gitDir));
  restoreOwnIndex(gitDir);
  const checkout = ['checkout', '-q', '--force', '--detach', '--no-recurse-submodules', sha];
  const first = await git.attempt(checkout, { cwd: worktree });
  if (first.code !== 0) {
    if (!isIndexBroken(first)) throw gitFailure(checkout, first);
    await rm(join(gitDir, 'index'), { force: true });
    await git.run(checkout, { cwd: worktree });
  }
  // Twice forced: a nested repository goes too.
  await git.run(['clean', '-ffdq', ...keep.flatMap((path) => ['-e', ignorePattern(path)])], {
    cwd: worktree,
  });
  await resetSubmodules(git, worktree);
  keepOwnIndex(gitDir);
}

/** The pattern that ignores exactly this path. */
export function ignorePattern(path: string): string {
  return `/${path.replace(/^\/+|\/+$/g, '').replace(/[\\*?[\]! #]/g, '\\$&')}`;
}
