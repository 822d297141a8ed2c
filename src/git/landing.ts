/** Gives a run's commit the names that it is found by from now on. */
import type { Git } from './exec.ts';
import { gitFailure } from './exec.ts';
import { changeRefs, findCheckout, readRef } from './refs.ts';
import { advanceHead, type HeadMoved, type SessionRefs } from './session-head.ts';

export interface CommitLanding extends SessionRefs {
  /** How the session's head moves; `null`: it stays. */
  head: { from: string; to: string } | null;
  /** Where Pulse left the branch, if not at the head. */
  left: string | null;
  /** Refs of Pulse's own to write. */
  name?: Readonly<Record<string, string>>;
  /** Refs of Pulse's own that go; they may be gone already. */
  drop?: readonly string[];
  /** A branch that goes where it still stands there and nobody has it checked out: what a person has committed stays. */
  dropBranch?: { branch: string; at: string };
}

/**
 * One transaction of refs, or two that may be repeated; doing it again is no error. `null`: the head stays. Throws
 * `ref_moved` where the head stands elsewhere than it should.
 */
export async function landCommit(git: Git, landing: CommitLanding): Promise<HeadMoved | null> {
  const { root, session, branch, head, left, name = {}, drop = [], dropBranch } = landing;
  const named = Object.entries(name).map(([ref, sha]) => `update ${ref} ${sha}\n`);
  if (!head) {
    await changeRefs(git, root, [...named, ...drop.map((ref) => `delete ${ref}\n`)].join(''));
    if (dropBranch) await dropUnmovedBranch(git, { root, ...dropBranch });
    return null;
  }
  if (named.length > 0) await changeRefs(git, root, named.join(''));
  const moved = await advanceHead(git, { root, session, branch, ...head, left, drop });
  if (moved.is === 'moved' && dropBranch) await dropUnmovedBranch(git, { root, ...dropBranch });
  return moved;
}

export async function dropUnmovedBranch(
  git: Git,
  { root, branch, at }: { root: string; branch: string; at: string },
): Promise<void> {
  const ref = `refs/heads/${branch}`;
  if ((await findCheckout(git, root, ref)) !== null) return;
  const dropped = await git.updateRefs(root, `delete ${ref} ${at}\n`);
  if (dropped.code !== 0 && (await readRef(git, root, ref)) === at)
    throw gitFailure(['update-ref', '--stdin'], dropped);
}
