/**
 * Where proofs are kept: `refs/attestations/commits`, a branch of its own whose tree has a folder for each commit. It is
 * shared with other tools, so what Pulse does not know stays as it is.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { PulseError } from '../../domain/errors.ts';
import { identityEnvironment } from '../../git/commit.ts';
import type { Git } from '../../git/exec.ts';
import { isObjectId } from '../../git/git-dir.ts';

export const PROOF_REF = 'refs/attestations/commits';
/** Writers of one repository that meet: each attempt of one lets another succeed. */
const TRIES = 40;

export interface TreeEntry {
  mode: string;
  type: string;
  id: string;
  /** As bytes, one character each: a name need not be text. */
  name: string;
}

/** As git sees it without `git replace`: a replaced commit would have another's tree. */
export function plainGit(git: Git): Git {
  return git.bind({ config: ['core.useReplaceRefs=false'] });
}

/** Where the ref stands; `null`: there is none. Throws where it is something else than a branch of proofs. */
export async function readProofRef(git: Git, root: string): Promise<string | null> {
  const symbolic = await git.attempt(['symbolic-ref', '-q', PROOF_REF], { cwd: root });
  // Moving it would move what it leads to, a branch for instance.
  if (symbolic.code === 0) throw notOurs('leads to another ref');
  const found = await git.attempt(['rev-parse', '--verify', '-q', PROOF_REF], { cwd: root });
  if (found.code !== 0) return null;
  const id = found.stdout.toString('utf8').trim();
  const type = await git.attempt(['cat-file', '-t', id], { cwd: root });
  if (!isObjectId(id) || type.stdout.toString('utf8').trim() !== 'commit') throw notOurs('is no commit');
  return id;
}

/** The entries of a tree, or of a folder in it; none where there is no such folder. */
export async function listTree(git: Git, root: string, tree: string): Promise<TreeEntry[]> {
  const type = await git.attempt(['cat-file', '-t', tree], { cwd: root });
  if (!['tree', 'commit'].includes(type.stdout.toString('utf8').trim())) return [];
  const { stdout } = await git.run(['ls-tree', '-z', tree], { cwd: root });
  return stdout
    .toString('latin1')
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const at = line.indexOf('\t');
      const [mode = '', type = '', id = ''] = line.slice(0, at).split(' ');
      return { mode, type, id, name: line.slice(at + 1) };
    });
}

/** Throws where git would not take the entries as a tree. */
export async function writeTree(git: Git, root: string, entries: readonly TreeEntry[]): Promise<string> {
  const lines = entries.map(({ mode, type, id, name }) => `${mode} ${type} ${id}\t${name}\0`);
  return await git.text(['mktree', '-z', '--missing'], {
    cwd: root,
    stdin: Buffer.from(lines.join(''), 'latin1'),
  });
}

export interface Move {
  root: string;
  message: string;
  /** Beside where the ref stands. */
  parents?: readonly string[];
  /** The next tree, made of the present one; `null`: all of it is there already. */
  change(current: string | null): Promise<string | null>;
}

/**
 * Moves the ref by compare-and-swap, again from the start where somebody else was faster. Returns where it stands.
 * Neither the checkout nor its index is touched.
 */
export async function moveProofRef(git: Git, { root, message, parents = [], change }: Move): Promise<string> {
  for (let tries = 1; ; tries++) {
    const current = await readProofRef(git, root);
    const tree = await change(current);
    if (tree === null && current !== null) return current;
    if (tree === null)
      throw new PulseError('internal_error', 'No proof is there, and none is to be written.');
    const onto = [...(current === null ? [] : [current]), ...parents].flatMap((id) => ['-p', id]);
    const next = await git.text(['commit-tree', tree, ...onto], {
      cwd: root,
      env: identityEnvironment(null),
      stdin: `${message}\n`,
    });
    const from = current ?? '0'.repeat(next.length);
    const moved = await git.updateRefs(root, `option no-deref\nupdate ${PROOF_REF} ${next} ${from}\n`);
    if (moved.code === 0) return next;
    if ((await readProofRef(git, root)) === current && tries > 3) throw refusedToMove(moved.stderr);
    if (tries === TRIES) throw refusedToMove('others are faster, again and again');
    await delay(Math.random() * 20 * tries);
  }
}

function notOurs(why: string): PulseError {
  return new PulseError('git_failed', `Proofs cannot be kept: ${PROOF_REF} ${why}.`, {
    hint: `Look at it with git show-ref and remove it if nobody needs it: git update-ref --no-deref -d ${PROOF_REF}`,
  });
}

function refusedToMove(why: string): PulseError {
  return new PulseError('git_failed', `${PROOF_REF} cannot be moved: ${why.trim().slice(-500)}`, {
    retryable: true,
  });
}
