import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGit } from '../../src/git/exec.ts';
import { type MergeMode, mergeBranch } from '../../src/git/merge.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { spawnGit } from './fixture.ts';

/** `work` is one commit ahead of `main`. */
function prepare(scratch: Scratch): void {
  scratch.git('switch', '-q', '-c', 'work');
  commit(scratch, 'work.txt', 'work\n');
  scratch.git('switch', '-q', 'main');
}

function commit(scratch: Scratch, name: string, text: string): void {
  writeFileSync(join(scratch.repository, name), text);
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', `chore: ${name}`);
}

function merge(scratch: Scratch, mode: MergeMode) {
  return mergeBranch(createGit({ exec: spawnGit }), {
    root: scratch.repository,
    base: 'main',
    branch: 'work',
    mode,
    subject: 'Merge work',
    trailers: { 'Pulse-Session': 'ses_1' },
    identity: null,
  });
}

describe('merging a finished branch', () => {
  it.each(['ff', 'merge', 'squash'] as const)('%s, where the base is checked out nowhere', async (mode) => {
    using scratch = createScratch();
    prepare(scratch);
    if (mode !== 'ff') commit(scratch, 'base.txt', 'base\n');
    scratch.git('switch', '-q', '--detach');
    const before = scratch.git('rev-parse', 'HEAD');
    const { sha, checkout } = await merge(scratch, mode);
    expect(checkout).toBeNull();
    expect(scratch.git('rev-parse', 'main')).toBe(sha);
    expect(scratch.git('show', 'main:work.txt')).toBe('work');
    expect(scratch.git('rev-parse', 'HEAD')).toBe(before);
    const parents = scratch.git('log', '-1', '--format=%P', 'main').split(' ');
    expect(parents).toHaveLength(mode === 'merge' ? 2 : 1);
    expect(await merge(scratch, mode)).toEqual({ sha, checkout: null });
  });

  it.each(['ff', 'merge', 'squash'] as const)('%s brings a clean checkout along', async (mode) => {
    using scratch = createScratch();
    prepare(scratch);
    if (mode !== 'ff') commit(scratch, 'base.txt', 'base\n');
    writeFileSync(join(scratch.repository, 'mine.txt'), 'untracked\n');
    const { checkout } = await merge(scratch, mode);
    expect(checkout).toBe(scratch.repository);
    expect(scratch.git('status', '--porcelain')).toBe('?? mine.txt');
    expect(scratch.git('show', 'HEAD:work.txt')).toBe('work');
  });

  it.each([
    ['a change that is not committed', 'README.md', 'ff'],
    ['an untracked file in its way', 'work.txt', 'ff'],
  ] as const)('refuses %s, and changes nothing', async (_, name, mode) => {
    using scratch = createScratch();
    prepare(scratch);
    writeFileSync(join(scratch.repository, name), 'mine\n');
    const before = scratch.git('rev-parse', 'main');
    await expect(merge(scratch, mode)).rejects.toMatchObject({ code: 'merge_conflict' });
    expect(scratch.git('rev-parse', 'main')).toBe(before);
    expect(scratch.git('status', '--porcelain')).toContain(name);
  });

  it('refuses a base that has moved (ff) or conflicts (merge), naming files and the command to run', async () => {
    using scratch = createScratch();
    prepare(scratch);
    commit(scratch, 'work.txt', 'other\n');
    const before = scratch.git('rev-parse', 'main');
    await expect(merge(scratch, 'ff')).rejects.toMatchObject({ code: 'merge_conflict' });
    const refused = merge(scratch, 'merge');
    await expect(refused).rejects.toMatchObject({
      code: 'merge_conflict',
      message: expect.stringContaining('work.txt'),
    });
    await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining('git merge work') });
    expect(scratch.git('rev-parse', 'main')).toBe(before);
    expect(scratch.git('status', '--porcelain')).toBe('');
  });
});
