/** Where a pulse's commits are: its branch, its work in progress, and what is kept of one that was given up. */
import type { Identity } from '../../domain/attempt.ts';
import { identityEnvironment } from '../../git/commit.ts';
import type { Git } from '../../git/exec.ts';
import { dropUnmovedBranch } from '../../git/landing.ts';
import { formatMessage } from '../../git/message.ts';
import {
  advanceBranch,
  attemptRef,
  deleteRefs,
  findCheckout,
  readRef,
  unitWipRef,
  writeRefs,
} from '../../git/refs.ts';

export interface PulseRefs {
  root: string;
  sessionId: string;
  taskId: string | null;
  pulse: { id: string; branch: string; startSha: string };
}

function attemptRefs({ taskId }: PulseRefs): string[] {
  return taskId === null ? [] : [attemptRef(taskId)];
}

/**
 * The recovery checkpoint: `work`'s tree as one marked commit on the pulse's own branch, which stays. `null` where
 * there is no work. Doing it again is no error: the commit is known by its mark. Where a person has moved the branch,
 * or works on it, it stays theirs and the checkpoint gets a recovery ref. `isOver`: nobody continues the pulse, so a
 * branch without work is deleted too.
 */
export async function giveUpPulse(
  git: Git,
  refs: PulseRefs & { work: string | null; reason: string; isOver: boolean; identity: Identity | null },
): Promise<string | null> {
  const { root, pulse, work, isOver } = refs;
  const { branch, startSha } = pulse;
  const head = await readRef(git, root, `refs/heads/${branch}`);
  const isMoved = head !== null && head !== startSha;
  let kept = isMoved && (await isCheckpoint(git, { ...refs, commit: head })) ? head : null;
  if (kept === null && work !== null && work !== startSha) {
    kept = await writeCheckpoint(git, { ...refs, work });
    const isOthers = isMoved || (await findCheckout(git, root, `refs/heads/${branch}`)) !== null;
    if (isOthers) await writeRefs(git, { root, refs: { [asideOf(refs, branch)]: kept } });
    else await advanceBranch(git, { root, branch, from: head, to: kept });
  }
  if (kept === null && isOver) await dropUnmovedBranch(git, { root, branch, at: startSha });
  await deleteRefs(git, { root, refs: [unitWipRef(refs.sessionId, pulse.id), ...attemptRefs(refs)] });
  return kept;
}

const MARK = '[RECOVERY]';

function writeCheckpoint(
  git: Git,
  {
    root,
    sessionId,
    pulse,
    work,
    reason,
    identity,
  }: PulseRefs & {
    work: string;
    reason: string;
    identity: Identity | null;
  },
): Promise<string> {
  const message = formatMessage({
    subject: `${MARK} ${pulse.id}: ${reason}`,
    trailers: { 'Pulse-Session': sessionId, 'Pulse-Pulse': pulse.id },
  });
  const args = ['commit-tree', `${work}^{tree}`, '-p', pulse.startSha];
  return git.text(args, { cwd: root, env: identityEnvironment(identity), stdin: message });
}

/** Whether this is what `writeCheckpoint` made of the pulse. */
async function isCheckpoint(
  git: Git,
  { root, sessionId, pulse, commit }: PulseRefs & { commit: string },
): Promise<boolean> {
  const format = '--format=%P%n%s%n%(trailers:key=Pulse-Session,valueonly,separator=)';
  const said = await git.text(['log', '-1', format, commit], { cwd: root });
  const [parents, subject = '', session] = said.split('\n');
  return parents === pulse.startSha && subject.startsWith(`${MARK} ${pulse.id}:`) && session === sessionId;
}

/** A row of a pulse has a branch of its own: its name tells rows apart. */
function asideOf({ sessionId }: PulseRefs, branch: string): string {
  return `refs/pulse/recovery/${sessionId}/${Buffer.from(branch).toString('hex')}`;
}
