/** Keeps what a worktree holds beside its commit, before it is removed or reset. */
import { existsSync } from 'node:fs';
import type { AttemptSpec } from '../../domain/attempt.ts';
import type { NewEvent } from '../../domain/events.ts';
import type { Git } from '../../git/exec.ts';
import { saveLeftovers } from '../../git/recovery.ts';
import { recoveryRef } from '../../git/refs.ts';
import { removePlantedHooks } from '../../git/remove-planted-hooks.ts';
import { keepSubmodules } from '../../git/submodules.ts';
import { ensureWorktree, worktreeFault } from '../../git/worktree.ts';
import type { Session } from '../../store/sessions.ts';
import { filesOmitted, submodulesKept } from '../attempt/notices.ts';
import type { HeldAttempt, LastAttempt } from '../ports.ts';
import type { Sandboxes } from '../run/run-sandbox.ts';
import type { WorkKinds } from '../work.ts';
import { ensureCheckout } from './checkout.ts';

interface Means {
  git: Git;
  sandboxes: Pick<Sandboxes, 'gitIn'>;
  works: WorkKinds;
}

interface KeptRequest {
  /** What the worktree was last used for. */
  spec: AttemptSpec | null;
  root: string;
  worktree: string;
  ref: string;
  startSha: string;
  /** Somebody waits for the end of what was stopped. */
  isUrgent?: boolean;
}

/** With the time that a run has to end, and with a second look when its session is closed, less than ten seconds. */
const URGENT_FILTER_MS = 2_000;

/** No worktree, no leftovers. One that has lost its link has its files still. */
export async function saveIfThere(
  { git, sandboxes, works }: Means,
  { spec, root, isUrgent, ...request }: KeptRequest,
): Promise<NewEvent[]> {
  const { worktree, ref, startSha: sha } = request;
  if (!existsSync(worktree)) return [];
  if ((await worktreeFault({ root, path: worktree })) !== null)
    await (spec
      ? ensureCheckout({ git, sandboxes, spec, path: worktree, sha, isOurs: true })
      : ensureWorktree(git, { root, path: worktree, sha, isOurs: true }));
  // A run whose Pulse was killed could not be cleared up after.
  if (spec?.sandbox) await removePlantedHooks(git, worktree);
  const own = spec ? await sandboxes.gitIn({ spec, cwd: worktree }) : git;
  const message = `pulse: what ${ref} left behind`;
  const identity = spec?.identity ?? null;
  const filterLimitMs = isUrgent ? URGENT_FILTER_MS : undefined;
  const submodules = filterLimitMs === undefined ? own : own.bind({ limitMs: filterLimitMs });
  const kept = await keepSubmodules(submodules, {
    keeper: git,
    root,
    worktree,
    name: submodulesName(ref),
    identity,
    message,
  });
  const exclude = spec ? works.gitOf(spec).keepOut : [];
  const { leftOut } = await saveLeftovers(own, { ...request, identity, exclude, message, filterLimitMs });
  return [...submodulesKept(kept), ...filesOmitted(leftOut, ref)];
}

/** Of a session that has ended. Throws where something cannot be kept: then its worktree must not go. */
export async function saveLast(
  means: Means,
  { id, status, project_path: root, worktree_path: worktree }: Session,
  last: LastAttempt | null,
): Promise<NewEvent[]> {
  const { git, sandboxes } = means;
  if (!last || !existsSync(worktree)) return [];
  const { iteration, task } = last;
  const ref = recoveryRef(id, iteration.iteration_number, iteration.attempt);
  const identity = task?.spec.identity ?? null;
  // After a verified end all of the work is committed; what lies beside it came from the checks.
  if (status === 'complete' && (task?.result?.verification.length ?? 0) > 0) {
    const isWhole = (await worktreeFault({ root, path: worktree })) === null;
    const name = submodulesName(ref);
    const request = { keeper: git, root, worktree, name, identity, message: null };
    if (!isWhole) return [];
    const own = task ? await sandboxes.gitIn({ spec: task.spec, cwd: worktree }) : git;
    return submodulesKept(await keepSubmodules(own, request));
  }
  // What was committed has a name of its own, also where it was not kept.
  const startSha = task?.result?.commit ?? iteration.commit_hash ?? iteration.start_sha;
  const spec = task?.spec ?? null;
  const isUrgent = status === 'aborted';
  return saveIfThere(means, { spec, root, worktree, ref, startSha, isUrgent });
}

function submodulesName(ref: string): string {
  return ref.slice('refs/pulse/recovery/'.length);
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
