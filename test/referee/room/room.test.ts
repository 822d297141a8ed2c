import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRoom, type Room } from '../../../src/referee/room/room.ts';
import { makeRepo, write } from '../../git/fixture.ts';

const IGNORING = { '.gitignore': 'node_modules/\ndist/\n', 'package-lock.json': '{}\n', 'src.txt': 'one\n' };

function stage(files: Record<string, string> = IGNORING) {
  const repo = makeRepo({ files });
  const { git, root, folder, sh } = repo;
  const path = join(folder, 'rooms/ses_1');
  const setups: string[][] = [];
  const room = openRoom({
    path,
    root,
    git,
    inside: async (place) => git.bind({ place }),
    setup: ['install'],
  });
  const { tree } = room.folders;
  const runSetup = async (commands: readonly string[]) => {
    setups.push([...commands]);
    write(tree, { 'node_modules/lib/index.js': 'good\n' });
    return null;
  };
  const commit = (change: Record<string, string>, message = 'change') => {
    write(root, change);
    sh(root, 'add', '-A');
    sh(root, 'commit', '-q', '-m', message);
    return treeAt('HEAD');
  };
  const treeAt = (name: string) => ({
    tree: sh(root, 'rev-parse', `${name}^{tree}`),
    commit: sh(root, 'rev-parse', name),
  });
  const read = (name: string) => readFileSync(join(tree, name), 'utf8');
  return { ...repo, room, path, setups, runSetup, commit, treeAt, read, tree };
}

async function prepare(made: ReturnType<typeof stage>): Promise<void> {
  const base = made.treeAt('HEAD');
  const { key, isNew } = await made.room.enter(base, { runSetup: made.runSetup });
  expect(isNew).toBe(true);
  await made.room.keep(base, key);
}

describe('a clean room', () => {
  it('holds the tree of the claim and what setup has made, and nothing else', async () => {
    const made = stage();
    await prepare(made);
    const claim = made.commit({ 'src.txt': 'two\n' });
    write(made.tree, {
      'left.txt': 'x',
      'dist/old.js': 'x',
      'node_modules/lib/index.js': 'poisoned\n',
      'node_modules/planted.js': 'x',
      'src.txt': 'poisoned\n',
    });
    rmSync(join(made.tree, '.gitignore'));
    const entered = await made.room.enter(claim, made);
    expect(entered).toMatchObject({ setupFailure: null, isNew: false });
    expect([made.read('src.txt'), made.read('node_modules/lib/index.js')]).toEqual(['two\n', 'good\n']);
    for (const name of ['left.txt', 'dist', 'node_modules/planted.js'])
      expect(existsSync(join(made.tree, name)), name).toBe(false);
    expect(existsSync(join(made.tree, '.gitignore'))).toBe(true);
    expect(made.setups).toHaveLength(1);
  });

  it('keeps what the run on the base has made, as it was then', async () => {
    const made = stage();
    const base = made.treeAt('HEAD');
    const { key } = await made.room.enter(base, made);
    write(made.tree, { 'dist/built.js': 'base\n', 'src.txt': 'changed by a check\n' });
    write(made.path, { 'cache/warm': 'base\n' });
    await made.room.keep(base, key);
    expect(made.read('src.txt')).toBe('one\n');
    write(made.tree, { 'dist/built.js': 'poisoned\n' });
    write(made.path, { 'cache/warm': 'poisoned\n', 'cache/new': 'x', 'tmp/left': 'x' });
    await made.room.enter(base, made);
    expect(made.read('dist/built.js')).toBe('base\n');
    expect(readFileSync(join(made.path, 'cache/warm'), 'utf8')).toBe('base\n');
    for (const name of ['cache/new', 'tmp/left']) expect(existsSync(join(made.path, name)), name).toBe(false);
  });

  it('has nothing above it in which programs look for settings', async () => {
    const made = stage();
    await prepare(made);
    write(made.path, { 'pytest.ini': 'x', '.cargo/config.toml': 'x' });
    write(join(made.path, '..'), { 'conftest.py': 'x', 'ses_2/tree/a': 'of another session' });
    await made.room.enter(made.treeAt('HEAD'), made);
    for (const name of ['pytest.ini', '.cargo', '../conftest.py'])
      expect(existsSync(join(made.path, name)), name).toBe(false);
    expect(existsSync(join(made.path, '../ses_2/tree/a'))).toBe(true);
  });

  it('clears what setup made nowhere but in the room, even if a claim has put a link in its way', async () => {
    const files = { ...IGNORING, '.gitignore': 'lib/out\n', 'lib/kept': 'x' };
    const made = stage(files);
    const base = made.treeAt('HEAD');
    const runSetup = async () => {
      if (existsSync(join(made.tree, 'lib/kept'))) write(made.tree, { 'lib/out/x': 'built\n' });
      return null;
    };
    const { key } = await made.room.enter(base, { runSetup });
    await made.room.keep(base, key);
    write(made.folder, { 'outside/out/theirs': 'a person’s file' });
    rmSync(join(made.root, 'lib'), { recursive: true });
    symlinkSync(join(made.folder, 'outside'), join(made.root, 'lib'));
    await made.room.enter(made.commit({ 'package-lock.json': '{"a":1}\n' }), { runSetup });
    expect(readFileSync(join(made.folder, 'outside/out/theirs'), 'utf8')).toBe('a person’s file');
  });

  it('sets up again for another lockfile, and finds the first setup when it comes back', async () => {
    const made = stage();
    const base = made.treeAt('HEAD');
    await prepare(made);
    const claim = made.commit({ 'package-lock.json': '{"a":1}\n' });
    const entered = await made.room.enter(claim, {
      async runSetup() {
        made.setups.push(['again']);
        expect(existsSync(join(made.tree, 'node_modules'))).toBe(false);
        write(made.tree, { 'node_modules/other.js': 'x' });
        return null;
      },
    });
    expect([entered.isNew, made.setups.length]).toEqual([true, 2]);
    await made.room.keep(claim, entered.key);
    await made.room.enter(base, made);
    expect(made.read('node_modules/lib/index.js')).toBe('good\n');
    expect(existsSync(join(made.tree, 'node_modules/other.js'))).toBe(false);
    expect(made.setups).toHaveLength(2);
  });

  it('takes what setup made from a worktree that nobody has touched', async () => {
    const made = stage();
    write(made.root, { 'node_modules/lib/index.js': 'from the worktree\n' });
    const { isNew } = await made.room.enter(made.treeAt('HEAD'), { ...made, source: made.root });
    expect([isNew, made.setups, made.read('node_modules/lib/index.js')]).toEqual([
      true,
      [],
      'from the worktree\n',
    ]);
  });

  it.each([
    ['a launcher', (root: string) => write(root, { 'node_modules/.bin/tool': `#!${root}/node_modules/x\n` })],
    [
      'an editable install',
      (root: string) => write(root, { 'node_modules/__editable__.pth': `${root}/src\n` }),
    ],
    [
      'a link',
      (root: string) => {
        mkdirSync(join(root, 'node_modules'), { recursive: true });
        symlinkSync(join(root, 'src.txt'), join(root, 'node_modules/link'));
      },
    ],
  ])('sets up by itself where a copy would lead back: %s', async (_, plant) => {
    const made = stage();
    plant(made.root);
    await made.room.enter(made.treeAt('HEAD'), { ...made, source: made.root });
    expect(made.setups).toEqual([['install']]);
  });

  it('knows nothing of settings and hooks that came later', async () => {
    const made = stage({ 'a.txt': 'plain\n' });
    await made.room.make();
    made.sh(made.root, 'config', 'filter.evil.smudge', 'sed s/plain/evil/');
    made.sh(made.root, 'config', 'core.hooksPath', '/planted');
    const claim = made.commit({ '.gitattributes': '*.txt filter=evil\n', 'a.txt': 'plain again\n' });
    await made.room.enter(claim, made);
    expect(made.read('a.txt')).toBe('plain again\n');
    expect(() => made.sh(made.tree, 'config', 'core.hooksPath')).toThrow();
    expect(made.sh(made.tree, 'status', '--porcelain', '--untracked-files=no')).toBe('');
    expect(made.sh(made.tree, 'rev-parse', 'HEAD')).toBe(claim.commit);
  });

  it('gives the commands a repository of their own: what they do to it is gone', async () => {
    const made = stage();
    await prepare(made);
    made.sh(made.tree, 'commit', '-q', '--allow-empty', '-m', 'by a check');
    made.sh(made.tree, 'config', 'core.fsmonitor', '/planted');
    writeFileSync(join(made.tree, '.git/hooks'), 'x');
    const base = made.treeAt('HEAD');
    await made.room.enter(base, made);
    expect(made.sh(made.tree, 'rev-parse', 'HEAD')).toBe(base.commit);
    expect(() => made.sh(made.tree, 'config', 'core.fsmonitor')).toThrow();
    expect(made.sh(made.root, 'log', '--all', '--format=%s')).not.toContain('by a check');
  });

  it('tells which tracked files a command has changed, and puts them back', async () => {
    const made = stage();
    await prepare(made);
    expect(await made.room.listChanged()).toEqual([]);
    write(made.tree, { 'src.txt': 'two\n', 'new.txt': 'x' });
    expect(await made.room.listChanged()).toEqual(['src.txt']);
    await made.room.reset();
    expect([made.read('src.txt'), made.read('new.txt')]).toEqual(['one\n', 'x']);
  });

  it.each(['current', 'prepared/KEY/seen.json', 'git/index'])(
    'is whole again where a crash has lost %s',
    async (lost) => {
      const made = stage();
      await prepare(made);
      const key = readFileSync(join(made.path, 'current'), 'utf8');
      rmSync(join(made.path, lost.replace('KEY', key)), { force: true });
      write(made.tree, { 'node_modules/lib/index.js': 'half\n', 'left.txt': 'x' });
      const again: Room = made.room;
      await again.enter(made.treeAt('HEAD'), made);
      expect(made.read('node_modules/lib/index.js')).toBe('good\n');
      expect(existsSync(join(made.tree, 'left.txt'))).toBe(false);
    },
  );

  it('judges a tree that nobody has committed', async () => {
    const made = stage();
    await prepare(made);
    write(made.root, { 'src.txt': 'staged\n' });
    made.sh(made.root, 'add', '-A');
    const tree = made.sh(made.root, 'write-tree');
    await made.room.enter({ tree, commit: null }, made);
    expect(made.read('src.txt')).toBe('staged\n');
    expect(made.sh(made.tree, 'rev-parse', 'HEAD^{tree}')).toBe(tree);
  });
});
