/** Proofs on the way to a remote. Others push there, too: what both have is put together, and nothing is forced. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Git, gitFailure } from '../../git/exec.ts';
import { isObjectId } from '../../git/git-dir.ts';
import { isAncestor } from '../../git/refs.ts';
import { bundleName, isBundleName } from './bundle.ts';
import {
  listTree,
  moveProofRef,
  PROOF_REF,
  plainGit,
  readProofRef,
  type TreeEntry,
  writeTree,
} from './proof-ref.ts';

const TRIES = 10;

export interface ProofPush {
  root: string;
  /** A remote's name or address. */
  remote: string;
}

/** May be repeated. Throws what git says where the remote cannot be reached or does not take them. */
export async function pushProofs(given: Git, { root, remote }: ProofPush): Promise<void> {
  const git = plainGit(given);
  for (let tries = 1; ; tries++) {
    const ours = await readProofRef(git, root);
    if (ours === null) return;
    const args = ['push', '-q', remote, `${ours}:${PROOF_REF}`];
    const pushed = await git.attempt(args, { cwd: root });
    if (pushed.code === 0) return;
    const theirs = await fetchTheirs(git, { root, remote });
    // Then it was not their proofs that stood in the way.
    if (theirs === null || tries === TRIES) throw gitFailure(args, pushed);
    if (theirs === ours || (await isAncestor(git, root, ours, theirs)))
      return await follow(git, root, { ours, theirs });
    if (await isAncestor(git, root, theirs, ours)) {
      if (tries > 2) throw gitFailure(args, pushed);
    } else await mergeProofs(git, { root, theirs });
    await delay(Math.random() * 100 * tries);
  }
}

/** `--refmap=`: a fetch that is configured by hand would else put their ref in the place of ours. */
async function fetchTheirs(git: Git, { root, remote }: ProofPush): Promise<string | null> {
  const listed = await git.attempt(['ls-remote', remote, PROOF_REF], { cwd: root });
  const id = listed.stdout.toString('utf8').split(/\s/)[0] ?? '';
  if (listed.code !== 0 || !isObjectId(id)) return null;
  const args = ['fetch', '-q', '--no-tags', '--no-write-fetch-head', '--refmap=', remote, PROOF_REF];
  await git.run(args, { cwd: root });
  const type = await git.attempt(['cat-file', '-t', id], { cwd: root });
  return type.stdout.toString('utf8').trim() === 'commit' ? id : null;
}

/** All of ours is there already. Where another moved ours meanwhile, it stays. */
async function follow(
  git: Git,
  root: string,
  { ours, theirs }: { ours: string; theirs: string },
): Promise<void> {
  if (ours === theirs) return;
  await git.updateRefs(root, `option no-deref\nupdate ${PROOF_REF} ${theirs} ${ours}\n`);
}

async function mergeProofs(git: Git, { root, theirs }: { root: string; theirs: string }): Promise<void> {
  await moveProofRef(git, {
    root,
    message: 'Proofs of both sides',
    parents: [theirs],
    change: async (ours) =>
      await union(git, root, {
        ours: ours === null ? [] : await listTree(git, root, ours),
        theirs: await listTree(git, root, theirs),
        meet: async (own, other) =>
          own.type === 'tree' && other.type === 'tree'
            ? {
                ...own,
                id: await union(git, root, {
                  ours: await listTree(git, root, own.id),
                  theirs: await listTree(git, root, other.id),
                  meet: (mine, their) => pick(git, root, { ours: mine, theirs: their }),
                }),
              }
            : other,
      }),
  });
}

interface Union {
  ours: readonly TreeEntry[];
  theirs: readonly TreeEntry[];
  /** Of two that have one name, and differ. */
  meet(ours: TreeEntry, theirs: TreeEntry): Promise<TreeEntry>;
}

async function union(git: Git, root: string, { ours, theirs, meet }: Union): Promise<string> {
  const all = new Map(theirs.map((entry) => [entry.name, entry]));
  for (const entry of ours) {
    const other = all.get(entry.name);
    const isSame = other?.id === entry.id && other.mode === entry.mode;
    if (!isSame) all.set(entry.name, other ? await meet(entry, other) : entry);
  }
  return await writeTree(git, root, [...all.values()]);
}

/** A proof's name says which content is the right one. Of another tool's file the published one stays. */
async function pick(
  git: Git,
  root: string,
  { ours, theirs }: { ours: TreeEntry; theirs: TreeEntry },
): Promise<TreeEntry> {
  if (!isBundleName(ours.name) || ours.type !== 'blob') return theirs;
  const { stdout } = await git.run(['cat-file', 'blob', ours.id], { cwd: root });
  return bundleName(stdout) === ours.name ? ours : theirs;
}
