/** Bringing a finished branch into its base (contract 3, Review): never by moving a branch that somebody has checked out. */
import type { Identity } from '../domain/attempt.ts';
import { PulseError } from '../domain/errors.ts';
import { identityEnvironment } from './commit.ts';
import type { Git } from './exec.ts';
import { formatMessage } from './message.ts';
import { findCheckout, readRef } from './refs.ts';
import { checkoutState } from './worktree.ts';

export type MergeMode = 'ff' | 'merge' | 'squash';

export interface MergeRequest {
  root: string;
  base: string;
  branch: string;
  mode: MergeMode;
  /** Of the merge or squash commit. */
  subject: string;
  body?: string;
  trailers: Record<string, string>;
  identity: Identity | null;
  /** What the person types to try once more, in this mode or another. */
  again(mode: MergeMode): string;
}

export interface Merged {
  /** Where the base stands now. */
  sha: string;
  /** The worktree of a person that was brought forward, where the base is checked out. */
  checkout: string | null;
}

/**
 * Doing it again is no error: a base that holds the branch already, or our commit of this very head, is recognised.
 * Whoever dies in the middle leaves the base where it was: a ref moves all at once, and git goes on by itself with a
 * checkout that it has begun to bring forward.
 */
export async function mergeBranch(git: Git, request: MergeRequest): Promise<Merged> {
  const { root, base, branch, mode } = request;
  const ref = `refs/heads/${base}`;
  const from = await readRef(git, root, ref);
  const head = await readRef(git, root, `refs/heads/${branch}`);
  if (from === null || head === null) {
    const missing = from === null ? base : branch;
    throw new PulseError('not_found', `There is no branch ${missing}.`, {
      hint: 'Was it deleted or renamed?',
    });
  }
  const checkout = await findCheckout(git, root, ref);
  if (await isMerged(git, { root, from, head, request })) return { sha: from, checkout };
  if (checkout !== null && (await checkoutState(git, checkout)).changed.length > 0) {
    throw refused(request, `${base} is checked out in ${checkout} with changes that are not committed.`, {
      command: `git -C ${checkout} stash -u, then ${request.again(mode)}`,
    });
  }
  const to =
    mode === 'ff'
      ? await forward(git, { root, from, head, request })
      : await combine(git, { root, from, head, request });
  if ((await findCheckout(git, root, ref)) !== checkout) {
    throw refused(request, `${base} was checked out, or left, while it was being merged.`, {
      command: request.again(mode),
    });
  }
  if (checkout !== null) await bringIn(git, { checkout, to, request });
  else await swap(git, { root, ref, from, to, request });
  return { sha: to, checkout };
}

interface Sides {
  root: string;
  from: string;
  head: string;
  request: MergeRequest;
}

/** A squash does not hold the branch: it says which head it was made of. A person may have committed on top since. */
async function isMerged(git: Git, { root, from, head, request }: Sides): Promise<boolean> {
  if (await isAncestor(git, root, head, from)) return true;
  if (request.mode !== 'squash') return false;
  const format = `--format=%(trailers:key=${SQUASHED},valueonly,separator=%x20)`;
  const heads = await git.text(['log', format, from, `^${head}`], { cwd: root });
  return heads.split(/\s+/).includes(head);
}

/** The trailer of a squash: the head of the branch whose work it holds. */
const SQUASHED = 'Pulse-Squashed';

async function isAncestor(git: Git, root: string, older: string, newer: string): Promise<boolean> {
  return (await git.attempt(['merge-base', '--is-ancestor', older, newer], { cwd: root })).code === 0;
}

async function forward(git: Git, { root, from, head, request }: Sides): Promise<string> {
  if (await isAncestor(git, root, from, head)) return head;
  throw refused(
    request,
    `${request.base} has moved since ${request.branch} began, so it cannot be fast-forwarded.`,
    {
      command: `${request.again('merge')}, or git rebase ${request.base} ${request.branch}`,
    },
  );
}

/** The merged tree is written without a checkout; with conflicts nothing is. */
async function combine(git: Git, { root, from, head, request }: Sides): Promise<string> {
  const merged = await git.attempt(
    ['merge-tree', '--write-tree', '--name-only', '--no-messages', from, head],
    {
      cwd: root,
    },
  );
  const [tree = '', ...files] = merged.stdout.toString('utf8').trim().split('\n');
  if (merged.code !== 0) {
    const named = files.filter(Boolean).slice(0, 10).join(', ');
    throw refused(request, `${request.branch} and ${request.base} conflict${named ? ` in ${named}` : ''}.`, {
      command: `git switch ${request.base} && git merge ${request.branch}`,
    });
  }
  const isSquash = request.mode === 'squash';
  const parents = isSquash ? ['-p', from] : ['-p', from, '-p', head];
  const trailers = { ...request.trailers, ...(isSquash ? { [SQUASHED]: head } : {}) };
  return git.text(['commit-tree', tree, ...parents], {
    cwd: root,
    env: identityEnvironment(request.identity),
    stdin: formatMessage({ ...request, trailers }),
  });
}

/** git itself looks after untracked files that would be overwritten. */
async function bringIn(
  git: Git,
  { checkout, to, request }: { checkout: string; to: string; request: MergeRequest },
): Promise<void> {
  const merged = await git.attempt(['merge', '-q', '--ff-only', to], { cwd: checkout });
  if (merged.code === 0) return;
  const said = merged.stderr.trim().split('\n').slice(0, 5).join(' ');
  throw refused(request, `${request.base} in ${checkout} could not be brought forward: ${said}`, {
    command: `git -C ${checkout} status, then ${request.again(request.mode)}`,
  });
}

async function swap(
  git: Git,
  {
    root,
    ref,
    from,
    to,
    request,
  }: { root: string; ref: string; from: string; to: string; request: MergeRequest },
): Promise<void> {
  const moved = await git.updateRefs(root, `update ${ref} ${to} ${from}\n`);
  if (moved.code === 0) return;
  throw refused(request, `${request.base} moved while it was being merged.`, {
    command: request.again(request.mode),
  });
}

function refused({ base }: MergeRequest, message: string, { command }: { command: string }): PulseError {
  return new PulseError('merge_conflict', message, {
    hint: `Nothing was changed. Run: ${command}`,
    data: { base },
  });
}
