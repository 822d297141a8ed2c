/** Where a pulse's commits are: its branch, its work in progress, and what is kept of one that was given up. */
import { identityEnvironment } from './commit.ts';
import type { Git } from './exec.ts';
import { advanceBranch, attemptRef, deleteRefs, discardedRef, readRef, wipRef, writeRefs } from './refs.ts';

export interface PulseRefs {
  root: string;
  sessionId: string;
  taskId: string | null;
  pulse: { id: string; branch: string | null; startSha: string };
}

function wipOf({ sessionId, pulse }: PulseRefs): string {
  // A pulse's id may hold dots, which a ref may not hold two of, nor end in.
  return wipRef(sessionId, Buffer.from(pulse.id).toString('hex'));
}

function attemptRefs({ taskId }: PulseRefs): string[] {
  return taskId === null ? [] : [attemptRef(taskId)];
}

/** Fast-forwards the workflow's branch to the pulse's commit; the pulse's branch and refs go in the same transaction. */
export async function landPulse(
  git: Git,
  refs: PulseRefs & { branch: string; from: string; to: string },
): Promise<void> {
  const { root, branch, from, to, pulse } = refs;
  const own = pulse.branch === null ? [] : [`refs/heads/${pulse.branch}`];
  const dropAlso = [...attemptRefs(refs), wipOf(refs), ...own];
  await advanceBranch(git, { root, branch, from, to, dropAlso });
}

/** The attempt's ref is dropped once the work in progress has a name of its own. */
export async function keepWip(git: Git, refs: PulseRefs & { to: string }): Promise<void> {
  const { root, to } = refs;
  await writeRefs(git, { root, refs: { [wipOf(refs)]: to } });
  await deleteRefs(git, { root, refs: attemptRefs(refs) });
}

/**
 * The recovery checkpoint: `work`'s tree as one marked commit on the pulse's own branch, which stays. `null` where
 * there is no work. A branch that has moved already was moved by this, before a crash.
 */
export async function giveUpPulse(
  git: Git,
  refs: PulseRefs & { work: string | null; reason: string },
): Promise<string | null> {
  const { root, pulse, work, reason } = refs;
  const { branch, startSha } = pulse;
  if (branch === null) return null;
  const head = await readRef(git, root, `refs/heads/${branch}`);
  let kept = head !== null && head !== startSha ? head : null;
  if (kept === null && work !== null && work !== startSha) {
    const message = `[RECOVERY] ${pulse.id}: ${reason}\n`;
    const args = ['commit-tree', `${work}^{tree}`, '-p', startSha];
    kept = await git.text(args, { cwd: root, env: identityEnvironment(null), stdin: message });
    await advanceBranch(git, { root, branch, from: head, to: kept });
  }
  await deleteRefs(git, { root, refs: [wipOf(refs), ...attemptRefs(refs)] });
  return kept;
}

/** What was not kept stays findable; its other refs go. */
export async function discardExperiment(
  git: Git,
  refs: PulseRefs & { number: number; commit: string },
): Promise<void> {
  const { root, sessionId, number, commit } = refs;
  await writeRefs(git, { root, refs: { [discardedRef(sessionId, number)]: commit } });
  await deleteRefs(git, { root, refs: [wipOf(refs), ...attemptRefs(refs)] });
}
