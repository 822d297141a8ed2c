/** What an enclosed run leaves behind for git to follow or to run is made harmless. */
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readGitDir } from '../../src/git/git-dir.ts';
import { removePlantedHooks } from '../../src/git/remove-planted-hooks.ts';
import { ensureWorktree } from '../../src/git/worktree.ts';
import { makeRepo } from './fixture.ts';

async function makeWorktree() {
  const repo = makeRepo();
  const worktree = join(repo.folder, 'worktree');
  await ensureWorktree(repo.git, { root: repo.root, path: worktree, sha: repo.head });
  return { ...repo, worktree, gitDir: await readGitDir(worktree) };
}

test('symlinks in the worktree’s git directory go, its files stay', async () => {
  const { git, worktree, gitDir, folder, sh } = await makeWorktree();
  writeFileSync(join(folder, 'target'), 'x');
  mkdirSync(join(gitDir, 'logs'), { recursive: true });
  for (const name of ['pulse-prepared', 'FETCH_HEAD', 'logs/planted'])
    symlinkSync(join(folder, 'target'), join(gitDir, name));
  await removePlantedHooks(git, worktree);
  for (const name of ['pulse-prepared', 'FETCH_HEAD', 'logs/planted'])
    expect(existsSync(join(gitDir, name))).toBe(false);
  expect(existsSync(join(folder, 'target'))).toBe(true);
  expect(sh(worktree, 'status', '--porcelain')).toBe('');
});

test('a nested repository keeps what it is and loses what git would run', async () => {
  const { git, worktree, sh } = await makeWorktree();
  const nested = join(worktree, 'deep/er');
  mkdirSync(nested, { recursive: true });
  sh(nested, 'init', '-q');
  sh(nested, 'remote', 'add', 'origin', 'https://example.org/x.git');
  for (const [name, value] of [
    ['filter.x.clean', 'touch planted'],
    ['core.fsmonitor', 'touch planted'],
    ['core.sshCommand', 'touch planted'],
    ['include.path', '/elsewhere'],
  ] as const)
    sh(nested, 'config', name, value);
  writeFileSync(join(nested, '.git/config.worktree'), '[filter "y"]\n\tclean = touch planted\n');
  writeFileSync(join(nested, '.git/commondir'), '/elsewhere\n');
  await removePlantedHooks(git, worktree);
  const config = readFileSync(join(nested, '.git/config'), 'utf8');
  expect(config).toContain('url = https://example.org/x.git');
  expect(config).not.toMatch(/planted|elsewhere/);
  expect(existsSync(join(nested, '.git/config.worktree'))).toBe(false);
  expect(existsSync(join(nested, '.git/commondir'))).toBe(false);
  expect(sh(nested, 'rev-parse', '--is-inside-work-tree')).toBe('true');
});

test.each([
  ['a symlink', (link: string, elsewhere: string) => symlinkSync(elsewhere, link)],
  [
    'a file that leads elsewhere',
    (link: string, elsewhere: string) => writeFileSync(link, `gitdir: ${elsewhere}\n`),
  ],
  ['a file that leads nowhere', (link: string) => writeFileSync(link, 'no link\n')],
])('a nested .git that is %s goes', async (_, plant) => {
  const { git, worktree, root } = await makeWorktree();
  mkdirSync(join(worktree, 'nested'));
  const config = readFileSync(join(root, '.git/config'), 'utf8');
  plant(join(worktree, 'nested/.git'), join(root, '.git'));
  await removePlantedHooks(git, worktree);
  expect(existsSync(join(worktree, 'nested/.git'))).toBe(false);
  expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe(config);
});

test('an unreadable configuration is emptied, an ordinary repository is left as it is', async () => {
  const { git, worktree, sh } = await makeWorktree();
  for (const name of ['broken', 'plain']) {
    mkdirSync(join(worktree, name));
    sh(join(worktree, name), 'init', '-q');
  }
  const plain = readFileSync(join(worktree, 'plain/.git/config'), 'utf8');
  writeFileSync(join(worktree, 'broken/.git/config'), '[filter "x"\nclean = touch planted\n');
  await removePlantedHooks(git, worktree);
  expect(readFileSync(join(worktree, 'broken/.git/config'), 'utf8')).toBe('');
  expect(readFileSync(join(worktree, 'plain/.git/config'), 'utf8')).toBe(plain);
});

describe('modes that forbid it', () => {
  const NOBODY = 65_534;

  /** To root nothing is forbidden: there, everything is given to nobody, and done as nobody. */
  function asUser(folder: string): void {
    if (process.geteuid?.() !== 0) return;
    const give = (path: string): void => lchownSync(path, NOBODY, NOBODY);
    give(folder);
    for (const name of readdirSync(folder, { recursive: true })) give(join(folder, String(name)));
    process.setegid!(NOBODY);
    process.seteuid!(NOBODY);
    onTestFinished(() => {
      process.seteuid!(0);
      process.setegid!(0);
    });
  }

  async function makeNested() {
    const repo = await makeWorktree();
    const nested = join(repo.worktree, 'deep/er');
    mkdirSync(nested, { recursive: true });
    repo.sh(nested, 'init', '-q');
    repo.sh(nested, 'remote', 'add', 'origin', 'https://example.org/x.git');
    repo.sh(nested, 'config', 'filter.x.clean', 'touch planted');
    writeFileSync(join(nested, '.git/commondir'), '/elsewhere\n');
    // Or the folder could not be removed afterwards.
    onTestFinished(() => ['..', '.'].forEach((name) => void chmodSync(join(nested, name), 0o755)));
    asUser(repo.folder);
    return { ...repo, nested };
  }

  test.each([
    [
      'a read-only repository',
      [
        ['.git/config', 0o444],
        ['.git', 0o555],
      ],
    ],
    [
      'one in a read-only folder',
      [
        ['.git', 0o500],
        ['.', 0o555],
        ['..', 0o555],
      ],
    ],
    [
      'one that nobody can list',
      [
        ['.git', 0o111],
        ['.', 0o111],
        ['..', 0o311],
      ],
    ],
    [
      'one that nobody can enter',
      [
        ['.git/config', 0o000],
        ['.git', 0o000],
        ['.', 0o000],
      ],
    ],
  ] as const)('are changed: %s', async (_, modes) => {
    const { git, worktree, nested } = await makeNested();
    for (const [name, mode] of modes) chmodSync(join(nested, name), mode);
    await removePlantedHooks(git, worktree);
    expect(readFileSync(join(nested, '.git/config'), 'utf8')).not.toContain('planted');
    expect(existsSync(join(nested, '.git/commondir'))).toBe(false);
    expect(existsSync(join(nested, '.git/HEAD'))).toBe(true);
  });

  test('of the worktree’s git directory are changed too', async () => {
    const { git, worktree, gitDir } = await makeNested();
    mkdirSync(join(gitDir, 'logs'), { recursive: true });
    symlinkSync('/elsewhere', join(gitDir, 'logs/planted'));
    chmodSync(join(gitDir, 'logs'), 0o111);
    chmodSync(gitDir, 0o000);
    chmodSync(worktree, 0o000);
    await removePlantedHooks(git, worktree);
    expect(readdirSync(join(gitDir, 'logs'))).not.toContain('planted');
  });

  test('or whatever else is wrong: a repository that cannot be made harmless goes, the work stays', async () => {
    const { git, worktree, nested } = await makeNested();
    writeFileSync(join(nested, 'work.txt'), 'work\n');
    for (const [name, target] of [
      ['nul', 'a\0b'],
      ['loop', './loop'],
      ['long', 'x'.repeat(5_000)],
    ] as const) {
      mkdirSync(join(worktree, name));
      symlinkSync('loop', join(worktree, name, 'loop'));
      writeFileSync(join(worktree, name, '.git'), `gitdir: ${target}\n`);
    }
    mkdirSync(join(nested, '.git/objects/zz'));
    chmodSync(join(nested, '.git/objects/zz'), 0o555);
    const broken = {
      ...git,
      run: async () => {
        throw new Error('git config cannot write there');
      },
    };
    await removePlantedHooks(broken, worktree);
    for (const name of ['nul', 'loop', 'long', 'deep/er'])
      expect(existsSync(join(worktree, name, '.git'))).toBe(false);
    expect(readFileSync(join(nested, 'work.txt'), 'utf8')).toBe('work\n');
  });

  test('is removed no repository because the machine has run out of something', async () => {
    const { git, worktree, nested } = await makeNested();
    const cause = Object.assign(new Error('no descriptor'), { code: 'EMFILE' });
    const broken = { ...git, attempt: () => Promise.reject(new Error('git', { cause })) };
    await expect(removePlantedHooks(broken, worktree)).rejects.toThrow('git');
    expect(existsSync(join(nested, '.git/config'))).toBe(true);
  });
});
