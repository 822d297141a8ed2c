/**
 * The checkouts that are measured in (docs/protocol/research.md, Measuring). Before each reading a checkout holds what
 * its commit and setup make, and nothing else. A new checkout for each experiment would cost a setup each, so it is restored
 * after each command, and created again when that is not certain.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from '../../../git/exec.ts';
import { resetWorktree } from '../../../git/recovery.ts';
import { seedSubmodules } from '../../../git/submodules.ts';
import { checkoutState, removeWorktree, untrackedPaths, worktreeFault } from '../../../git/worktree.ts';
import { keepPrepared, type PreparedPaths } from '../../../referee/room/prepared-paths.ts';

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
  /** Makes the checkout at `sha`. */
  make(): Promise<unknown>;
  /** Git for calls in it. */
  inside(): Promise<Git>;
  /** Of the commit that is checked out: differs where setup would do something else; `null`: there is nothing to do. */
  setupMark(): Promise<string | null>;
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
    const { root, path, from, sha, setupMark, setUp } = request;
    await close({ root, path });
    await request.make();
    await seedSubmodules({ root, worktree: path, from });
    const mark = await setupMark();
    if (mark === null) return { mark, paths: NOTHING };
    await setUp();
    const own = await request.inside();
    const names = await untrackedPaths(own, path);
    await resetWorktree(own, { worktree: path, sha, keep: names });
    return { mark, paths: await keepPrepared({ checkout: path, copy: copyOf(path), names }) };
  }

  /** Another lockfile is set up from nothing: what the last one brought must not be found. */
  async function move(request: CheckoutRequest, prepared: Prepared): Promise<Prepared> {
    const { path, sha, setupMark } = request;
    await resetWorktree(await request.inside(), { worktree: path, sha, keep: prepared.paths.names });
    return (await setupMark()) === prepared.mark ? prepared : make(request);
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

interface Prepared {
  mark: string | null;
  paths: PreparedPaths;
}

const NOTHING: PreparedPaths = { names: [], seen: () => new Map(), putBack: async () => false };

/** Beside the checkout, not in it, and out of a sandbox's sight. */
function copyOf(path: string): string {
  return `${path}.prepared`;
}
