/** Retention: what has outlived its use goes from the repository and from the remotes its sessions use. */
import { collectAttempts, collectRefs } from '../git/gc.ts';
import { endedTasks } from '../store/inbox.ts';
import { listRemotes } from '../store/sessions.ts';
import type { Operations } from './context.ts';

export interface Collected {
  /** Recovery, agent and discarded refs past their time. */
  expired: string[];
  /** Of attempts that are over. */
  attempts: string[];
}

export async function collectGarbage(
  { engine: { store, clock }, git }: Operations,
  root: string,
): Promise<Collected> {
  const remotes = await store.read((db) => listRemotes(db, root));
  const expired = await collectRefs(git, { root, nowMs: clock.nowMs() });
  const ended = (ids: string[]) => store.read((db) => endedTasks(db, ids));
  const attempts = await collectAttempts(git, { root, remotes, ended });
  return { expired: expired.map(({ ref }) => ref), attempts };
}
