/** What a worktree holds beside its commit, kept before it goes or begins anew. */
import { existsSync } from 'node:fs';
import type { AttemptSpec, Identity } from '../domain/attempt.ts';
import type { NewEvent } from '../domain/events.ts';
import { disarmWorktree } from '../git/disarm.ts';
import type { Git } from '../git/exec.ts';
import { saveLeftovers } from '../git/recovery.ts';
import { recoveryRef } from '../git/refs.ts';
import { keepSubmodules } from '../git/submodules.ts';
import { ensureWorktree, worktreeFault } from '../git/worktree.ts';
import type { Session } from '../store/sessions.ts';
import { filesOmitted, submodulesKept } from './notices.ts';
import type { HeldAttempt, LastAttempt } from './ports.ts';

interface KeptRequest {
  root: string;
  worktree: string;
  ref: string;
  startSha: string;
  exclude?: string[];
  /** Whether what lies there was made in a sandbox. */
  isEnclosed: boolean;
  identity: Identity | null;
}

/** No worktree, no leftovers. One that has lost its link has its files still. */
export async function saveIfThere(
  git: Git,
  { isEnclosed, root, ...request }: KeptRequest,
): Promise<NewEvent[]> {
  const { worktree, ref, startSha: sha } = request;
  if (!existsSync(worktree)) return [];
  if ((await worktreeFault({ root, path: worktree })) !== null)
    await ensureWorktree(git, { root, path: worktree, sha, isOurs: true });
  // A run whose Pulse was killed could not be cleared up after.
  if (isEnclosed) await disarmWorktree(git, worktree);
  const message = `pulse: what ${ref} left behind`;
  const name = submodulesName(ref);
  const kept = await keepSubmodules(git, { root, worktree, name, identity: request.identity, message });
  const { leftOut } = await saveLeftovers(git, { ...request, message });
  return [...submodulesKept(kept), ...filesOmitted(leftOut, ref)];
}

/** Of a session that has ended. Throws where something cannot be kept: then its worktree must not go. */
export async function saveLast(
  git: Git,
  { id, status, project_path: root, worktree_path: worktree }: Session,
  last: LastAttempt | null,
): Promise<NewEvent[]> {
  if (!last || !existsSync(worktree)) return [];
  const { iteration, task } = last;
  const ref = recoveryRef(id, iteration.iteration_number, iteration.attempt);
  const identity = task?.spec.identity ?? null;
  // After a verified end all of the work is committed; what lies beside it came from the checks.
  if (status === 'complete' && (task?.result?.verification.length ?? 0) > 0) {
    const isWhole = (await worktreeFault({ root, path: worktree })) === null;
    const name = submodulesName(ref);
    const request = { root, worktree, name, identity, message: null };
    return submodulesKept(isWhole ? await keepSubmodules(git, request) : []);
  }
  // What was committed has a name of its own, also where it was not kept.
  const startSha = task?.result?.commit ?? iteration.commit_hash ?? iteration.start_sha;
  const isEnclosed = Boolean(task?.spec.sandbox);
  const exclude = task ? keptOut(task.spec) : [];
  return saveIfThere(git, { root, worktree, ref, startSha, exclude, isEnclosed, identity });
}

function submodulesName(ref: string): string {
  return ref.slice('refs/pulse/recovery/'.length);
}

/** What preflight left in the worktree. */
export function keptOut({ work }: AttemptSpec): string[] {
  return work?.kind === 'pulse' || work?.kind === 'preflight' ? work.artifacts : [];
}

/** How what an attempt has committed in submodules is kept. */
export function submodulesOf({ spec, sessionId, iteration, task }: HeldAttempt) {
  return {
    root: spec.projectPath,
    worktree: spec.worktreePath,
    name: `${sessionId}/${iteration}.${task.attempt}`,
    identity: spec.identity,
    message: `pulse: iteration ${iteration}`,
  };
}
