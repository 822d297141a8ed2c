/** What happened to a worktree that a person should know, and that is no part of a result. */
import type { NewEvent } from '../../domain/events.ts';
import type { KeptSubmodule } from '../../git/submodules.ts';
import { appendEvents } from '../../store/events.ts';
import { holdsTask } from '../../store/inbox.ts';
import type { Engine } from '../engine.ts';
import type { HeldAttempt } from '../ports.ts';

const PATHS_NAMED = 100;

/** Files that git could not add: they are neither in a commit nor under `ref`. */
export function filesOmitted(paths: readonly string[], ref: string | null): NewEvent[] {
  if (paths.length === 0) return [];
  return [
    { type: 'files.omitted', data: { paths: paths.slice(0, PATHS_NAMED), count: paths.length, from: ref } },
  ];
}

/** A folder that should have been removed or reset, and stays: it holds what could not be kept otherwise. */
export function worktreeKept(path: string, error: unknown): NewEvent {
  const reason = error instanceof Error ? error.message : String(error);
  return { type: 'worktree.kept', data: { path, reason } };
}

/** Commits of submodules that no remote has: where they are from now on. */
export function submodulesKept(kept: readonly KeptSubmodule[]): NewEvent[] {
  return kept.map((data) => ({ type: 'submodule.kept', data: { ...data } }));
}

/** A process that was replaced says nothing. */
export async function recordNotices(
  { store }: Pick<Engine, 'store'>,
  { sessionId, iteration, task }: HeldAttempt,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await store.tx(
    'tell',
    async (db) => {
      if (await holdsTask(db, task))
        await appendEvents(
          db,
          sessionId,
          events.map((event) => ({ ...event, iteration })),
        );
    },
    { session: sessionId },
  );
}
