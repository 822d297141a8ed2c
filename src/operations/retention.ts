/** Removes by itself what is no longer needed: packs texts; deletes logs, recordings, agents' events and old refs. */
import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { TERMINAL_STATUSES } from '../domain/status.ts';
import { boundRecordings } from '../engine/run/recordings.ts';
import { forgetNotifications } from '../notify/outbox.ts';
import { endChore, takeChore } from '../store/chores.ts';
import { packSession, unpackedSessions } from '../store/pack-session.ts';
import { forgetAgentEvents, forgetDaemons, projectPaths, retirableSessions } from '../store/retention.ts';
import { findSession } from '../store/sessions.ts';
import { closeWorktree } from './close-worktree.ts';
import { collectExpired } from './collect.ts';
import type { Operations } from './context.ts';
import { removeLeftFolders } from './left-folders.ts';
import { runnerState } from './view.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Logs, recordings and events of agents; a clone that no daemon has used for longer is made again when it is needed. */
const KEPT_MS = 14 * DAY_MS;
const CLONE_KEPT_MS = 30 * DAY_MS;
/** A reply to a message finds its session by it. */
const TOLD_KEPT_MS = 30 * DAY_MS;
const EVERY_MS = 6 * 60 * 60 * 1000;
/** One that takes longer is done by another as well, which does no harm. */
const LEASE_MS = 10 * 60 * 1000;
/** Sessions at a time: the process has other work to do. */
const AT_ONCE = 200;

export interface Retired {
  /** Whose texts are packed now. */
  packed: string[];
  /** Whose logs, recordings and agent events are gone. */
  retired: string[];
  /** Whose worktree could not be removed when they ended, and is now. */
  closed: string[];
  /** Folders beside worktrees that belong to nothing. */
  removed: string[];
}

/** Does nothing where another process has done it in the last hours. What goes wrong is told, and tried again then. */
export async function retireWhenDue(operations: Operations, say: (text: string) => void): Promise<void> {
  const { home, engine } = operations;
  const { store, owner, owners } = engine;
  // Logs and worktrees are those of one state directory.
  const chore = { name: `retention ${hostname()}:${home.path}`, owner };
  const isGone = (other: string): boolean => other === owner || owners(other) === 'dead';
  try {
    const turn = { ...chore, leaseMs: LEASE_MS, everyMs: EVERY_MS, isGone };
    if (!(await store.tx('take_chore', (db) => takeChore(db, turn)))) return;
    await retireOld(operations);
    await store.tx('end_chore', (db) => endChore(db, chore));
  } catch (error) {
    say(`retention: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** May be repeated, and done by several at once. */
export async function retireOld(operations: Operations): Promise<Retired> {
  const { engine } = operations;
  const { store } = engine;
  const packed = await store.read((db) => unpackedSessions(db, AT_ONCE));
  for (const id of packed) await packSession(store, id);
  const retired = await store.read((db) => retirableSessions(db, KEPT_MS, AT_ONCE));
  for (const id of retired) await retireSession(operations, id);
  await store.tx('retire', (db) => forgetDaemons(db, DAY_MS));
  await store.tx('retire', (db) => forgetNotifications(db, TOLD_KEPT_MS));
  await boundRecordings(operations.home.recordings);
  await removeIdleClones(operations);
  await expireRefs(operations);
  const closed = await closeLeftWorktrees(operations);
  return { packed, retired, closed, removed: await removeLeftFolders(operations) };
}

/** Its log, its recordings and what its agents said. */
export async function retireSession({ engine: { store }, home }: Operations, id: string): Promise<void> {
  await rm(join(home.logs, `${id}.log`), { force: true });
  await rm(join(home.recordings, id), { recursive: true, force: true });
  await store.tx('retire', (db) => forgetAgentEvents(db, id), { session: id });
}

/** Recovery refs and their kind, past their time, in every repository that has had a session here. */
async function expireRefs({ engine: { store, clock }, git, home }: Operations): Promise<void> {
  const clones = (await namesIn(home.clones)).map((project) => join(home.clones, project));
  for (const root of [...(await store.read(projectPaths)), ...clones]) {
    // It may have been moved away, or lie on a disk that is not mounted: then the next time is early enough.
    await collectExpired(git, { root, nowMs: clock.nowMs() }).catch(() => undefined);
  }
}

/** A daemon's clone without a worktree. */
async function removeIdleClones({ engine: { clock }, home }: Operations): Promise<void> {
  for (const project of await namesIn(home.clones)) {
    const { changedMs } = await sizeOf(join(home.clones, project));
    const isUsed = (await namesIn(join(home.fleet, project))).length > 0;
    if (isUsed || clock.nowMs() - changedMs < CLONE_KEPT_MS) continue;
    await rm(join(home.clones, project), { recursive: true, force: true });
  }
}

/** Something in it could not be removed when its session ended; perhaps it can now. */
async function closeLeftWorktrees(operations: Operations): Promise<string[]> {
  const { engine, home } = operations;
  const { store } = engine;
  const closed: string[] = [];
  for (const project of await namesIn(home.worktrees)) {
    for (const id of await namesIn(join(home.worktrees, project))) {
      const session = await store.read((db) => findSession(db, id));
      if (!session || !TERMINAL_STATUSES.includes(session.status)) continue;
      if (session.worktree_path !== join(home.worktrees, project, id)) continue;
      if ((await runnerState(operations, id)) !== 'none') continue;
      const notices = await closeWorktree(operations, session);
      if (notices.length === 0) closed.push(id);
    }
  }
  return closed;
}

/** Of the files directly in it, and when it was changed. */
export async function sizeOf(folder: string): Promise<{ bytes: number; changedMs: number }> {
  const { mtimeMs } = await stat(folder);
  const sizes = await Promise.all(
    (await namesIn(folder)).map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), changedMs: mtimeMs };
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}
