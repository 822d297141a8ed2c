/** Folders beside worktrees that nobody will ask for again: a process was killed, or could not remove them. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TERMINAL_STATUSES } from '../domain/status.ts';
import { removeWorktree } from '../git/worktree.ts';
import { findSession } from '../store/sessions.ts';
import type { Operations } from './context.ts';
import { runnerState } from './view.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** What was set aside is some agent's work. */
const WORK_KEPT_MS = 30 * DAY_MS;

/** Returns what is gone. What cannot be removed is tried again the next time. */
export async function removeLeftFolders(operations: Operations): Promise<string[]> {
  const { home } = operations;
  const gone: string[] = [];
  for (const folder of await listFolders(operations)) {
    const isOver = await isUnneeded(operations, folder).catch(() => false);
    if (!isOver) continue;
    await remove(operations, folder).then(
      () => gone.push(folder.path),
      () => undefined,
    );
  }
  for (const name of await namesIn(home.rooms)) {
    const path = join(home.rooms, name);
    const isOver = name.startsWith('ses_verify-')
      ? isOlderThan(operations, path, DAY_MS).catch(() => false)
      : isLongEnded(operations, name);
    if (!(await isOver)) continue;
    await rm(path, { recursive: true, force: true, maxRetries: 3 }).then(
      () => gone.push(path),
      () => undefined,
    );
  }
  return gone;
}

interface LeftFolder {
  path: string;
  /** The repository that it may be a worktree of; `null`: as the session says. */
  root: string | null;
  sessionId: string;
  kind: 'set_aside' | 'of_session';
}

async function listFolders({ home }: Operations): Promise<LeftFolder[]> {
  const folders: LeftFolder[] = [];
  for (const place of [home.worktrees, home.fleet]) {
    for (const project of await namesIn(place)) {
      const root = place === home.fleet ? join(home.clones, project) : null;
      for (const name of await namesIn(join(place, project))) {
        const [, sessionId, rest] = /^(ses_[\w-]+)\.(.+)$/.exec(name) ?? [];
        if (sessionId === undefined) continue;
        const kind = rest?.startsWith('kept-') ? 'set_aside' : 'of_session';
        folders.push({ path: join(place, project, name), root, sessionId, kind });
      }
    }
  }
  return folders;
}

async function isUnneeded(operations: Operations, { path, sessionId, kind }: LeftFolder): Promise<boolean> {
  if (kind === 'of_session') return isLongEnded(operations, sessionId);
  return isOlderThan(operations, path, WORK_KEPT_MS);
}

async function isOlderThan({ engine: { clock } }: Operations, path: string, ageMs: number): Promise<boolean> {
  return clock.nowMs() - (await stat(path)).mtimeMs > ageMs;
}

/** Who ended it may still be clearing up. */
async function isLongEnded(operations: Operations, sessionId: string): Promise<boolean> {
  const { store, clock } = operations.engine;
  const session = await store.read((db) => findSession(db, sessionId));
  if (!session?.ended_at || !TERMINAL_STATUSES.includes(session.status)) return false;
  if (clock.nowMs() - Date.parse(session.ended_at) < HOUR_MS) return false;
  return (await runnerState(operations, sessionId)) === 'none';
}

async function remove(
  { engine: { store }, git }: Operations,
  { path, root, sessionId }: LeftFolder,
): Promise<void> {
  const known = root ?? (await store.read((db) => findSession(db, sessionId)))?.project_path;
  // A repository that is not there has no registration of it either.
  if (known) await removeWorktree(git, { root: known, path, isOurs: true }).catch(() => undefined);
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}
