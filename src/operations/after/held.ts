/** What sessions that ended a while ago still hold: branches, worktrees, recordings, logs, rows. */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OLD_AFTER_MS } from '../../domain/after-words.ts';
import type { Git } from '../../git/exec.ts';
import { holdsWork } from '../../git/merge.ts';
import { findCheckout, listRefs } from '../../git/refs.ts';
import { agentEventBytes, endedBefore } from '../../store/held-bytes.ts';
import { pushedOf } from '../../store/pull-requests.ts';
import { getSession, type Session } from '../../store/sessions.ts';
import type { Operations } from '../context.ts';
import { sizeOf } from '../retention.ts';
import { ownBranchesOf } from './session-parts.ts';

export interface HeldBranch {
  name: string;
  sha: string;
  /** Its base has it. */
  isMerged: boolean;
  checkedOutIn: string | null;
}

export interface HeldBySession {
  session: Session;
  branches: HeldBranch[];
  worktree: { path: string; bytes: number } | null;
  recordingsBytes: number;
  logBytes: number;
  /** What its agents said, in the store. */
  rowsBytes: number;
}

/** So many sessions at a time. */
const MOST = 500;

/** Newest first; those that hold nothing are left out. */
export async function listHeld(
  operations: Operations,
  { olderThanMs = OLD_AFTER_MS }: { olderThanMs?: number },
): Promise<HeldBySession[]> {
  const { store } = operations.engine;
  const found = await store.read(async (db) => {
    const ids = await endedBefore(db, olderThanMs, MOST);
    const bytes = await agentEventBytes(db, ids);
    const sessions: (Held & { names: string[]; rowsBytes: number })[] = [];
    for (const id of ids) {
      const session = await getSession(db, id);
      const names = await ownBranchesOf(db, session);
      const merged = session.merged_how === 'pr' ? await pushedOf(db, id) : session.merged_sha;
      sessions.push({ session, names, merged, rowsBytes: bytes.get(id) ?? 0 });
    }
    return sessions;
  });
  const heads = new Map<string, Promise<Map<string, string>>>();
  const held: HeldBySession[] = [];
  for (const { session, names, merged, rowsBytes } of found) {
    const root = session.project_path;
    if (!heads.has(root)) heads.set(root, readHeads(operations.git, root));
    const known = await heads.get(root)!;
    const branches: HeldBranch[] = [];
    for (const name of names) {
      const sha = known.get(name);
      if (sha !== undefined) branches.push(await lookAt(operations.git, { session, merged, name, sha }));
    }
    const files = await filesOf(operations, session);
    const entry = { session: operations.redactor.redactJson(session), branches, ...files, rowsBytes };
    if (branches.length > 0 || files.worktree || files.recordingsBytes + files.logBytes + rowsBytes > 0)
      held.push(entry);
  }
  return held;
}

/** The repository may be gone: then it holds nothing. */
async function readHeads(git: Git, root: string): Promise<Map<string, string>> {
  const refs = await listRefs(git, root, 'refs/heads/').catch(() => []);
  return new Map(refs.map(({ ref, sha }) => [ref.slice('refs/heads/'.length), sha]));
}

interface Held {
  session: Session;
  /** What was merged of it, or holds that. */
  merged: string | null;
}

async function lookAt(
  git: Git,
  { session, merged, name, sha }: Held & { name: string; sha: string },
): Promise<HeldBranch> {
  const { project_path: root, base_branch: base, base_sha: began, merged_at: at } = session;
  const into = base === null ? began : `refs/heads/${base}`;
  // A squash elsewhere has no commit of the branch, and a base may be rewritten: it was merged all the same.
  const wasMerged = async (): Promise<boolean> =>
    at !== null && merged !== null && (await holdsWork(git, { root, into: merged, head: sha }));
  return {
    name,
    sha,
    isMerged: (await holdsWork(git, { root, into, head: sha })) || (await wasMerged()),
    checkedOutIn: await findCheckout(git, root, `refs/heads/${name}`),
  };
}

async function filesOf({ home }: Operations, { id, worktree_path: worktree }: Session) {
  const recordings = join(home.recordings, id);
  return {
    worktree: existsSync(worktree) ? { path: worktree, bytes: await treeBytes(worktree) } : null,
    recordingsBytes: existsSync(recordings) ? (await sizeOf(recordings)).bytes : 0,
    logBytes: await stat(join(home.logs, `${id}.log`)).then(
      ({ size }) => size,
      () => 0,
    ),
  };
}

/** Of a folder with all below it; no link is followed. */
async function treeBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    bytes += await stat(join(entry.parentPath, entry.name)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  return bytes;
}
