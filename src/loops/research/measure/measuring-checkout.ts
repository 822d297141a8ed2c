/**
 * The checkouts that are measured in (docs/protocol/research.md, Measuring). Before each reading a checkout holds what
 * its commit and setup make, and nothing else. What setup makes is a copy of what it made in the session's worktree before
 * any agent was there. A checkout is restored after each command, and created again when that is not certain.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from '../../../git/exec.ts';
import { realPathOf } from '../../../git/git-dir.ts';
import { resetWorktree } from '../../../git/recovery.ts';
import { seedSubmodules } from '../../../git/submodules.ts';
import { checkoutState, removeWorktree, untrackedPaths, worktreeFault } from '../../../git/worktree.ts';
import { findOwnPath } from '../../../referee/room/own-path.ts';
import {
  givePrepared,
  keepPrepared,
  type PreparedPaths,
  watchPrepared,
} from '../../../referee/room/prepared-paths.ts';
import { findSnapshot, keepSnapshot, type Snapshot } from './prepared-snapshots.ts';

export interface MeasuringCheckout {
  path: string;
  /** Runs what may write there; `left` is what it left beside the commit, all of which is gone. */
  use<T>(work: () => Promise<T>): Promise<{ result: T; left: string[] }>;
}

export interface CheckoutRequest {
  /** A checkout of the repository. */
  root: string;
  path: string;
  /** The session's worktree, which has the commits of submodules. */
  from?: string;
  sha: string;
  /** Where the session keeps what setup made. */
  snapshots: string;
  /** A checkout that was set up and that no agent has touched yet. */
  source: string | null;
  /** Makes the checkout at `sha`. */
  make(): Promise<unknown>;
  /** Git for calls in it. */
  inside(): Promise<Git>;
  /** Of what is checked out there: differs where setup would do something else; `null`: there is nothing to do. */
  setupMark(checkout: string): Promise<string | null>;
  /** Runs the setup commands in it. */
  setUp(): Promise<void>;
}

export interface MeasuringCheckouts {
  open(request: CheckoutRequest): Promise<MeasuringCheckout>;
  close(place: { root: string; path: string }): Promise<void>;
}

export function createMeasuringCheckouts(git: Git): MeasuringCheckouts {
  /** Those that were put back, by this very process: of any other nobody knows what was left there. */
  const clean = new Map<string, Prepared>();

  async function close({ root, path }: { root: string; path: string }): Promise<void> {
    clean.delete(path);
    await removeWorktree(git, { root, path, isOurs: true });
    await rm(copyOf(path), { recursive: true, force: true });
  }

  async function make(request: CheckoutRequest): Promise<Prepared> {
    const { root, path, from, setupMark } = request;
    await close({ root, path });
    await request.make();
    await seedSubmodules({ root, worktree: path, from });
    const mark = await setupMark(path);
    return mark === null ? NOT_PREPARED : prepareCheckout(git, request, mark);
  }

  /** Another lockfile is prepared from nothing: what the last one brought must not be found. */
  async function move(request: CheckoutRequest, prepared: Prepared): Promise<Prepared> {
    const { path, sha, setupMark, snapshots } = request;
    await resetWorktree(await request.inside(), { worktree: path, sha, keep: prepared.paths.names });
    const { mark, isShared } = prepared;
    if ((await setupMark(path)) !== mark) return make(request);
    const isKept = mark === null || !isShared || (await findSnapshot(snapshots, mark)) !== null;
    return isKept ? prepared : make(request);
  }

  async function putBack(
    { path, sha, inside }: CheckoutRequest,
    { names, putBack }: PreparedPaths,
  ): Promise<string[]> {
    const own = await inside();
    const { changed, untracked, ignored } = await checkoutState(own, path);
    const isNew = (name: string): boolean => !names.some((own) => name === own || name.startsWith(`${own}/`));
    const left = [...changed, ...untracked.filter(isNew)];
    for (const name of ignored.filter(isNew)) await rm(join(path, name), { recursive: true, force: true });
    if (left.length > 0) await resetWorktree(own, { worktree: path, sha, keep: names });
    await putBack();
    return left;
  }

  return {
    async open(request) {
      const { path } = request;
      const known = clean.get(path);
      clean.delete(path);
      let prepared = known ? await move(request, known) : await make(request);
      return {
        path,
        async use(work) {
          clean.delete(path);
          const result = await work();
          const isBroken = (await worktreeFault(request)) !== null;
          if (isBroken) prepared = await make(request);
          const left = isBroken ? ['.git'] : await putBack(request, prepared.paths);
          clean.set(path, prepared);
          return { result, left };
        },
      };
    },
    close,
  };
}

/** Beside the commit: a copy of what was made before, or setup itself. */
async function prepareCheckout(git: Git, request: CheckoutRequest, mark: string): Promise<Prepared> {
  const { path: checkout, sha, snapshots } = request;
  const mayShare = isCopyable(checkout);
  const known = mayShare
    ? ((await findSnapshot(snapshots, mark)) ?? (await snapshotOfSource(git, request, mark)))
    : null;
  const given = known && (await givePrepared({ checkout, ...known }));
  if (given) return { mark, isShared: true, paths: given };
  await request.setUp();
  const own = await request.inside();
  const names = await untrackedPaths(own, checkout);
  await resetWorktree(own, { worktree: checkout, sha, keep: names });
  const isShared = mayShare && known === null && (await leadsNowhere(checkout, names));
  // For the other checkouts with this lockfile.
  const shared = isShared ? await keepSnapshot(snapshots, mark, { checkout, names }) : null;
  const paths = shared
    ? await watchPrepared({ checkout, ...shared })
    : await keepPrepared({ checkout, copy: copyOf(checkout), names });
  return { mark, isShared, paths };
}

async function snapshotOfSource(
  git: Git,
  { source, snapshots, setupMark }: CheckoutRequest,
  mark: string,
): Promise<Snapshot | null> {
  if (source === null || (await setupMark(source)) !== mark) return null;
  const names = await untrackedPaths(git, source);
  if (!(await leadsNowhere(source, names))) return null;
  return keepSnapshot(snapshots, mark, { checkout: source, names });
}

/** What setup makes in submodules is not among the untracked paths. */
function isCopyable(path: string): boolean {
  return !existsSync(join(path, '.gitmodules'));
}

/** A copy that names the checkout it was made in would have the code of that one measured. */
async function leadsNowhere(checkout: string, names: readonly string[]): Promise<boolean> {
  return findOwnPath(await realPathOf(checkout), names) === null;
}

interface Prepared {
  /** `null`: there is nothing to set up. */
  mark: string | null;
  /** Its copy is the session's, not the checkout's own. */
  isShared: boolean;
  paths: PreparedPaths;
}

const NOTHING: PreparedPaths = { names: [], seen: () => new Map(), putBack: async () => false };
const NOT_PREPARED: Prepared = { mark: null, isShared: false, paths: NOTHING };

/** Beside the checkout, not in it, and out of a sandbox's sight. */
function copyOf(path: string): string {
  return `${path}.prepared`;
}
