import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { resetWorktree, saveLeftovers } from '../../src/git/recovery.ts';
import { readRef } from '../../src/git/refs.ts';
import { IDENTITY, makeFolder, makeSession, type Repo, write } from './fixture.ts';

const REF = 'refs/pulse/recovery/ses_1/1.1';

async function save({ git, worktree, head }: Repo & { worktree: string }): Promise<string | null> {
  const request = { worktree, ref: REF, startSha: head, message: 'leftovers of attempt 1' };
  const { commit, leftOut } = await saveLeftovers(git, request);
  expect(leftOut).toEqual([]);
  return commit;
}

describe('saveLeftovers', () => {
  it('keeps nothing where nothing differs, in two processes', async () => {
    const session = await makeSession();
    expect(await session.counted(() => save(session))).toEqual([null, 2]);
    expect(await readRef(session.git, session.root, REF)).toBeNull();
  });

  it('keeps tracked and new files and touches neither index nor files', async () => {
    const session = await makeSession({ files: { 'a.txt': 'a', '.gitignore': '*.log\n' } });
    const { worktree, sh, head, git, root } = session;
    write(worktree, { 'a.txt': 'b', 'new.txt': 'n', 'x.log': '' });
    const gitDir = sh(worktree, 'rev-parse', '--git-dir');
    writeFileSync(join(gitDir, 'index.lock'), '');
    const before = readFileSync(join(gitDir, 'index')).toString('hex');
    const temporary = makeFolder();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const [saved, count] = await session.counted(() => save(session));
    expect(count).toBe(5);
    expect(await readRef(git, root, REF)).toBe(saved);
    expect(sh(root, 'rev-list', '--parents', '-1', saved!)).toBe(`${saved} ${head}`);
    expect(sh(root, 'diff', '--name-only', head, saved!)).toBe('a.txt\nnew.txt');
    expect(readFileSync(join(gitDir, 'index')).toString('hex')).toBe(before);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('is by the person’s own name', async () => {
    const session = await makeSession();
    const { git, worktree, head, root, sh } = session;
    write(worktree, { 'a.txt': 'b' });
    const about = { worktree, ref: REF, startSha: head, message: 'left' };
    const saved = await saveLeftovers(git, { ...about, identity: IDENTITY });
    const people = '--format=%an <%ae>, %cn <%ce>';
    const { name, email } = IDENTITY;
    expect(sh(root, 'log', '-1', people, saved.commit!)).toBe(`${name} <${email}>, ${name} <${email}>`);
  });

  it('keeps the agent’s own commits as a second parent, even where the files are back at the start', async () => {
    const session = await makeSession();
    const { worktree, sh, head, root } = session;
    sh(worktree, 'switch', '-q', '-c', 'mine');
    sh(worktree, 'commit', '-q', '--allow-empty', '-m', 'mine');
    const mine = sh(worktree, 'rev-parse', 'HEAD');
    const saved = await save(session);
    expect(sh(root, 'rev-list', '--parents', '-1', saved!)).toBe(`${saved} ${head} ${mine}`);
  });

  it('sees an edit of the same size made in the same second as the index was written', async () => {
    const session = await makeSession();
    await sleep(1000 - (Date.now() % 1000));
    write(session.worktree, { 'a.txt': 'y\n' });
    session.sh(session.worktree, 'add', 'a.txt');
    write(session.worktree, { 'a.txt': 'x\n' });
    await sleep(1000);
    const saved = await save(session);
    expect(session.sh(session.root, 'show', `${saved}:a.txt`)).toBe('x');
  });
});

describe('resetWorktree', () => {
  it('leaves no trace but ignored and kept files, moves no branch, and may be repeated', async () => {
    const session = await makeSession({
      files: { 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'node_modules/\n' },
    });
    const { git, worktree, head, sh } = session;
    const gitDir = sh(worktree, 'rev-parse', '--git-dir');
    sh(worktree, 'switch', '-q', '-c', 'mine');
    write(worktree, {
      'a.txt': 'x',
      'dir/new.txt': 'n',
      'node_modules/m/index.js': '',
      'odd [x]*/dep.js': '',
    });
    write(worktree, { 'nested/f': 'f' });
    sh(join(worktree, 'nested'), 'init', '-q');
    sh(worktree, 'add', 'a.txt');
    sh(worktree, 'commit', '-q', '-m', 'mine');
    const mine = sh(worktree, 'rev-parse', 'mine');
    write(worktree, { 'b.txt': 'staged' });
    sh(worktree, 'add', 'b.txt');
    writeFileSync(join(gitDir, 'index.lock'), '');
    writeFileSync(join(gitDir, 'MERGE_HEAD'), `${mine}\n`);
    const reset = () => resetWorktree(git, { worktree, sha: head, keep: ['odd [x]*'] });
    expect((await session.counted(reset))[1]).toBe(2);
    await reset();
    expect(readdirSync(worktree).sort()).toEqual([
      '.git',
      '.gitignore',
      'a.txt',
      'b.txt',
      'node_modules',
      'odd [x]*',
    ]);
    expect(sh(worktree, 'status', '--porcelain')).toBe('?? "odd [x]*/"');
    expect(readFileSync(join(gitDir, 'HEAD'), 'utf8').trim()).toBe(head);
    expect(existsSync(join(gitDir, 'MERGE_HEAD'))).toBe(false);
    expect(sh(worktree, 'rev-parse', 'mine')).toBe(mine);
  });

  it('gets out of a conflict, a broken index and an empty HEAD', async () => {
    const session = await makeSession();
    const { git, worktree, head, sh } = session;
    const gitDir = sh(worktree, 'rev-parse', '--git-dir');
    write(worktree, { 'a.txt': 'theirs\n' });
    sh(worktree, 'commit', '-qam', 'theirs');
    const theirs = sh(worktree, 'rev-parse', 'HEAD');
    sh(worktree, 'checkout', '-q', head);
    write(worktree, { 'a.txt': 'ours\n' });
    sh(worktree, 'commit', '-qam', 'ours');
    expect(() => sh(worktree, 'rebase', theirs)).toThrow();
    await resetWorktree(git, { worktree, sha: head });
    expect(sh(worktree, 'status')).toMatch(/nothing to commit, working tree clean/);
    for (const [file, content] of Object.entries({ index: 'broken', HEAD: '' })) {
      writeFileSync(join(gitDir, file), content);
      write(worktree, { 'a.txt': 'again\n' });
      expect(await save(session)).not.toBeNull();
      await resetWorktree(git, { worktree, sha: head });
      expect(sh(worktree, 'status', '--porcelain')).toBe('');
    }
  });
});
