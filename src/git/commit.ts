/** One commit per unit (contract 1.5): whatever an agent did in its worktree, folded into a single commit. */
import type { Identity } from '../domain/attempt.ts';
import type { Git } from './exec.ts';
import { readGitDir, readHeadFile, treeOf, worktreeHead } from './layout.ts';
import { formatMessage } from './message.ts';
import { forgetOperation, healGitDir, readOperation } from './operation.ts';
import { sortedPaths, splitNul } from './path-bytes.ts';
import { parseRaw, stageAll } from './stage.ts';

export interface UnitRequest {
  worktree: string;
  startSha: string;
  subject: string;
  body?: string;
  trailers: Record<string, string>;
  /** Null: `Pulse <pulse@localhost>`. */
  identity: Identity | null;
  /** Where the agent's own commits are kept, such as `refs/pulse/agent/<session>/<iteration>`. */
  agentRef: string;
  /** Repository-relative paths that stay as they are in `startSha`, besides `.pulse` and `.context`. */
  exclude?: string[];
  /** Commit even where nothing changed (a pulse does). */
  allowEmpty?: boolean;
}

export interface UnitCommit {
  /** Null where nothing changed. */
  commit: string | null;
  tree: string;
  /** Sorted; a rename is two paths. */
  files: string[];
}

/**
 * Commits the working tree as it is, with `startSha` as the only parent, and leaves HEAD detached on the result (on
 * `startSha` where nothing changed). An agent's branch is left where it is. The caller guarantees that no process
 * works in the worktree; after a crash ask `findUnitCommit` first.
 *
 * 3 git processes (add, diff-index, commit); without a change 2, or 3 where `startSha` is packed; 1 more where the
 * agent moved HEAD or left an operation unfinished (2 on a branch); more for nested repositories (stage.ts).
 */
export async function commitUnit(git: Git, unit: UnitRequest): Promise<UnitCommit> {
  const { worktree, startSha } = unit;
  const gitDir = await readGitDir(worktree);
  const message = formatMessage(unit);
  await healGitDir(gitDir, startSha);
  await foldHead(git, { gitDir, ...unit });
  const changes = await stageAll(git, { worktree, against: startSha, exclude: unit.exclude });
  if (changes.length === 0 && !unit.allowEmpty) {
    return { commit: null, tree: await treeOf(git, { cwd: worktree, commit: startSha }), files: [] };
  }
  const args = ['commit', '-q', '--no-verify', '--allow-empty', '--cleanup=verbatim', '-F', '-'];
  await git.run(args, { cwd: worktree, env: identityEnvironment(unit.identity), stdin: message });
  const commit = (await worktreeHead(git, worktree))!;
  const tree = await treeOf(git, { cwd: worktree, commit });
  return { commit, tree, files: sortedPaths(changes.map((change) => change.path)) };
}

/**
 * The unit's commit if it was already made: HEAD is detached on a commit with these trailers whose only parent is
 * `startSha`. 0 git processes where HEAD is still `startSha`, else 1.
 */
export async function findUnitCommit(
  git: Git,
  { worktree, startSha, trailers }: Pick<UnitRequest, 'worktree' | 'startSha' | 'trailers'>,
): Promise<UnitCommit | null> {
  const { ref } = await readHeadFile(await readGitDir(worktree));
  const head = ref === null ? await worktreeHead(git, worktree) : null;
  if (head === null || head === startSha) return null;
  const format = '--format=%H%n%T%n%P%n%(trailers:only=true,unfold=true)';
  const options = ['-r', '-z', '--raw', '--no-renames', '--always', '--ignore-submodules=none', format];
  const [header = '', ...raw] = splitNul(
    (await git.run(['diff-tree', ...options, head], { cwd: worktree })).stdout,
  );
  const [commit, tree, parents, ...found] = Buffer.from(header, 'latin1').toString('utf8').split('\n');
  const wanted = formatMessage({ subject: '', trailers }).trimEnd().split('\n').slice(2);
  if (!commit || !tree || parents !== startSha || !wanted.every((line) => found.includes(line))) return null;
  return { commit, tree, files: sortedPaths(parseRaw(raw).map((change) => change.path)) };
}

/** The environment that makes git write this author and committer. */
export function identityEnvironment(identity: Identity | null): Record<string, string> {
  const name = identity?.name.replace(/[\p{Cc}<>]/gu, '').trim() || 'Pulse';
  const email = identity?.email.replace(/[\p{Cc}<>\s]/gu, '') || 'pulse@localhost';
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

interface FoldRequest {
  gitDir: string;
  worktree: string;
  startSha: string;
  agentRef: string;
}

/** Detaches HEAD at the start without touching index or files; what it stood on is kept in the same transaction. */
async function foldHead(git: Git, { gitDir, worktree, startSha, agentRef }: FoldRequest): Promise<void> {
  const operation = await readOperation(gitDir);
  const { sha } = await readHeadFile(gitDir);
  if (sha === startSha && operation.traces.length === 0) return;
  const head = await worktreeHead(git, worktree);
  const { origHead } = operation;
  const lines = [`option no-deref\nupdate HEAD ${startSha}\n`];
  if (head !== null && head !== startSha) lines.push(`update ${agentRef} ${head}\n`);
  if (origHead !== null && origHead !== head && origHead !== startSha) {
    lines.push(`update ${agentRef}-before-rebase ${origHead}\n`);
  }
  await git.run(['update-ref', '--stdin'], { cwd: worktree, stdin: lines.join('') });
  await forgetOperation(gitDir, operation);
}
