/** Pulse's own refs, and the one way a session's branch moves: by compare-and-swap. */
import { basename, join } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import { type Git, gitFailure } from './exec.ts';
import { listGitDirs, readCommonDir, readGitDir, readHeadFile, readOrNull } from './git-dir.ts';

export function attemptRef(taskId: string): string {
  return `refs/pulse/attempts/${refPart(taskId)}`;
}

export function recoveryRef(session: string, iteration: number, attempt: number): string {
  return `${recoveryPrefix(session)}${iteration}.${attempt}`;
}

/** Where all of a session's work lies that was not taken over. */
export function recoveryPrefix(session: string): string {
  return `refs/pulse/recovery/${refPart(session)}/`;
}

export function wipRef(session: string, pulse: string): string {
  return `refs/pulse/wip/${refPart(session)}/${refPart(pulse)}`;
}

/** Where the work in progress of a unit is kept. */
export function unitWipRef(sessionId: string, unitId: string): string {
  // An id may hold dots, which a ref may not hold two of, nor end in.
  return wipRef(sessionId, Buffer.from(unitId).toString('hex'));
}

export function discardedRef(session: string, number: number): string {
  return `refs/pulse/discarded/${refPart(session)}/${number}`;
}

export function agentRef(session: string, iteration: number): string {
  return `refs/pulse/agent/${refPart(session)}/${iteration}`;
}

/** Names the attempt's commit, so that it outlives its worktree. May be repeated. 1 git process. */
export async function publishAttempt(
  git: Git,
  { root, taskId, commit }: { root: string; taskId: string; commit: string },
): Promise<string> {
  const ref = attemptRef(taskId);
  await writeRefs(git, { root, refs: { [ref]: commit } });
  return ref;
}

/** All or none, overwriting what they held. 1 git process. */
export async function writeRefs(
  git: Git,
  { root, refs }: { root: string; refs: Record<string, string> },
): Promise<void> {
  const lines = Object.entries(refs).map(([ref, sha]) => `update ${ref} ${sha}\n`);
  await changeRefs(git, root, lines.join(''));
}

export interface Advance {
  root: string;
  /** Without `refs/heads/`. */
  branch: string;
  /** Where the branch must stand now; null: it must not exist. */
  from: string | null;
  to: string;
  /** Deleted in the same transaction (the attempt's ref); may be gone already. */
  dropRef?: string;
  /** More of Pulse's own refs to delete. */
  dropAlso?: readonly string[];
}

/**
 * Moves a branch from `from` to `to`; doing it again is no error. Throws `ref_moved` where the branch stands
 * elsewhere or is checked out: moving it there would make a user's files look changed. 1 git process; 2 or 3 where
 * it had already happened or is refused.
 */
export async function advanceBranch(git: Git, advance: Advance): Promise<void> {
  const { root, branch, from, to, dropRef } = advance;
  const ref = `refs/heads/${branch}`;
  const holder = await findCheckout(git, root, ref);
  const dropped = [...(dropRef === undefined ? [] : [dropRef]), ...(advance.dropAlso ?? [])];
  const drop = dropped.map((name) => `delete ${name}\n`).join('');
  const move = `update ${ref} ${to} ${from ?? '0'.repeat(to.length)}\n`;
  const moved = holder === null ? await git.updateRefs(root, move + drop) : null;
  if (moved?.code === 0) return;

  const actual = await readRef(git, root, ref);
  if (actual === to) {
    if (drop !== '') await changeRefs(git, root, drop);
    return;
  }
  if (moved !== null && actual === from) throw gitFailure(['update-ref', '--stdin'], moved);
  const data = { branch, expected: from, actual, wanted: to };
  if (actual !== from) {
    throw new PulseError(
      'ref_moved',
      `${branch} is at ${actual ?? 'no commit'}, expected ${from ?? 'none'}`,
      {
        hint: `Someone else moved it. Put it back (git branch -f ${branch} ${from ?? '…'}) or use another branch.`,
        data,
      },
    );
  }
  throw new PulseError('ref_moved', `${branch} is checked out in ${holder}, so it cannot be moved`, {
    hint: `Switch that checkout to another branch (git switch --detach), then resume.`,
    data: { ...data, checkedOutIn: holder },
  });
}

/** 1 git process. */
export async function readRef(git: Git, root: string, ref: string): Promise<string | null> {
  const answer = await git.attempt(['rev-parse', '--verify', '-q', ref], { cwd: root });
  return answer.code === 0 ? answer.stdout.toString().trim() : null;
}

/** 1 git process. */
export async function isAncestor(git: Git, root: string, older: string, newer: string): Promise<boolean> {
  return (await git.attempt(['merge-base', '--is-ancestor', older, newer], { cwd: root })).code === 0;
}

export interface ListedRef {
  ref: string;
  sha: string;
  /** Of a tag when that was made. Null where it names neither. */
  committedAtMs: number | null;
}

/** Every ref under these prefixes. 1 git process. */
export async function listRefs(git: Git, root: string, ...prefixes: string[]): Promise<ListedRef[]> {
  const format = '--format=%(refname) %(objectname) %(creatordate:unix)';
  const lines = (await git.text(['for-each-ref', format, ...prefixes], { cwd: root })).split('\n');
  return lines.filter(Boolean).map((line) => {
    const [ref, sha, seconds] = line.split(' ') as [string, string, string | undefined];
    return { ref, sha, committedAtMs: seconds ? Number(seconds) * 1000 : null };
  });
}

/** All or none; those that are gone already are no error. 1 git process, 0 for none. */
export async function deleteRefs(git: Git, { root, refs }: { root: string; refs: string[] }): Promise<void> {
  if (refs.length === 0) return;
  await changeRefs(git, root, refs.map((ref) => `delete ${ref}\n`).join(''));
}

/** Commands of `update-ref --stdin`, all or none. 0 git processes for none. */
export async function changeRefs(git: Git, root: string, lines: string): Promise<void> {
  if (lines === '') return;
  const result = await git.updateRefs(root, lines);
  if (result.code !== 0) throw gitFailure(['update-ref', '--stdin'], result);
}

export function refPart(text: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(text)) return text;
  throw new PulseError('invalid_input', `"${text}" cannot be part of a ref`);
}

/** The checkout that holds a branch, also in the middle of rebasing it. 0 git processes (1 with reftable). */
export async function findCheckout(git: Git, root: string, ref: string): Promise<string | null> {
  for (const gitDir of await listGitDirs(await readCommonDir(await readGitDir(root)))) {
    const head = await readHeadFile(gitDir);
    if (head.sha === null && head.ref === null) return findByGit(git, root, ref);
    const rebased = await Promise.all(
      ['rebase-merge', 'rebase-apply'].map((state) => readOrNull(join(gitDir, state, 'head-name'))),
    );
    if (head.ref !== ref && !rebased.some((name) => name?.trim() === ref)) continue;
    const link = await readOrNull(join(gitDir, 'gitdir'));
    if (link === null && (await isBare(gitDir))) continue;
    return link === null ? gitDir.replace(/\/\.git$/, '') : link.trim().replace(/\/\.git$/, '');
  }
  return null;
}

/** Then its HEAD only says which branch a clone begins with. */
async function isBare(gitDir: string): Promise<boolean> {
  return /^\s*bare\s*=\s*true\s*$/m.test((await readOrNull(join(gitDir, 'config'))) ?? '');
}

async function findByGit(git: Git, root: string, ref: string): Promise<string | null> {
  const blocks = (await git.text(['worktree', 'list', '--porcelain'], { cwd: root })).split('\n\n');
  const held = blocks.find((block) => block.split('\n').includes(`branch ${ref}`));
  return held === undefined ? null : (held.split('\n')[0]?.slice('worktree '.length) ?? basename(root));
}
