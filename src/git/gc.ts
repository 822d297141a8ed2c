/** Deletes refs that were kept for a person, after their time (docs/protocol/evidence.md, Retention). */
import type { Git } from './exec.ts';
import { attemptRef, deleteRefs, type ListedRef, listRefs } from './refs.ts';
import { dropRemoteRefs, listRemoteRefs } from './remote.ts';

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

export interface CollectAttempts {
  root: string;
  remotes: readonly string[];
  /** Those of these attempts that are over and settled. One that it does not know is somebody else's. */
  ended(taskIds: string[]): Promise<string[]>;
}

/**
 * Deletes the refs of attempts that are over: a daemon that was replaced and died right after publishing could not
 * take its own back. 1 git process for none, and one or two for each remote.
 */
export async function collectAttempts(
  git: Git,
  { root, remotes, ended }: CollectAttempts,
): Promise<string[]> {
  const collected = new Set<string>();
  const here = await endedRefs(
    (await listRefs(git, root, ATTEMPTS)).map(({ ref }) => ref),
    ended,
  );
  await deleteRefs(git, { root, refs: here });
  for (const ref of here) collected.add(ref);
  for (const remote of remotes) {
    const there = await endedRefs(await listRemoteRefs(git, { root, remote, prefix: ATTEMPTS }), ended);
    await dropRemoteRefs(git, { root, remote, refs: there });
    for (const ref of there) collected.add(ref);
  }
  return [...collected];
}

const ATTEMPTS = 'refs/pulse/attempts/';

async function endedRefs(refs: string[], ended: CollectAttempts['ended']): Promise<string[]> {
  if (refs.length === 0) return [];
  return (await ended(refs.map((ref) => ref.slice(ATTEMPTS.length)))).map(attemptRef);
}
