/** Folds what an agent did in its worktree into one commit for the unit (docs/protocol/evidence.md, Commits). */
import { basename } from 'node:path';
import type { Identity } from '../domain/attempt.ts';
import { type Git, gitFailure } from './exec.ts';
import { readCommonDir, readGitDir, readHeadFile, rememberTree, treeOf, worktreeHead } from './git-dir.ts';
import { writeLooseCommit } from './loose-object.ts';
import { formatMessage } from './message.ts';
import { forgetOperation, healGitDir, readOperation } from './operation.ts';
import { keepOwnIndex } from './own-index.ts';
import { sortedPaths, splitNul } from './path-bytes.ts';
import { parseRaw, type Staged, stageTree } from './stage.ts';

export interface UnitRequest {
  /** A checkout of the repository that stays. */
  root: string;
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
  /** Where the run began, if not at `startSha`: on earlier work of the same unit, which is not the agent's own. */
  beganAt?: string;
  /** Commit this tree, not the files as they are now. */
  tree?: string;
}

export interface UnitCommit {
  /** Null where nothing changed. */
  commit: string | null;
  tree: string;
  /** Sorted; a rename is two paths. */
  files: string[];
  /** What git could not add, if there is any; not said of a commit that was found. */
  leftOut?: string[];
}

/**
 * Commits the working tree as it is, with `startSha` as the only parent, and leaves HEAD detached on the result (on
 * `startSha` where nothing changed). An agent's branch is left where it is. The caller guarantees that no process
 * works in the worktree; after a crash ask `findUnitCommit` first.
 *
 * 2 git processes (add, write-tree) beside the kept ones; 1 more where `startSha` is packed and not known yet, where HEAD
 * is on a branch, and where protected paths were staged; more for nested repositories (stage.ts).
 */
export async function commitUnit(git: Git, unit: UnitRequest): Promise<UnitCommit> {
  const { root, worktree, startSha } = unit;
  const gitDir = await readGitDir(worktree);
  const message = formatMessage(unit);
  await healGitDir(gitDir, startSha);
  const head = await headRef(gitDir);
  await foldHead(git, { gitDir, head, ...unit });
  const startTree = await treeOf(git, { cwd: worktree, commit: startSha });
  const request = { root, worktree, against: startSha, againstTree: startTree, exclude: unit.exclude };
  const {
    tree,
    changes,
    leftOut: left,
  } = await (unit.tree === undefined
    ? stageTree(git, request)
    : takeTree(git, { ...request, tree: unit.tree }));
  keepOwnIndex(gitDir);
  const leftOut = left.length > 0 ? { leftOut: left } : {};
  if (tree === startTree && !unit.allowEmpty) return { commit: null, tree, files: [], ...leftOut };
  const commit = await writeCommit(git, {
    root,
    tree,
    parents: [startSha],
    identity: unit.identity,
    message,
  });
  await moveHead(git, root, `option no-deref\nupdate ${head} ${commit} ${startSha}\n`);
  rememberTree(commit, tree);
  return { commit, tree, files: sortedPaths(changes.map((change) => change.path)), ...leftOut };
}

/** The worktree's own HEAD as the whole repository knows it, so that one kept process moves those of all worktrees. */
async function headRef(gitDir: string): Promise<string> {
  const commonDir = await readCommonDir(gitDir);
  return commonDir === gitDir ? 'HEAD' : `worktrees/${basename(gitDir)}/HEAD`;
}

async function moveHead(git: Git, root: string, lines: string): Promise<void> {
  const moved = await git.updateRefs(root, lines);
  if (moved.code !== 0) throw gitFailure(['update-ref', '--stdin'], moved);
}

export interface NewCommit {
  /** A checkout of the repository that stays. */
  root: string;
  tree: string;
  parents: readonly [string, ...string[]];
  identity: Identity | null;
  message: string;
}

/** As `git commit-tree` writes it; no branch moves. 0 git processes, unless it is signed or cannot be written here. */
export async function writeCommit(git: Git, commit: NewCommit): Promise<string> {
  const { root, tree, parents, identity, message } = commit;
  if (identity?.sign) {
    const args = ['commit-tree', '-S', tree, ...parents.flatMap((parent) => ['-p', parent])];
    return git.text(args, { cwd: root, env: identityEnvironment(identity), stdin: message });
  }
  const { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email } = identityEnvironment(identity);
  const who = `${name} <${email}> ${gitTime(new Date())}`;
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`)];
  const content = [...lines, `author ${who}`, `committer ${who}`, '', message].join('\n');
  const commonDir = await readCommonDir(await readGitDir(root));
  return (
    writeLooseCommit(commonDir, { content, idLength: tree.length }) ??
    (await git.text(['hash-object', '-t', 'commit', '-w', '--stdin'], { cwd: root, stdin: content }))
  );
}

/** Seconds since the epoch and the offset of the local clock, `+hhmm`. */
function gitTime(now: Date): string {
  const offset = -now.getTimezoneOffset();
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  const zone = `${offset < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}${String(minutes).padStart(2, '0')}`;
  return `${Math.floor(now.getTime() / 1000)} ${zone}`;
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
export function identityEnvironment(identity: Identity | null) {
  const name = identity?.name.replace(/[\p{Cc}<>]/gu, '').trim() || 'Pulse';
  const email = identity?.email.replace(/[\p{Cc}<>\s]/gu, '') || 'pulse@localhost';
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** The index becomes the tree; the files stay as they are. 1 git process. */
async function takeTree(
  git: Git,
  {
    root,
    worktree,
    againstTree,
    tree,
  }: { root: string; worktree: string; againstTree: string; tree: string },
): Promise<Staged & { tree: string }> {
  // `--reset` keeps what is known of the files: without it every one of them would be read again.
  await git.run(['read-tree', '--reset', tree], { cwd: worktree });
  const changes = parseRaw(splitNul(await git.diffTrees(root, { from: againstTree, to: tree })));
  return { tree, changes, leftOut: [] };
}

interface FoldRequest {
  gitDir: string;
  /** Its HEAD as a ref of the repository. */
  head: string;
  root: string;
  worktree: string;
  startSha: string;
  beganAt?: string;
  agentRef: string;
}

/** Detaches HEAD at the start without touching index or files; what it stood on is kept in the same transaction. */
async function foldHead(git: Git, fold: FoldRequest): Promise<void> {
  const { gitDir, worktree, startSha, beganAt, agentRef } = fold;
  const operation = await readOperation(gitDir);
  const { sha } = await readHeadFile(gitDir);
  if (sha === startSha && operation.traces.length === 0) return;
  const head = await worktreeHead(git, worktree);
  const { origHead } = operation;
  const lines = [`option no-deref\nupdate ${fold.head} ${startSha}\n`];
  if (head !== null && head !== startSha && head !== beganAt) lines.push(`update ${agentRef} ${head}\n`);
  if (origHead !== null && origHead !== head && origHead !== startSha) {
    lines.push(`update ${agentRef}-before-rebase ${origHead}\n`);
  }
  await moveHead(git, fold.root, lines.join(''));
  await forgetOperation(gitDir, operation);
}
