import type { Engine } from '../engine.ts';

/**
 * Ends an owner that is about to be replaced, if it lives on this host although its lease is over: it may be about to
 * start an agent, and two must never work in one worktree. Elsewhere its token alone stops it.
 */
export async function evictHolder(
  { owner, owners, evict }: Pick<Engine, 'owner' | 'owners' | 'evict'>,
  holder: string | null,
): Promise<void> {
  if (holder === null || holder === owner) return;
  if (owners(holder) === 'alive') await evict(holder);
}
