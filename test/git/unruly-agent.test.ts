import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitUnit, findUnitCommit } from '../../src/git/commit.ts';
import { resetWorktree } from '../../src/git/recovery.ts';
import { readRef } from '../../src/git/refs.ts';
import { evidenceTree } from '../../src/git/tree.ts';
import { ensureWorktree } from '../../src/git/worktree.ts';
import {
  AGENT_REF,
  IDENTITY,
  makeRepo,
  makeSession,
  type Repo,
  type RepoOptions,
  TRAILERS,
  write,
} from './fixture.ts';

type Session = Repo & { worktree: string; wt(...args: string[]): string; gitDir: string };

async function start(options: RepoOptions = {}): Promise<Session> {
  const session = await makeSession({ isKept: true, ...options });
  const wt = (...args: string[]) => session.sh(session.worktree, ...args);
  return { ...session, wt, gitDir: wt('rev-parse', '--git-dir') };
}

function tryTo(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    expect(error).toHaveProperty('status', 1);
  }
}

/** Commits, and checks what must hold whatever the agent did: one parent, HEAD detached, tree = working tree. */
async function settle(session: Session) {
  const { git, root, worktree, head, wt, gitDir } = session;
  const evidence = await evidenceTree(git, { worktree });
  const unit = {
    root,
    worktree,
    startSha: head,
    subject: 's',
    trailers: TRAILERS,
    identity: IDENTITY,
    agentRef: AGENT_REF,
  };
  const result = await commitUnit(git, unit);
  const at = result.commit ?? head;
  expect(readFileSync(join(gitDir, 'HEAD'), 'utf8').trim()).toBe(at);
  if (result.commit) expect(wt('rev-list', '--parents', '-1', at)).toBe(`${at} ${head}`);
  expect(wt('rev-parse', `${at}^{tree}`)).toBe(result.tree);
  expect(evidence).toBe(result.tree);
  expect(wt('status')).not.toMatch(/rebas|merging|cherry|You have|bisect/i);
  return {
    ...result,
    agent: await readRef(git, session.root, AGENT_REF),
    tree: wt('ls-tree', '-r', '--name-only', at),
  };
}

describe('commitUnit after an agent that', () => {
  it('made commits of its own folds them into one and keeps the originals', async () => {
    const session = await start();
    for (const name of ['b', 'c']) {
      write(session.worktree, { [name]: name });
      session.wt('add', '.');
      session.wt('commit', '-q', '-m', name);
    }
    const originals = session.wt('rev-parse', 'HEAD');
    write(session.worktree, { d: 'd' });
    const [result, count] = await session.counted(() => settle(session));
    expect(result).toMatchObject({ files: ['b', 'c', 'd'], agent: originals });
    // The tree of the working copy, the commit (three of them stay), and looking the ref up.
    expect(count).toBeLessThanOrEqual(4 + 5 + 1);
  });

  it.each(['pipe', 'link', 'folder'] as const)(
    'put a %s in the place of HEAD commits as ever',
    async (what) => {
      const session = await start();
      const path = join(session.gitDir, 'HEAD');
      const elsewhere = join(session.folder, 'elsewhere');
      writeFileSync(elsewhere, 'theirs\n');
      rmSync(path);
      if (what === 'pipe') execFileSync('mkfifo', [path]);
      else if (what === 'link') symlinkSync(elsewhere, path);
      else mkdirSync(path);
      write(session.worktree, { b: 'b' });
      const { git, root, worktree, head: startSha } = session;
      const about = { trailers: TRAILERS, identity: IDENTITY, agentRef: AGENT_REF, subject: 's' };
      expect(await findUnitCommit(git, { worktree, startSha, trailers: TRAILERS })).toBeNull();
      const unit = await commitUnit(git, { root, worktree, startSha, ...about });
      expect(unit.files).toEqual(['b']);
      expect(lstatSync(path).isFile()).toBe(true);
      expect(readFileSync(elsewhere, 'utf8')).toBe('theirs\n');
    },
  );

  it.each([
    ['--assume-unchanged', ['2', '3', '4']],
    ['--skip-worktree', ['2', '3', '4']],
  ])('told git by %s that a file is unchanged hides no change', async (flag, versions) => {
    for (const version of versions) {
      const session = await start({ files: { 'a.txt': 'a', 'check.sh': 'exit 1', '.gitignore': 'out/\n' } });
      session.wt('update-index', '--index-version', version);
      session.wt('update-index', flag, 'check.sh');
      write(session.worktree, { 'check.sh': 'exit 0', 'out/forced': 'kept', 'out/not': 'left' });
      session.wt('add', '-f', 'out/forced');
      const result = await settle(session);
      expect(result.files, version).toEqual(['check.sh', 'out/forced']);
    }
  });

  it.each(['--assume-unchanged', '--skip-worktree'])('is put back although %s was said', async (flag) => {
    const session = await start({ files: { 'check.sh': 'exit 1' } });
    session.wt('update-index', flag, 'check.sh');
    write(session.worktree, { 'check.sh': 'exit 0' });
    await resetWorktree(session.git, { worktree: session.worktree, sha: session.head });
    expect(readFileSync(join(session.worktree, 'check.sh'), 'utf8')).toBe('exit 1');
  });

  it('made commits that undo each other leaves no commit but keeps the originals', async () => {
    const session = await start();
    session.wt('commit', '-q', '--allow-empty', '-m', 'nothing');
    const originals = session.wt('rev-parse', 'HEAD');
    expect(await settle(session)).toMatchObject({ commit: null, agent: originals });
  });

  it('switched to a branch of its own leaves that branch where it is', async () => {
    const session = await start();
    session.wt('switch', '-q', '-c', 'feature');
    write(session.worktree, { b: 'b' });
    session.wt('add', '.');
    session.wt('commit', '-q', '-m', 'b');
    const feature = session.wt('rev-parse', 'feature');
    expect(await settle(session)).toMatchObject({ files: ['b'], agent: feature });
    expect(session.wt('rev-parse', 'feature')).toBe(feature);
  });

  it('switched to a new branch without a commit moves no branch', async () => {
    const session = await start();
    session.wt('switch', '-q', '-c', 'feature');
    write(session.worktree, { b: 'b' });
    expect(await settle(session)).toMatchObject({ files: ['b'], agent: null });
    expect(session.wt('rev-parse', 'feature')).toBe(session.head);
  });

  it('is on an orphan branch keeps the start as its parent', async () => {
    const session = await start();
    session.wt('switch', '-q', '--orphan', 'fresh');
    write(session.worktree, { b: 'b' });
    const { git, root, worktree, head } = session;
    const unit = {
      root,
      worktree,
      startSha: head,
      subject: 's',
      trailers: TRAILERS,
      identity: IDENTITY,
      agentRef: AGENT_REF,
    };
    const evidence = await evidenceTree(git, { worktree });
    const result = await commitUnit(git, unit);
    expect(result).toMatchObject({ files: ['a.txt', 'b'], tree: evidence });
  });

  it('stopped in the middle of a merge, a rebase or a cherry-pick commits the files as they are', async () => {
    for (const operation of [['merge'], ['rebase'], ['cherry-pick'], ['revert', '--no-edit']]) {
      const session = await start();
      const { wt, worktree } = session;
      write(worktree, { 'a.txt': 'theirs\n' });
      wt('commit', '-qam', 'theirs');
      const theirs = wt('rev-parse', 'HEAD');
      if (operation[0] !== 'revert') wt('checkout', '-q', session.head);
      write(worktree, { 'a.txt': 'ours\n' });
      wt('commit', '-qam', 'ours');
      const ours = wt('rev-parse', 'HEAD');
      tryTo(() => wt(...operation, theirs));
      expect(readdirSync(session.gitDir).join()).toMatch(
        /MERGE_HEAD|rebase-merge|CHERRY_PICK_HEAD|REVERT_HEAD/,
      );
      const result = await settle(session);
      expect(result.files).toEqual(['a.txt']);
      expect(wt('show', `${result.commit}:a.txt`)).toContain('<<<<<<<');
      const kept = [result.agent, await readRef(session.git, session.root, `${AGENT_REF}-before-rebase`)];
      expect(kept).toContain(ours);
    }
  });

  it('staged half of its files and marked others as coming commits all of them', async () => {
    const session = await start({ files: { 'a.txt': 'a', 'b.txt': 'b' } });
    write(session.worktree, { 'a.txt': 'staged', 'n.txt': 'n', 'm.txt': 'm' });
    session.wt('add', 'a.txt');
    session.wt('add', '-N', 'n.txt');
    session.wt('rm', '-q', '--cached', 'b.txt');
    write(session.worktree, { 'a.txt': 'newer' });
    expect(await settle(session)).toMatchObject({ files: ['a.txt', 'm.txt', 'n.txt'] });
    expect(session.wt('show', 'HEAD:a.txt')).toBe('newer');
  });

  it('removed everything commits an empty tree', async () => {
    const session = await start({ files: { 'a.txt': 'a', 'd/b.txt': 'b' } });
    rmSync(join(session.worktree, 'a.txt'));
    rmSync(join(session.worktree, 'd'), { recursive: true });
    expect(await settle(session)).toMatchObject({ files: ['a.txt', 'd/b.txt'], tree: '' });
  });

  it('removed even the .git file is linked again by ensureWorktree and loses nothing', async () => {
    const session = await start();
    rmSync(join(session.worktree, '.git'));
    write(session.worktree, { b: 'b' });
    const request = { root: session.root, path: session.worktree, sha: session.head };
    await expect(settle(session)).rejects.toMatchObject({ code: 'git_failed' });
    expect(await ensureWorktree(session.git, request)).toEqual({ state: 'linked', head: session.head });
    expect(await settle(session)).toMatchObject({ files: ['b'] });
    rmSync(join(session.worktree, '.git'));
    session.wt('init', '-q');
    await ensureWorktree(session.git, request);
    expect(await settle(session)).toMatchObject({ commit: expect.any(String), files: ['b'] });
  });

  it('made nested repositories commits their files', async () => {
    const session = await start({ files: { '.gitignore': '*.log\n' } });
    const { worktree, sh, wt } = session;
    for (const nested of ['born', 'born/inner', 'unborn', 'empty', 'with space']) {
      write(
        worktree,
        nested === 'empty' ? { 'empty/x.log': '' } : { [`${nested}/f.txt`]: 'f', [`${nested}/x.log`]: '' },
      );
      sh(join(worktree, nested), 'init', '-q');
      if (nested === 'unborn' || nested === 'empty') continue;
      sh(join(worktree, nested), 'add', 'f.txt');
      sh(join(worktree, nested), 'commit', '-q', '-m', 'nested');
    }
    wt('-c', 'advice.addEmbeddedRepo=false', 'add', 'born');
    const files = ['born/f.txt', 'born/inner/f.txt', 'unborn/f.txt', 'with space/f.txt'];
    expect(await settle(session)).toMatchObject({ files });
    expect(existsSync(join(worktree, 'born/.git'))).toBe(true);
    write(worktree, { 'born/g.txt': 'g' });
    const again = { ...session, head: wt('rev-parse', 'HEAD') };
    expect(await settle(again)).toMatchObject({ files: ['born/g.txt'] });
  });

  it('added a real submodule keeps it a submodule', async () => {
    const library = makeRepo();
    const session = await start();
    session.wt('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.root, 'lib');
    const result = await settle(session);
    expect(result.files).toEqual(['.gitmodules', 'lib']);
    expect(session.wt('ls-tree', 'HEAD', 'lib')).toContain(`160000 commit ${library.head}`);
  });

  it('works beside a submodule that is not checked out leaves it alone', async () => {
    const library = makeRepo();
    const session = await start();
    session.wt('update-index', '--add', '--cacheinfo', `160000,${library.head},lib`);
    write(session.worktree, { '.gitmodules': `[submodule "lib"]\n\tpath = lib\n\turl = ${library.root}\n` });
    session.wt('add', '.gitmodules');
    session.wt('commit', '-q', '-m', 'lib');
    session.wt('checkout', '-q', '-f', 'HEAD');
    const later = { ...session, head: session.wt('rev-parse', 'HEAD') };
    write(session.worktree, { b: '' });
    expect(await settle(later)).toMatchObject({ files: ['b'], tree: '.gitmodules\na.txt\nb\nlib' });
  });

  it('left a conflict in a protected path commits the rest, and that path as it was', async () => {
    const session = await start({ files: { '.context/c.md': 'old', a: 'a' } });
    const blob = session.wt('rev-parse', 'HEAD:a');
    const stages = [1, 2, 3].map((stage) => `100644 ${blob} ${stage}\t.context/c.md\n`).join('');
    const input = { cwd: session.worktree, env: session.env, input: stages };
    session.wt('rm', '-q', '--cached', '.context/c.md');
    execFileSync('git', ['update-index', '--index-info'], input);
    write(session.worktree, { b: 'b' });
    const { git, root, worktree, head } = session;
    const unit = { root, worktree, startSha: head, subject: 's', trailers: TRAILERS, identity: IDENTITY };
    const result = await commitUnit(git, { ...unit, agentRef: AGENT_REF });
    expect(result.files).toEqual(['b']);
    expect(session.wt('show', 'HEAD:.context/c.md')).toBe('old');
    expect(session.wt('status', '--porcelain')).toBe('');
  });

  it('deleted or broke the index does not lose files that are tracked although ignored', async () => {
    for (const harm of [
      (index: string) => rmSync(index),
      (index: string) => writeFileSync(index, 'broken'),
    ]) {
      const session = await start({ files: { '.gitignore': '*.env\n', 'kept.env': 'x' } });
      write(session.worktree, { b: '' });
      harm(join(session.gitDir, 'index'));
      expect(await settle(session)).toMatchObject({ files: ['b'] });
    }
  });
});
