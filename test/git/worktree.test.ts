import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGit } from '../../src/git/exec.ts';
import { worktreeHead } from '../../src/git/git-dir.ts';
import { ensureWorktree, removeWorktree, worktreeFault } from '../../src/git/worktree.ts';
import { makeRepo, makeSession, spawnGit, write } from './fixture.ts';

describe('ensureWorktree', () => {
  it('creates one in one process: locked, detached, with its parent folders', async () => {
    const { git, root, folder, head, sh, counted } = makeRepo();
    const path = join(folder, 'deep/er/ses_1');
    const [made, count] = await counted(() => ensureWorktree(git, { root, path, sha: head }));
    expect([made, count]).toEqual([{ state: 'created', head }, 1]);
    expect(sh(root, 'worktree', 'list', '--porcelain')).toContain(
      `worktree ${path}\nHEAD ${head}\ndetached\nlocked Pulse works here`,
    );
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n');
  });

  it('recognises its own again without a process, wherever HEAD stands', async () => {
    const { git, root, worktree, head, sh, counted } = await makeSession();
    write(worktree, { 'kept.txt': 'x' });
    sh(worktree, 'commit', '-q', '--allow-empty', '-m', 'later');
    const later = sh(worktree, 'rev-parse', 'HEAD');
    const ensure = () => ensureWorktree(git, { root, path: worktree, sha: head });
    expect(await counted(ensure)).toEqual([{ state: 'existing', head: later }, 0]);
    expect(await counted(() => worktreeHead(git, worktree))).toEqual([later, 0]);
    sh(worktree, 'switch', '-q', '-c', 'branch');
    expect(await counted(ensure)).toEqual([{ state: 'existing', head: null }, 0]);
    expect(await counted(() => worktreeHead(git, worktree))).toEqual([later, 1]);
    expect(existsSync(join(worktree, 'kept.txt'))).toBe(true);
  });

  it('makes it anew where the folder is gone and its registration still locked', async () => {
    const { git, root, worktree, head, counted, sh } = await makeSession();
    rmSync(worktree, { recursive: true });
    const [made, count] = await counted(() => ensureWorktree(git, { root, path: worktree, sha: head }));
    expect([made.state, count]).toEqual(['created', 1]);
    expect(sh(root, 'worktree', 'list').split('\n')).toHaveLength(2);
  });

  it('makes it anew where a crash cut its making short', async () => {
    const { git, root, worktree, head, sh } = await makeSession();
    const gitDir = sh(worktree, 'rev-parse', '--git-dir');
    rmSync(join(gitDir, 'pulse-ready'));
    rmSync(join(gitDir, 'index'));
    writeFileSync(join(gitDir, 'index.lock'), '');
    writeFileSync(join(gitDir, 'locked'), 'initializing');
    rmSync(join(worktree, 'a.txt'));
    expect(await ensureWorktree(git, { root, path: worktree, sha: head })).toEqual({
      state: 'created',
      head,
    });
    expect(sh(worktree, 'status', '--porcelain')).toBe('');
  });

  it('adopts a folder whose registration is lost and keeps its files', async () => {
    const { git, root, worktree, head, sh } = await makeSession();
    write(worktree, { 'a.txt': 'only copy\n', 'new.txt': 'n' });
    rmSync(join(root, '.git/worktrees'), { recursive: true });
    expect(await ensureWorktree(git, { root, path: worktree, sha: head })).toEqual({ state: 'linked', head });
    expect(sh(worktree, 'status', '--porcelain')).toBe('M a.txt\n?? new.txt');
    expect(sh(root, 'worktree', 'list', '--porcelain')).toContain(`worktree ${worktree}\n`);
    expect(readdirSync(join(worktree, '..'))).toEqual(['ses_1']);
    expect((await ensureWorktree(git, { root, path: worktree, sha: head })).state).toBe('existing');
  });

  it('refuses a folder that is not its own and a path inside the repository, even through a link', async () => {
    const { git, root, folder, head } = makeRepo();
    write(folder, { 'theirs/file.txt': 'precious' });
    symlinkSync(root, join(folder, 'link'));
    const ensure = (path: string) => ensureWorktree(git, { root, path, sha: head });
    await expect(ensure(join(folder, 'theirs'))).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(removeWorktree(git, { root, path: join(folder, 'theirs') })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(existsSync(join(folder, 'theirs/file.txt'))).toBe(true);
    for (const path of [root, join(root, 'wt'), join(root, '.git/wt'), join(folder, 'link/wt')]) {
      await expect(ensure(path)).rejects.toMatchObject({ code: 'path_outside' });
      await expect(removeWorktree(git, { root, path })).rejects.toMatchObject({ code: 'path_outside' });
    }
  });

  it('uses an empty folder that is already there', async () => {
    const { git, root, folder, head } = makeRepo();
    mkdirSync(join(folder, 'wt'));
    expect((await ensureWorktree(git, { root, path: join(folder, 'wt'), sha: head })).state).toBe('created');
  });
});

describe('removeWorktree', () => {
  it('removes folder and registration, whatever is left of them, and may be repeated', async () => {
    const damages = [
      () => undefined,
      (path: string) => rmSync(path, { recursive: true }),
      (path: string) => rmSync(join(path, '.git')),
      (path: string) => write(path, { 'dirty.txt': '', 'a.txt': 'changed' }),
      (_: string, root: string) => rmSync(join(root, '.git/worktrees'), { recursive: true }),
    ];
    for (const damage of damages) {
      const { git, root, worktree, sh, counted } = await makeSession();
      damage(worktree, root);
      await removeWorktree(git, { root, path: worktree });
      expect(existsSync(worktree)).toBe(false);
      expect(sh(root, 'worktree', 'list').split('\n')).toHaveLength(1);
      expect((await counted(() => removeWorktree(git, { root, path: worktree })))[1]).toBe(0);
    }
  });

  it('leaves the registrations of others alone where git could not delete a file', async () => {
    const { git, root, worktree, folder, env, sh } = await makeSession();
    const unmounted = join(folder, 'on-a-stick');
    sh(root, 'worktree', 'add', '-q', '-b', 'theirs', unmounted);
    rmSync(unmounted, { recursive: true });
    const hindered = createGit({
      env,
      exec: async (call) =>
        call.args.includes('remove')
          ? { code: 128, stdout: Buffer.alloc(0), stderr: 'in use' }
          : spawnGit(call),
    });
    await removeWorktree(hindered, { root, path: worktree });
    expect(existsSync(worktree)).toBe(false);
    const left = sh(root, 'worktree', 'list', '--porcelain');
    expect(left).not.toContain(worktree);
    expect(left).toContain(`worktree ${unmounted}`);
    expect(await git.text(['rev-parse', 'theirs'], { cwd: root })).toBe(sh(root, 'rev-parse', 'main'));
  });
});

describe('a worktree whose agent', () => {
  const breaks = {
    'removed its link': (path: string) => rmSync(join(path, '.git')),
    'made it a repository of its own': (path: string, sh: (...args: string[]) => unknown) => {
      rmSync(join(path, '.git'));
      sh('init', '-q');
      sh('add', '-A');
      sh('commit', '-q', '-m', 'mine');
    },
    'unregistered it too': (path: string, sh: (...args: string[]) => unknown) => {
      rmSync(String(sh('rev-parse', '--git-dir')), { recursive: true });
      rmSync(join(path, '.git'));
      sh('init', '-q');
    },
  };
  it.each(Object.entries(breaks))('%s is known, and mended with its files', async (_, breakIt) => {
    const { git, root, worktree, head, sh } = await makeSession();
    expect(await worktreeFault({ root, path: worktree })).toBeNull();
    write(worktree, { 'work.txt': 'w' });
    breakIt(worktree, (...args) => sh(worktree, ...args));
    expect(await worktreeFault({ root, path: worktree })).not.toBeNull();
    const mended = await ensureWorktree(git, { root, path: worktree, sha: head, isOurs: true });
    expect(mended).toEqual({ state: 'linked', head });
    expect(sh(worktree, 'status', '--porcelain')).toBe('?? work.txt');
    expect(await worktreeFault({ root, path: worktree })).toBeNull();
  });
});
