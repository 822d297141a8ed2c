/** What sessions that ended a while ago still hold: branches, worktrees, recordings, logs, rows. */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from '../../git/exec.ts';
import { holdsWork } from '../../git/merge.ts';
import { findCheckout, listRefs } from '../../git/refs.ts';
import { agentEventBytes, endedBefore } from '../../store/held-bytes.ts';
import { laterOnBranch } from '../../store/session-branches.ts';
import { getSession, type Session } from '../../store/sessions.ts';
import type { Operations } from '../context.ts';
import { sizeOf } from '../retention.ts';
import { branchesOf } from './session-parts.ts';

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

const OLD_MS = 24 * 60 * 60 * 1000;
/** So many sessions at a time. */
const MOST = 500;

/** Newest first; those that hold nothing are left out. */
export async function listHeld(
  operations: Operations,
  { olderThanMs = OLD_MS }: { olderThanMs?: number },
): Promise<HeldBySession[]> {
  const { store } = operations.engine;
  const found = await store.read(async (db) => {
    const ids = await endedBefore(db, olderThanMs, MOST);
    const bytes = await agentEventBytes(db, ids);
    const sessions: { session: Session; names: string[]; rowsBytes: number }[] = [];
    for (const id of ids) {
      const session = await getSession(db, id);
      // The branch is a later session's.
      const names = (await laterOnBranch(db, session)) === null ? await branchesOf(db, session) : [];
      sessions.push({ session, names, rowsBytes: bytes.get(id) ?? 0 });
    }
    return sessions;
  });
  const heads = new Map<string, Promise<Map<string, string>>>();
  const held: HeldBySession[] = [];
  for (const { session, names, rowsBytes } of found) {
    const root = session.project_path;
    if (!heads.has(root)) heads.set(root, readHeads(operations.git, root));
    const known = await heads.get(root)!;
    const branches: HeldBranch[] = [];
    for (const name of names) {
      const sha = known.get(name);
      if (sha !== undefined) branches.push(await lookAt(operations.git, { session, name, sha }));
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

async function lookAt(
  git: Git,
  { session, name, sha }: { session: Session; name: string; sha: string },
): Promise<HeldBranch> {
  const { project_path: root, base_branch: base, base_sha: began } = session;
  const into = base === null ? began : `refs/heads/${base}`;
  return {
    name,
    sha,
    isMerged: await holdsWork(git, { root, into, head: sha }),
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
