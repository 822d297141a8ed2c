/** Merges a finished branch into its base. It never moves a checked-out branch (docs/protocol/workflow.md, Review). */
import type { Identity } from '../domain/attempt.ts';
import { PulseError } from '../domain/errors.ts';
import { writeCommit } from './commit.ts';
import type { Git } from './exec.ts';
import {
  fastForwardCheckout,
  filesInTheWay,
  isHalfForwarded,
  undoFastForward,
} from './fast-forward-checkout.ts';
import { findGitDir } from './git-dir.ts';
import { formatMessage } from './message.ts';
import { findCheckout, isAncestor, listRefs } from './refs.ts';
import { checkoutState } from './worktree.ts';

export type MergeMode = 'ff' | 'merge' | 'squash';

export interface MergeRequest {
  root: string;
  base: string;
  branch: string;
  /** What is merged, where the branch only lags behind it. */
  tip?: string;
  mode: MergeMode;
  /** Of the merge or squash commit. */
  subject: string;
  body?: string;
  trailers: Record<string, string>;
  identity: Identity | null;
  /** What the person types to try once more, in this mode or another. */
  again(mode: MergeMode): string;
  /** Whether a git of this machine is at work in a checkout. */
  isAtWork(checkout: string): boolean;
}

export interface Merged {
  /** Where the base stands now. */
  sha: string;
  /** The worktree of a person that was brought forward, where the base is checked out. */
  checkout: string | null;
  /** It held the work before. */
  wasThere: boolean;
}

/**
 * Doing it again is no error: a base that holds the branch already, or our commit of this very head, is recognised.
 * If Pulse dies in the middle, the base is where it was: a ref moves all at once. git finishes a checkout that it has
 * begun to fast-forward; if git died too, what it had written is undone first.
 */
export async function mergeBranch(git: Git, request: MergeRequest): Promise<Merged> {
  const { root, base, branch, mode } = request;
  const ref = `refs/heads/${base}`;
  const tip = request.tip ?? `refs/heads/${branch}`;
  const refs = new Map((await listRefs(git, root, ref, tip)).map((listed) => [listed.ref, listed.sha]));
  const [from, head] = [refs.get(ref), refs.get(tip)];
  if (from === undefined || head === undefined) {
    const missing = from === undefined ? base : branch;
    throw new PulseError('not_found', `There is no branch ${missing}.`, {
      hint: 'Was it deleted or renamed?',
    });
  }
  const checkout = await findCheckout(git, root, ref);
  if (checkout !== null) await mendCheckout(git, { checkout, from, request });
  if (await isMerged(git, { root, from, head, request })) return { sha: from, checkout, wasThere: true };
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
  if (checkout !== null) await bringIn(git, { checkout, from, to, request });
  else await swap(git, { root, ref, from, to, request });
  return { sha: to, checkout, wasThere: false };
}

interface Sides {
  root: string;
  from: string;
  head: string;
  request: MergeRequest;
}

async function isMerged(git: Git, { root, from, head, request }: Sides): Promise<boolean> {
  if (request.mode === 'squash') return holdsWork(git, { root, into: from, head });
  return isAncestor(git, root, head, from);
}

/**
 * Whether a base holds this head: itself, or in a squash that Pulse has made of it. A squash does not hold the branch, it
 * says which head it was made of; a person may have committed on top since. 1 or 2 git processes.
 */
export async function holdsWork(
  git: Git,
  { root, into: from, head }: { root: string; into: string; head: string },
): Promise<boolean> {
  if (await isAncestor(git, root, head, from)) return true;
  const format = `--format=%(trailers:key=${SQUASHED},valueonly,separator=%x20)`;
  const heads = await git.attempt(['log', format, from, `^${head}`], { cwd: root });
  return heads.stdout.toString('utf8').split(/\s+/).includes(head);
}

/** The trailer of a squash: the head of the branch whose work it holds. */
const SQUASHED = 'Pulse-Squashed';

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
    const which = files.filter(Boolean);
    const where = which.length > 0 ? ` in ${named(which)}` : '';
    throw refused(request, `${request.branch} and ${request.base} conflict${where}.`, {
      command: `git switch ${request.base} && git merge ${request.branch}`,
    });
  }
  const isSquash = request.mode === 'squash';
  const parents: [string, ...string[]] = isSquash ? [from] : [from, head];
  const trailers = { ...request.trailers, ...(isSquash ? { [SQUASHED]: head } : {}) };
  const message = formatMessage({ ...request, trailers });
  return writeCommit(git, { root, tree, parents, identity: request.identity, message });
}

/** What an earlier try left in the middle; what a person has changed since is theirs. */
async function mendCheckout(
  git: Git,
  { checkout, from, request }: { checkout: string; from: string; request: MergeRequest },
): Promise<void> {
  const { base, mode } = request;
  if ((await findGitDir(checkout)) === null) {
    throw refused(request, `${base} is checked out in ${checkout}, which is not there.`, {
      command: `git worktree prune, if it is gone for good, then ${request.again(mode)}`,
    });
  }
  if (!(await isHalfForwarded(checkout))) return;
  if (request.isAtWork(checkout)) {
    throw refused(request, `git is at work in ${checkout}: it may be bringing ${base} forward still.`, {
      command: `${request.again(mode)}, once it has ended`,
    });
  }
  const changed = await undoFastForward(git, { checkout, head: from });
  if (changed.length === 0) return;
  const what = `${base} was half brought forward in ${checkout} when git ended, and since then these were changed: ${named(changed)}.`;
  throw refused(request, what, { command: `git -C ${checkout} stash -u, then ${request.again(mode)}` });
}

async function bringIn(
  git: Git,
  { checkout, from, to, request }: { checkout: string; from: string; to: string; request: MergeRequest },
): Promise<void> {
  const { base, mode } = request;
  const strangers = await filesInTheWay(git, { checkout, from, to });
  if (strangers.length > 0) {
    const what = `${base} in ${checkout} could not be brought forward: it has files that git does not know, where ${request.branch} has some: ${named(strangers)}.`;
    throw refused(request, what, {
      command: `git -C ${checkout} status --ignored, move them away, then ${request.again(mode)}`,
    });
  }
  const merged = await fastForwardCheckout(git, { checkout, from, to });
  if (merged.code === 0) return;
  const said = merged.stderr.trim().split('\n').slice(0, 5).join(' ');
  throw refused(request, `${base} in ${checkout} could not be brought forward: ${said}`, {
    command: `git -C ${checkout} status, then ${request.again(mode)}`,
  });
}

function named(paths: readonly string[]): string {
  return `${paths.slice(0, 10).join(', ')}${paths.length > 10 ? ` and ${paths.length - 10} more` : ''}`;
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
