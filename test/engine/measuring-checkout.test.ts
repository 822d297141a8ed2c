/** A checkout for measuring is what its commit and setup make it, whatever happened in it before. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureWorktree } from '../../src/git/worktree.ts';
import { createMeasuringCheckouts } from '../../src/loops/research/measure/measuring-checkout.ts';
import { makeFolder, makeRepo, write } from '../git/fixture.ts';

const lockOf = (checkout: string): string =>
  existsSync(join(checkout, 'lock')) ? readFileSync(join(checkout, 'lock'), 'utf8') : '1';

type Made = Record<string, string>;

function openRoom({ made = (_: string): Made => ({}) } = {}) {
  const { git, root, head, counted, sh } = makeRepo({ files: { 'a.txt': 'a', '.gitignore': 'deps/\n' } });
  const folder = makeFolder();
  const path = join(folder, 'session.candidate');
  const snapshots = join(folder, 'session.prepared');
  const worktree = join(folder, 'session');
  let setups = 0;
  const setUpIn = async (checkout: string): Promise<void> => {
    await mkdir(join(checkout, 'empty'));
    // A tracked file that setup changes is not what is measured.
    const lib = lockOf(checkout) === '1' ? 'lib' : `lib ${lockOf(checkout)}`;
    write(checkout, { 'deps/lib': lib, 'loose/file': 'loose', 'a.txt': 'by setup', ...made(checkout) });
  };
  const requestOf = (name: string, sha = head) => {
    const checkout = join(folder, `session.${name}`);
    return {
      root,
      path: checkout,
      sha,
      snapshots,
      source: null as string | null,
      make: () => ensureWorktree(git, { root, path: checkout, sha }),
      inside: async () => git,
      setupMark: async (cwd: string) => `lockfile ${lockOf(cwd)}`,
      async setUp() {
        setups++;
        await setUpIn(checkout);
      },
    };
  };
  /** The session's worktree, set up, as it is before the first agent. */
  const makeSource = async (): Promise<string> => {
    await ensureWorktree(git, { root, path: worktree, sha: head });
    await setUpIn(worktree);
    return worktree;
  };
  const commit = (files: Record<string, string>): string => {
    write(root, files);
    sh(root, 'add', '-f', '-A');
    sh(root, 'commit', '-q', '-m', 'change');
    return sh(root, 'rev-parse', 'HEAD');
  };
  const request = requestOf('candidate');
  return {
    git,
    root,
    sh,
    counted,
    path,
    request,
    requestOf,
    makeSource,
    commit,
    setups: () => setups,
    folder,
  };
}

const all = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== '.git')
    .toSorted();
const WHOLE = ['.gitignore', 'a.txt', 'deps', 'deps/lib', 'empty', 'loose', 'loose/file'];

describe('a checkout for measuring', () => {
  it('is set up once, and put back after each command; only what is not setup’s is told', async () => {
    const { git, path, request, setups } = openRoom();
    const checkouts = createMeasuringCheckouts(git);
    for (let round = 0; round < 2; round++) {
      const checkout = await checkouts.open(request);
      expect(all(path)).toEqual(WHOLE);
      expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a');
      const spoil = async () =>
        write(path, { 'deps/new': '', 'loose/file': 'x', 'empty/new': '', 'a.txt': 'b', 'b.txt': '' });
      const { left } = await checkout.use(spoil);
      expect(left.toSorted()).toEqual(['a.txt', 'b.txt']);
      expect(all(path)).toEqual(WHOLE);
      expect(readFileSync(join(path, 'loose/file'), 'utf8')).toBe('loose');
      expect(await checkout.use(async () => 'nothing')).toEqual({ result: 'nothing', left: [] });
    }
    expect(setups()).toBe(1);
    await checkouts.close(request);
    expect([path, `${path}.prepared`].filter(existsSync)).toEqual([]);
  });

  it('is made anew where nobody knows what the last one left', async () => {
    const { git, path, request, setups } = openRoom();
    const spoil = async (): Promise<never> => {
      write(path, { 'deps/answer': '42' });
      throw new Error('cut short');
    };
    const checkouts = createMeasuringCheckouts(git);
    await expect((await checkouts.open(request)).use(spoil)).rejects.toThrow('cut short');
    await (await checkouts.open(request)).use(async () => undefined);
    expect([all(path), setups()]).toEqual([WHOLE, 1]);

    // As by a process that was killed.
    writeFileSync(join(path, 'deps/answer'), '42');
    const next = await createMeasuringCheckouts(git).open(request);
    expect([all(next.path), setups()]).toEqual([WHOLE, 1]);
    expect(readFileSync(join(path, 'deps/lib'), 'utf8')).toBe('lib');
  });

  it('is made anew after a command that took its link to the repository', async () => {
    const { git, path, request, setups } = openRoom();
    const checkout = await createMeasuringCheckouts(git).open(request);
    const spoiled = await checkout.use(async () => rmSync(join(path, '.git')));
    expect(spoiled.left).toEqual(['.git']);
    expect((await checkout.use(async () => undefined)).left).toEqual([]);
    expect([all(path), setups()]).toEqual([WHOLE, 1]);
  });

  it('starts no more git processes for the next commit than it takes to check it out', async () => {
    const { git, request, counted } = openRoom();
    const checkouts = createMeasuringCheckouts(git);
    const measure = async () => (await checkouts.open(request)).use(async () => undefined);
    await measure();
    const [, count] = await counted(measure);
    // Checkout and clean before it, status after it.
    expect(count).toBe(3);
  });
});

describe('what setup makes in a checkout for measuring', () => {
  it('is a copy of what it made in the worktree before any agent: setup does not run again', async () => {
    const { git, requestOf, makeSource, setups } = openRoom();
    const source = await makeSource();
    const checkouts = createMeasuringCheckouts(git);
    const best = requestOf('best');
    await checkouts.open({ ...best, source });
    // By now an agent has been in the worktree.
    write(source, { 'deps/lib': 'poisoned', 'deps/planted': '' });
    const candidate = requestOf('candidate');
    await checkouts.open(candidate);
    for (const { path } of [best, candidate]) {
      expect(all(path)).toEqual(WHOLE);
      expect(['a.txt', 'deps/lib'].map((name) => readFileSync(join(path, name), 'utf8'))).toEqual([
        'a',
        'lib',
      ]);
    }
    const files = [source, best.path, candidate.path].map((path) => join(path, 'loose/file'));
    expect(new Set(files.map((file) => statSync(file).ino)).size).toBe(3);
    expect(setups()).toBe(0);
  });

  it('is not taken from a worktree where an agent may have been', async () => {
    const { git, requestOf, makeSource, setups } = openRoom();
    write(await makeSource(), { 'deps/lib': 'poisoned' });
    const { path } = await createMeasuringCheckouts(git).open(requestOf('candidate'));
    expect([readFileSync(join(path, 'deps/lib'), 'utf8'), setups()]).toEqual(['lib', 1]);
  });

  it('is made once for a changed lockfile, and the other checkout with that lockfile gets a copy', async () => {
    const { git, requestOf, makeSource, commit, setups } = openRoom();
    const source = await makeSource();
    const checkouts = createMeasuringCheckouts(git);
    await checkouts.open({ ...requestOf('best'), source });
    const sha = commit({ lock: '2' });
    await (await checkouts.open(requestOf('candidate', sha))).use(async () => undefined);
    expect(setups()).toBe(1);
    await (await checkouts.open(requestOf('best', sha))).use(async () => undefined);
    const { path } = requestOf('best');
    expect([all(path), setups()]).toEqual([[...WHOLE, 'lock'].toSorted(), 1]);
    expect(readFileSync(join(path, 'deps/lib'), 'utf8')).toBe('lib 2');
  });

  it('is kept for the last four lockfiles; a checkout whose own is gone is made again', async () => {
    const { git, requestOf, commit, setups, folder } = openRoom();
    const checkouts = createMeasuringCheckouts(git);
    const useAt = async (name: string, sha?: string, work = async (): Promise<void> => undefined) =>
      (await checkouts.open(requestOf(name, sha))).use(work);
    await useAt('best');
    for (const lock of ['2', '3', '4', '5']) await useAt('candidate', commit({ lock }));
    expect(readdirSync(join(folder, 'session.prepared')).toSorted()).toEqual(
      ['2', '3', '4', '5'].map((lock) => `lockfile ${lock}`),
    );
    expect(setups()).toBe(5);
    await useAt('best', undefined, async () => rmSync(join(folder, 'session.best/deps/lib')));
    expect(readFileSync(join(folder, 'session.best/deps/lib'), 'utf8')).toBe('lib');
    expect(setups()).toBe(6);
  });

  it('is made in each checkout where it names the one that it was made in', async () => {
    const { git, requestOf, makeSource, setups } = openRoom({
      made: (checkout) => ({ 'deps/pyvenv.cfg': `home = ${checkout}/deps\n` }),
    });
    const source = await makeSource();
    const checkouts = createMeasuringCheckouts(git);
    for (const name of ['best', 'candidate']) {
      const { path } = await checkouts.open({ ...requestOf(name), source });
      expect(readFileSync(join(path, 'deps/pyvenv.cfg'), 'utf8')).toBe(`home = ${path}/deps\n`);
    }
    expect(setups()).toBe(2);
  });

  it('is made in the checkout where the commit has a file of its own in that place', async () => {
    const { git, requestOf, makeSource, commit, setups } = openRoom();
    const source = await makeSource();
    const checkouts = createMeasuringCheckouts(git);
    await checkouts.open({ ...requestOf('best'), source });
    const { path } = await checkouts.open(requestOf('candidate', commit({ 'deps/own': 'tracked' })));
    expect([readFileSync(join(path, 'deps/own'), 'utf8'), setups()]).toEqual(['tracked', 1]);
  });

  it('does not leave the checkout by a link that a commit has in the place of a folder', async () => {
    const { git, root, requestOf, makeSource, commit, folder } = openRoom();
    commit({ 'loose/tracked': 't' });
    const source = await makeSource();
    const checkouts = createMeasuringCheckouts(git);
    const before = requestOf('candidate', commit({ 'b.txt': 'b' }));
    await (await checkouts.open({ ...before, source })).use(async () => undefined);
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'file'), 'mine');
    rmSync(join(root, 'loose'), { recursive: true });
    symlinkSync(outside, join(root, 'loose'));
    // Its setup would write there by itself: that runs in the sandbox.
    const linked = { ...requestOf('candidate', commit({})), setUp: async () => undefined };
    for (const again of [checkouts, createMeasuringCheckouts(git)])
      await (await again.open(linked)).use(async () => undefined);
    expect([readdirSync(outside), readFileSync(join(outside, 'file'), 'utf8')]).toEqual([['file'], 'mine']);
  });
});
