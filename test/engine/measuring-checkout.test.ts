/** A checkout for measuring is what its commit and setup make it, whatever happened in it before. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureWorktree } from '../../src/git/worktree.ts';
import { createMeasuringCheckouts } from '../../src/loops/research/measure/measuring-checkout.ts';
import { makeFolder, makeRepo, write } from '../git/fixture.ts';

function openRoom() {
  const { git, root, head, counted } = makeRepo({ files: { 'a.txt': 'a', '.gitignore': 'deps/\n' } });
  const path = join(makeFolder(), 'session.candidate');
  let setups = 0;
  const request = {
    root,
    path,
    sha: head,
    make: () => ensureWorktree(git, { root, path, sha: head }),
    inside: async () => git,
    setupMark: async () => 'lockfile 1',
    async setUp() {
      setups++;
      await mkdir(join(path, 'empty'));
      // A tracked file that setup changes is not what is measured.
      write(path, { 'deps/lib': 'lib', 'loose/file': 'loose', 'a.txt': 'by setup' });
    },
  };
  return { git, counted, path, request, setups: () => setups };
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
    expect([all(path), setups()]).toEqual([WHOLE, 2]);

    // As by a process that was killed.
    writeFileSync(join(path, 'deps/answer'), '42');
    const next = await createMeasuringCheckouts(git).open(request);
    expect([all(next.path), setups()]).toEqual([WHOLE, 3]);
  });

  it('is made anew after a command that took its link to the repository', async () => {
    const { git, path, request, setups } = openRoom();
    const checkout = await createMeasuringCheckouts(git).open(request);
    const spoiled = await checkout.use(async () => rmSync(join(path, '.git')));
    expect(spoiled.left).toEqual(['.git']);
    expect((await checkout.use(async () => undefined)).left).toEqual([]);
    expect([all(path), setups()]).toEqual([WHOLE, 2]);
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
