import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGit } from '../../src/git/exec.ts';
import { type MergeMode, mergeBranch } from '../../src/git/merge.ts';
import { isGitRunning } from '../../src/process/is-git-running.ts';
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

/** `meanwhile`: what a person does just before the first git command of that name. */
function merge(scratch: Scratch, mode: MergeMode, meanwhile: { at: string; act(): void } | null = null) {
  let left = meanwhile;
  const onCall = ([command]: string[]): void => {
    if (left === null || command !== left.at) return;
    const { act } = left;
    left = null;
    act();
  };
  return mergeBranch(createGit({ exec: spawnGit, onCall }), {
    root: scratch.repository,
    base: 'main',
    branch: 'work',
    mode,
    subject: 'Merge work',
    trailers: { 'Pulse-Session': 'ses_1' },
    identity: null,
    again: (way) => `review --merge ${way}`,
    isAtWork: isGitRunning,
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
    expect(await merge(scratch, mode)).toEqual({ sha, checkout: null, wasThere: true });
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

  it.each(['merge', 'squash'] as const)(
    'is refused (%s) where somebody moves the base meanwhile, and works when it is said again',
    async (mode) => {
      using scratch = createScratch();
      prepare(scratch);
      commit(scratch, 'base.txt', 'base\n');
      scratch.git('switch', '-q', '--detach');
      const act = () => {
        commit(scratch, 'late.txt', 'late\n');
        scratch.git('branch', '-f', 'main', 'HEAD');
      };
      const refused = merge(scratch, mode, { at: 'update-ref', act });
      await expect(refused).rejects.toMatchObject({
        code: 'merge_conflict',
        message: 'main moved while it was being merged.',
        hint: `Nothing was changed. Run: review --merge ${mode}`,
      });
      expect(scratch.git('log', '-1', '--format=%s', 'main')).toBe('chore: late.txt');
      await merge(scratch, mode);
      expect(scratch.git('ls-tree', '--name-only', 'main').split('\n')).toEqual(
        expect.arrayContaining(['base.txt', 'late.txt', 'work.txt']),
      );
    },
  );

  it('moves no other branch that the checkout was switched to meanwhile', async () => {
    using scratch = createScratch();
    prepare(scratch);
    scratch.git('branch', 'other', 'main');
    const act = () => void scratch.git('switch', '-q', 'other');
    await expect(merge(scratch, 'ff', { at: 'status', act })).rejects.toMatchObject({
      code: 'merge_conflict',
      hint: expect.stringContaining('review --merge ff'),
    });
    expect(scratch.git('rev-parse', 'other')).toBe(scratch.git('rev-parse', 'main'));
  });

  it('does not move a base behind a checkout that has been made of it meanwhile', async () => {
    using scratch = createScratch();
    prepare(scratch);
    commit(scratch, 'base.txt', 'base\n');
    scratch.git('switch', '-q', '--detach');
    const act = () => void scratch.git('switch', '-q', 'main');
    await expect(merge(scratch, 'merge', { at: 'merge-tree', act })).rejects.toMatchObject({
      code: 'merge_conflict',
    });
    expect(scratch.git('status', '--porcelain')).toBe('');
    await merge(scratch, 'merge');
    expect(scratch.read('work.txt')).toBe('work\n');
  });

  it('brings the right checkout along where the repository itself is bare', async () => {
    using scratch = createScratch();
    prepare(scratch);
    const [bare, checkout] = [join(scratch.path, 'bare.git'), join(scratch.path, 'checkout')];
    scratch.git('clone', '-q', '--bare', scratch.repository, bare);
    scratch.git('-C', bare, 'worktree', 'add', '-q', checkout, 'main');
    const { sha } = await merge({ ...scratch, repository: checkout }, 'ff');
    expect(scratch.git('-C', bare, 'rev-parse', 'main')).toBe(sha);
    expect(scratch.git('-C', checkout, 'status', '--porcelain')).toBe('');
    expect(existsSync(join(checkout, 'work.txt'))).toBe(true);
  });

  it('does not move a base whose checkout is not there, and says what to do about it', async () => {
    using scratch = createScratch();
    prepare(scratch);
    scratch.git('switch', '-q', '--detach');
    const elsewhere = join(scratch.path, 'elsewhere');
    scratch.git('worktree', 'add', '-q', elsewhere, 'main');
    renameSync(elsewhere, `${elsewhere}.away`);
    const before = scratch.git('rev-parse', 'main');
    await expect(merge(scratch, 'ff')).rejects.toMatchObject({
      code: 'merge_conflict',
      hint: expect.stringContaining('git worktree prune'),
    });
    expect(scratch.git('rev-parse', 'main')).toBe(before);
    scratch.git('worktree', 'prune');
    await merge(scratch, 'ff');
    expect(scratch.git('show', 'main:work.txt')).toBe('work');
  });

  it('knows its squash below what a person has committed since, and a head that went on as another', async () => {
    using scratch = createScratch();
    prepare(scratch);
    const first = await merge(scratch, 'squash');
    commit(scratch, 'after.txt', 'after\n');
    const now = scratch.git('rev-parse', 'main');
    expect(await merge(scratch, 'squash')).toMatchObject({ sha: now });
    expect(scratch.git('rev-parse', 'main~1')).toBe(first.sha);
    scratch.git('switch', '-q', 'work');
    commit(scratch, 'more.txt', 'more\n');
    scratch.git('switch', '-q', 'main');
    await merge(scratch, 'squash');
    expect(scratch.git('show', 'main:more.txt')).toBe('more');
  });
});
