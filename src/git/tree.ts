/** The tree that evidence is bound to: everything but the evidence itself and Pulse's scratch files. */
import { PulseError } from '../domain/errors.ts';
import type { Git } from './exec.ts';
import { readGitDir, worktreeHead } from './git-dir.ts';
import { splitNul } from './path-bytes.ts';
import { openPrivateIndex } from './private-index.ts';
import { PROTECTED_PATHS, stageAll } from './stage.ts';

/** Evidence itself, and what is Pulse's own. */
const EVIDENCE_PATHS = [
  ...PROTECTED_PATHS.map((path) => `:(top,literal)${path}`),
  ':(top,glob)history/**/verification/**',
];

export interface EvidenceRequest {
  worktree: string;
  /** A commit; without it the working tree as it is now. */
  commit?: string;
  /** As in `commitUnit`: paths that stay as they are in HEAD. */
  exclude?: string[];
}

/**
 * The tree's hash without the verification folders of `history`, `.pulse` and `.context`. Index and files stay as they
 * are. Of a commit: 1 git process where it holds none of these paths, 2 where it has only other history, else 4 or 5. Of
 * the working tree: 2 more than its HEAD's where nothing changed, else 4.
 */
export async function evidenceTree(git: Git, request: EvidenceRequest): Promise<string> {
  const { worktree, commit, exclude } = request;
  if (commit !== undefined) return treeOfCommit(git, worktree, commit);
  const gitDir = await readGitDir(worktree);
  const head = await worktreeHead(git, worktree);
  await using index = await openPrivateIndex(gitDir);
  const against = head ?? (await emptyTree(git, worktree));
  const { changes } = await stageAll(git, { worktree, against, exclude, indexFile: index.path });
  if (changes.length === 0 && head !== null) return await treeOfCommit(git, worktree, head);
  return await writeWithoutEvidence(git, worktree, index.path);
}

/** Whether two commits differ in nothing but these paths. 1 git process, 0 for one commit. */
export async function haveSameTree(
  git: Git,
  { root, from, to }: { root: string; from: string; to: string },
): Promise<boolean> {
  if (from === to) return true;
  const paths = EVIDENCE_PATHS.map((path) => path.replace(':(top,', ':(top,exclude,'));
  const args = ['diff-tree', '-r', '--quiet', from, to, '--', ':(top)', ...paths];
  const { code, stderr } = await git.attempt(args, { cwd: root });
  if (code > 1) throw new PulseError('git_failed', `Trees cannot be compared: ${stderr.trim()}`);
  return code === 0;
}

async function treeOfCommit(git: Git, worktree: string, commit: string): Promise<string> {
  const [tree, ...found] = await lookUp(git, worktree, [
    `${commit}^{tree}`,
    ...[...PROTECTED_PATHS, 'history'].map((path) => `${commit}:${path}`),
  ]);
  const history = found.pop();
  const isPlain = found.every((id) => id === null);
  if (tree && isPlain && (history === null || !(await holdsVerification(git, worktree, commit)))) return tree;
  await using index = await openPrivateIndex(null);
  await git.run(['read-tree', commit], { cwd: worktree, env: { GIT_INDEX_FILE: index.path } });
  return await writeWithoutEvidence(git, worktree, index.path);
}

/** The object behind each name, null where there is none. */
async function lookUp(git: Git, cwd: string, names: string[]): Promise<(string | null)[]> {
  const stdin = `${names.join('\n')}\n`;
  const lines = (await git.text(['cat-file', '--batch-check=%(objectname)'], { cwd, stdin })).split('\n');
  return lines.map((line) => (/^[0-9a-f]+$/.test(line) ? line : null));
}

async function holdsVerification(git: Git, cwd: string, commit: string): Promise<boolean> {
  const args = ['ls-tree', '-r', '-z', '--name-only', commit, '--', 'history/'];
  return splitNul((await git.run(args, { cwd })).stdout).some((path) =>
    /^history\/(.*\/)?verification\//.test(path),
  );
}

async function writeWithoutEvidence(git: Git, cwd: string, indexFile: string): Promise<string> {
  const env = { GIT_INDEX_FILE: indexFile };
  await git.run(['rm', '-r', '-f', '-q', '--cached', '--ignore-unmatch', '--', ...EVIDENCE_PATHS], {
    cwd,
    env,
  });
  return git.text(['write-tree'], { cwd, env });
}

function emptyTree(git: Git, cwd: string): Promise<string> {
  return git.text(['hash-object', '-w', '-t', 'tree', '--stdin'], { cwd, stdin: '' });
}
