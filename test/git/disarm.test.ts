/** What an enclosed run leaves behind for git to follow or to run is made harmless. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { disarmWorktree } from '../../src/git/disarm.ts';
import { readGitDir } from '../../src/git/layout.ts';
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
  await disarmWorktree(git, worktree);
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
  await disarmWorktree(git, worktree);
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
  await disarmWorktree(git, worktree);
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
  await disarmWorktree(git, worktree);
  expect(readFileSync(join(worktree, 'broken/.git/config'), 'utf8')).toBe('');
  expect(readFileSync(join(worktree, 'plain/.git/config'), 'utf8')).toBe(plain);
});
