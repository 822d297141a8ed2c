/** What a killed git or an unfinished rebase, merge, cherry-pick or bisect leaves in a worktree's private folder. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeBelow } from '../files/folder.ts';
import { isObjectId, readOrNull } from './git-dir.ts';

/**
 * Makes the private folder usable again: stale locks go, and a HEAD that a power loss left empty, or that is no file,
 * names `sha`. The
 * caller guarantees that no process works in this worktree; the locks of the shared folder may be a living process's
 * and stay. 0 git processes.
 */
export async function healGitDir(gitDir: string, sha: string): Promise<void> {
  const locks = ['index.lock', 'HEAD.lock'].map((name) => join(gitDir, name)).filter(existsSync);
  for (const lock of locks) rmSync(lock, { recursive: true, force: true });
  const head = ((await readOrNull(join(gitDir, 'HEAD'))) ?? '').trim();
  if (isObjectId(head) || head.startsWith('ref:')) return;
  const path = join(gitDir, 'HEAD');
  // An agent may have put anything there, also a folder.
  await rm(path, { recursive: true, force: true });
  await writeBelow(gitDir, path, `${sha}\n`);
}

export interface UnfinishedOperation {
  /** Files and folders that make git believe an operation is under way. */
  traces: string[];
  /** Where HEAD stood before a rebase began: commits that nothing else may name. */
  origHead: string | null;
}

/** 0 git processes. */
export async function readOperation(gitDir: string): Promise<UnfinishedOperation> {
  const traces = readdirSync(gitDir).filter((name) => TRACE.test(name));
  for (const state of traces) {
    const origHead = state.startsWith('rebase-') && (await readOrNull(join(gitDir, state, 'orig-head')));
    if (origHead && isObjectId(origHead.trim())) return { traces, origHead: origHead.trim() };
  }
  return { traces, origHead: null };
}

/**
 * Forgets the operation without touching a file, the index or HEAD. Not `git rebase --quit`: that would put an
 * autostash on the stash list, which the user's checkout shares.
 */
export async function forgetOperation(gitDir: string, { traces }: UnfinishedOperation): Promise<void> {
  await Promise.all(traces.map((name) => rm(join(gitDir, name), { recursive: true, force: true })));
}

const TRACE =
  /^(MERGE_(HEAD|MSG|MODE|RR|AUTOSTASH)|AUTO_MERGE|SQUASH_MSG|(CHERRY_PICK|REVERT|REBASE)_HEAD|BISECT_\w+|rebase-merge|rebase-apply|sequencer)$/;
