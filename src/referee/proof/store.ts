/** Proofs in a repository: `<commit>/pulse-<digest>.intoto.jsonl` in the tree of `refs/attestations/commits`. */
import { PulseError } from '../../domain/errors.ts';
import type { Git } from '../../git/exec.ts';
import { isObjectId } from '../../git/git-dir.ts';
import { isBundleName, MOST_BUNDLE_BYTES, sealProof } from './bundle.ts';
import type { ProofKey } from './key.ts';
import {
  listTree,
  moveProofRef,
  PROOF_REF,
  plainGit,
  readProofRef,
  type TreeEntry,
  writeTree,
} from './proof-ref.ts';
import type { ProofInput } from './statement.ts';

export interface WrittenProof {
  ref: string;
  /** In the ref's tree. */
  path: string;
  /** Where the ref stands. */
  commit: string;
}

/**
 * Signs and keeps a proof. May be repeated: the same input is kept once. Others that write at the same time lose
 * nothing. Throws `not_found` where the repository has no such commit, `invalid_input` where its tree is another.
 */
export async function writeProof(
  given: Git,
  { root, input, key }: { root: string; input: ProofInput; key: Pick<ProofKey, 'id' | 'privateKey'> },
): Promise<WrittenProof> {
  const git = plainGit(given);
  await assertCommit(git, { root, ...input });
  const { name, text } = sealProof(input, key);
  const { commit: about } = input;
  const blob = await git.text(['hash-object', '-w', '--stdin'], { cwd: root, stdin: text });
  const commit = await moveProofRef(git, {
    root,
    message: `Proof of ${about}`,
    async change(current) {
      const all = current === null ? [] : await listTree(git, root, current);
      const proofs = current === null ? [] : await listTree(git, root, `${current}:${about}`);
      if (proofs.some((entry) => entry.name === name && entry.id === blob)) return null;
      const folder = await writeTree(git, root, [
        ...without(proofs, name),
        { mode: '100644', type: 'blob', id: blob, name },
      ]);
      return await writeTree(git, root, [
        ...without(all, about),
        { mode: '040000', type: 'tree', id: folder, name: about },
      ]);
    },
  });
  return { ref: PROOF_REF, path: `${about}/${name}`, commit };
}

export interface StoredProof {
  name: string;
  path: string;
  /** `null`: too large to be read, or no ordinary file. */
  content: Buffer | null;
}

/** A commit has a handful. Who adds more only hides what is there: nothing is believed for it. */
const MOST_PROOFS = 200;

/** What is kept of a commit under names of Pulse, none of it judged yet. `commit`: the whole id. */
export async function readProofs(
  given: Git,
  { root, commit }: { root: string; commit: string },
): Promise<StoredProof[]> {
  if (!isObjectId(commit)) throw new PulseError('invalid_input', `"${commit}" is no whole commit id.`);
  const git = plainGit(given);
  const at = await readProofRef(git, root);
  if (at === null) return [];
  const entries = (await listTree(git, root, `${at}:${commit}`))
    .filter(({ name }) => isBundleName(name))
    .slice(0, MOST_PROOFS);
  const proofs: StoredProof[] = [];
  for (const entry of entries) {
    const { name } = entry;
    proofs.push({ name, path: `${commit}/${name}`, content: await contentOf(git, root, entry) });
  }
  return proofs;
}

/** Every commit that has a folder of proofs. */
export async function listProven(given: Git, root: string): Promise<Set<string>> {
  const git = plainGit(given);
  const at = await readProofRef(git, root);
  const entries = at === null ? [] : await listTree(git, root, at);
  return new Set(entries.filter(({ type }) => type === 'tree').map(({ name }) => name));
}

async function contentOf(git: Git, root: string, { mode, type, id }: TreeEntry): Promise<Buffer | null> {
  if (type !== 'blob' || mode !== '100644') return null;
  const size = await git.attempt(['cat-file', '-s', id], { cwd: root });
  if (size.code !== 0 || Number(size.stdout.toString('utf8')) > MOST_BUNDLE_BYTES) return null;
  return (await git.run(['cat-file', 'blob', id], { cwd: root })).stdout;
}

/** No proof is kept of what is not there. */
async function assertCommit(
  git: Git,
  { root, commit, tree }: { root: string; commit: string; tree: string },
): Promise<void> {
  const isWhole = isObjectId(commit);
  const asked = ['rev-parse', '--verify', '-q', '--end-of-options', `${commit}^{tree}`];
  const found = isWhole ? await git.attempt(asked, { cwd: root }) : null;
  const type = isWhole ? await git.attempt(['cat-file', '-t', commit], { cwd: root }) : null;
  if (found?.code !== 0 || type?.stdout.toString('utf8').trim() !== 'commit')
    throw new PulseError('not_found', `There is no commit ${commit} to prove.`);
  const actual = found.stdout.toString('utf8').trim().split('\n').at(-1);
  if (actual !== tree)
    throw new PulseError('invalid_input', `The commit ${commit} has the tree ${actual}, not ${tree}.`);
}

function without(entries: readonly TreeEntry[], name: string): TreeEntry[] {
  return entries.filter((entry) => entry.name !== name);
}
