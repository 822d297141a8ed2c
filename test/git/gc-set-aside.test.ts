/** A worktree that nobody could make ready is set aside with all it holds; after its time it goes. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { collectSetAside } from '../../src/git/gc-set-aside.ts';
import { openRunObjects } from '../../src/git/run-objects.ts';
import { ensureWorktree, setWorktreeAside } from '../../src/git/worktree.ts';
import { makeRepo, write } from './fixture.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

async function makeAside() {
  const repo = makeRepo();
  const { git, root, head, folder } = repo;
  const path = join(folder, 'worktrees', 'ses_1');
  const aside = `${path}.kept-1.1.2`;
  await ensureWorktree(git, { root, path, sha: head });
  write(path, { 'work.txt': 'work' });
  const kept = join(root, '.git/pulse-kept/ses_1.kept-1.1.2');
  return { ...repo, path, aside, kept, setAside: () => setWorktreeAside({ root, path, aside }) };
}

describe('a worktree that was set aside', () => {
  it('keeps its files and its repositories of submodules, and makes room for a new one', async () => {
    const { git, root, head, path, aside, kept, setAside } = await makeAside();
    const modules = join(root, '.git/worktrees/ses_1/modules/lib');
    mkdirSync(modules, { recursive: true });
    writeFileSync(join(modules, 'HEAD'), 'of the submodule');
    await setAside();
    expect(existsSync(join(aside, 'work.txt'))).toBe(true);
    expect(existsSync(join(kept, 'modules/lib/HEAD'))).toBe(true);
    expect(await ensureWorktree(git, { root, path, sha: head })).toMatchObject({ state: 'created' });
    expect(readdirSync(path)).not.toContain('work.txt');
  });

  it('is collected from the repository 30 days after that', async () => {
    const { root, kept, setAside } = await makeAside();
    await setAside();
    const collect = (days: number) => collectSetAside({ root, nowMs: Date.now() + days * DAY_MS });
    expect([await collect(29), existsSync(kept)]).toEqual([[], true]);
    expect(await collect(31)).toEqual(['pulse-kept/ses_1.kept-1.1.2']);
    expect(existsSync(kept)).toBe(false);
    expect(await collect(31)).toEqual([]);
  });

  it('leaves no folder of objects: what is in one whose worktree is gone is brought over', async () => {
    const { root, sh, git } = makeRepo();
    const commonDir = join(root, '.git');
    const open = (name: string) =>
      openRunObjects({ commonDir, gitDir: join(commonDir, 'worktrees', name) }).then(({ folder }) => folder);
    const [gone, used] = [await open('gone'), await open('used')];
    mkdirSync(join(commonDir, 'worktrees/used'), { recursive: true });
    writeFileSync(join(root, 'new.txt'), 'new\n');
    const blob = await git.text(['hash-object', '-w', 'new.txt'], {
      cwd: root,
      env: { GIT_OBJECT_DIRECTORY: gone },
    });
    const collect = (days: number) => collectSetAside({ root, nowMs: Date.now() + days * DAY_MS });
    expect([await collect(0), existsSync(gone)]).toEqual([[], true]);
    expect(await collect(2)).toEqual([gone]);
    expect([gone, used].map(existsSync)).toEqual([false, true]);
    expect(sh(root, 'cat-file', 'blob', blob)).toBe('new');
  });
});
