/** Retention: what has outlived its use goes from the repository and from the remotes its sessions use. */
import type { Git } from '../git/exec.ts';
import { type CollectRequest, collectAttempts, collectRefs } from '../git/gc.ts';
import { collectSetAside } from '../git/gc-set-aside.ts';
import { collectSubmodules } from '../git/gc-submodules.ts';
import { endedTasks } from '../store/inbox.ts';
import { listRemotes } from '../store/sessions.ts';
import type { Operations } from './context.ts';

export interface Collected {
  /** Recovery, agent and discarded refs past their time, and what was kept of submodules and worktrees as long. */
  expired: string[];
  /** Of attempts that are over. */
  attempts: string[];
}

export async function collectGarbage(
  { engine: { store, clock }, git }: Operations,
  root: string,
): Promise<Collected> {
  const remotes = await store.read((db) => listRemotes(db, root));
  const expired = await collectExpired(git, { root, nowMs: clock.nowMs() });
  const ended = (ids: string[]) => store.read((db) => endedTasks(db, ids));
  const attempts = await collectAttempts(git, { root, remotes, ended });
  return { expired, attempts };
}

/** What is kept in a repository for a person, past its time. Work in submodules stays as long as a commit needs it. */
export async function collectExpired(git: Git, request: CollectRequest): Promise<string[]> {
  const refs = await collectRefs(git, request);
  // Afterwards: those refs may have named commits of submodules.
  const submodules = await collectSubmodules(git, request);
  return [...refs.map(({ ref }) => ref), ...submodules, ...(await collectSetAside(request))];
}
