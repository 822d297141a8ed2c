/** Retention (contract 1.5): what Pulse kept for a person to look at goes after its time. */
import type { Git } from './exec.ts';
import { deleteRefs, type ListedRef, listRefs } from './refs.ts';

export interface CollectRequest {
  root: string;
  nowMs: number;
  olderThanMs?: number;
}

/** Deletes recovery, agent and discarded refs whose commit is older (30 days by default). 2 git processes, 1 for none. */
export async function collectRefs(
  git: Git,
  { root, nowMs, olderThanMs = 30 * 24 * 60 * 60 * 1000 }: CollectRequest,
): Promise<ListedRef[]> {
  const kept = ['refs/pulse/recovery/', 'refs/pulse/agent/', 'refs/pulse/discarded/'];
  const old = (await listRefs(git, root, ...kept)).filter(
    ({ committedAtMs }) => committedAtMs !== null && nowMs - committedAtMs > olderThanMs,
  );
  await deleteRefs(git, { root, refs: old.map(({ ref }) => ref) });
  return old;
}
