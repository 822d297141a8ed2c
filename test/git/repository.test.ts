import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertBranchName, branchSlug, defaultBranchName } from '../../src/git/branch-name.ts';
import { createGit } from '../../src/git/exec.ts';
import {
  branchExists,
  dirtyPaths,
  openRepository,
  readIdentity,
  resolveBase,
} from '../../src/git/repository.ts';
import { anyText, makeFolder, makeRepo, makeSession, spawnGit, write } from './fixture.ts';

describe('openRepository', () => {
  it('knows root, branch, commit and project from a subfolder, in two processes', async () => {
    const repo = makeRepo({ files: { 'deep/er/a.txt': 'a' } });
    const [opened, count] = await repo.counted(() => openRepository(repo.git, join(repo.root, 'deep/er')));
    expect(opened).toEqual({
      root: repo.root,
      commonDir: join(repo.root, '.git'),
      headSha: repo.head,
      branch: 'main',
      rootCommit: repo.head,
      projectKey: expect.stringMatching(/^project-[0-9a-f]{8}$/),
    });
    expect(count).toBe(2);
  });

  it('has the same project key from a linked worktree, whose detached HEAD is no branch', async () => {
    const { git, root, worktree } = await makeSession();
    const main = await openRepository(git, root);
    const linked = await openRepository(git, worktree);
    expect(linked).toMatchObject({ projectKey: main.projectKey, commonDir: main.commonDir, branch: null });
  });

  it('has another project key once another repository lies at the same path', async () => {
    const { git, root, sh } = makeRepo();
    const first = await openRepository(git, root);
    sh(root, 'commit', '-q', '--allow-empty', '-m', 'later');
    expect((await openRepository(git, root)).projectKey).toBe(first.projectKey);
    rmSync(join(root, '.git'), { recursive: true });
    sh(root, 'init', '-q', '-b', 'main');
    sh(root, 'commit', '-q', '--allow-empty', '-m', 'somebody else’s');
    const second = await openRepository(git, root);
    expect(second.commonDir).toBe(first.commonDir);
    expect(second.projectKey).not.toBe(first.projectKey);
  });

  it('refuses what is no checkout, each with its reason', async () => {
    const repo = makeRepo({ commit: false });
    const plain = makeFolder();
    const bare = makeRepo({ init: ['--bare'], commit: false, files: {} });
    const open = (path: string) => openRepository(repo.git, path);
    await expect(open(repo.root)).rejects.toMatchObject({ code: 'no_commits', hint: /commit/ });
    await expect(open(plain)).rejects.toMatchObject({ code: 'not_a_repository', hint: /git init/ });
    await expect(open(join(plain, 'nowhere'))).rejects.toThrow(/does not exist/);
    await expect(open(bare.root)).rejects.toThrow(/bare repository/);
    await expect(open(join(repo.root, '.git'))).rejects.toThrow(/\.git folder/);
    await expect(open(join(repo.root, 'a.txt'))).rejects.toThrow(/not a folder/);
  });

  it('is not misled by the variables of a surrounding git', async () => {
    const repo = makeRepo();
    const other = makeRepo();
    const env = {
      ...repo.env,
      GIT_DIR: join(other.root, '.git'),
      GIT_INDEX_FILE: '/nowhere',
      GIT_WORK_TREE: other.root,
    };
    const git = createGit({ exec: spawnGit, env });
    expect((await openRepository(git, repo.root)).root).toBe(repo.root);
  });
});

describe('dirtyPaths', () => {
  it('lists changed, deleted and new paths but no ignored ones, and leaves the index as it is', async () => {
    const repo = makeRepo({ files: { 'a.txt': 'a', 'b.txt': 'b', '.gitignore': 'node_modules/\n' } });
    write(repo.root, { 'a.txt': 'changed', 'ü new.txt': '', 'node_modules/x': '' });
    execFileSync('rm', [join(repo.root, 'b.txt')]);
    const index = join(repo.root, '.git/index');
    const before = [statSync(index).mtimeMs, readFileSync(index).toString('hex')];
    expect(await dirtyPaths(repo.git, repo.root)).toEqual({
      count: 3,
      paths: ['a.txt', 'b.txt', 'ü new.txt'],
    });
    expect(await dirtyPaths(repo.git, repo.root, { limit: 1 })).toEqual({ count: 3, paths: ['a.txt'] });
    expect([statSync(index).mtimeMs, readFileSync(index).toString('hex')]).toEqual(before);
  });
});

describe('resolveBase', () => {
  it('finds branches, tags and commits', async () => {
    const { git, root, head, sh } = makeRepo();
    sh(root, 'tag', '-a', 'v1', '-m', 'v1');
    expect(await resolveBase(git, root, 'main')).toEqual({ sha: head, branch: 'main' });
    expect(await resolveBase(git, root, 'v1')).toEqual({ sha: head, branch: null });
    expect(await resolveBase(git, root, head.slice(0, 10))).toEqual({ sha: head, branch: null });
  });

  it.each(['nope', '', '--all', 'main..main', '^main', 'HEAD:a.txt', 'a.txt'])('refuses %j', async (name) => {
    const { git, root } = makeRepo();
    await expect(resolveBase(git, root, name)).rejects.toMatchObject({ code: 'unknown_base' });
  });
});

describe('readIdentity', () => {
  it('reads the configured one and is null where git has none', async () => {
    const named = makeRepo();
    const nameless = makeRepo({ identity: false });
    expect(await readIdentity(named.git, named.root)).toEqual({ name: 'Ada', email: 'ada@example.org' });
    expect(await readIdentity(nameless.git, nameless.root)).toBeNull();
    nameless.sh(nameless.root, 'config', 'user.email', 'only@mail');
    expect(await readIdentity(nameless.git, nameless.root)).toBeNull();
    nameless.sh(nameless.root, 'config', 'user.useConfigOnly', 'true');
    expect(await readIdentity(nameless.git, nameless.root)).toBeNull();
  });
});

describe('branch names', () => {
  it('builds the default from the goal and avoids a branch that is in the way', async () => {
    const { git, root, sh } = makeRepo();
    const wish = { root, goal: 'Füge ein Login hinzu!', shortId: 'a1b2' };
    expect(await defaultBranchName(git, wish)).toBe('pulse/fuge-ein-login-hinzu-a1b2');
    sh(root, 'branch', 'pulse/fuge-ein-login-hinzu-a1b2');
    expect(await defaultBranchName(git, wish)).toBe('pulse/fuge-ein-login-hinzu-a1b2-2');
    sh(root, 'branch', '-D', 'pulse/fuge-ein-login-hinzu-a1b2');
    sh(root, 'branch', 'pulse');
    expect(await defaultBranchName(git, { ...wish, goal: '修复' })).toBe('pulse-session-a1b2');
    expect(await branchExists(git, root, 'pulse')).toBe(true);
    expect(await branchExists(git, root, 'puls')).toBe(false);
  });

  it('makes a valid slug of any text', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.lorem()), (text) => {
        const slug = branchSlug(text);
        expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(slug.length).toBeLessThanOrEqual(40);
        assertBranchName(`pulse/${slug}-a1b2`);
      }),
    );
  });

  it('accepts exactly what git accepts', () => {
    const { root, sh } = makeRepo();
    const part = fc.constantFrom(
      'a',
      'B',
      '.',
      '..',
      '/',
      '-',
      '@',
      '@{',
      '{',
      '.lock',
      '~',
      ' ',
      'é',
      'HEAD',
      '\\',
      '*',
      '\t',
      '\x7f',
    );
    const accepts = (check: () => unknown) => {
      try {
        check();
        return true;
      } catch (error) {
        return error === undefined;
      }
    };
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const name = parts.join('');
        // `--branch` expands @{-1} and the like; the full ref is the rule, a leading dash and HEAD apart.
        const byGit =
          !name.startsWith('-') &&
          name !== 'HEAD' &&
          name !== '@' &&
          accepts(() => sh(root, 'check-ref-format', `refs/heads/${name}`));
        expect(
          accepts(() => assertBranchName(name)),
          JSON.stringify(name),
        ).toBe(byGit);
      }),
      { numRuns: 150 },
    );
  });
});

describe('a git call', () => {
  it('fails with the command and what git said', async () => {
    const { git, root } = makeRepo();
    const failing = git.run(['cat-file', '-t', 'nothing'], { cwd: root });
    await expect(failing).rejects.toMatchObject({
      code: 'git_failed',
      message: /git cat-file -t nothing.*Not a valid object/s,
    });
    mkdirSync(join(root, 'gone'));
    await expect(git.run(['status'], { cwd: join(root, 'not there') })).rejects.toMatchObject({
      code: 'git_failed',
    });
  });
});
