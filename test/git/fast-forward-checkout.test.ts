/** A checkout that is brought forward, and git dies in the middle of it: taken back or refused, and nothing lost. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGit } from '../../src/git/exec.ts';
import { undoFastForward } from '../../src/git/fast-forward-checkout.ts';
import { mergeBranch } from '../../src/git/merge.ts';
import { isGitRunning } from '../../src/process/is-git-running.ts';
import { openProcessTable } from '../../src/process/process-table.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { spawnGit } from './fixture.ts';

const git = createGit({ exec: spawnGit });
const MARK = '.git/pulse-forward';

const OLD = {
  'kept.txt': 'kept\n',
  'changed.txt': 'old\n',
  'gone.txt': 'gone\n',
  'folder/inside.txt': 'inside\n',
  'run.sh': 'echo run\n',
};
const NEW = {
  'changed.txt': 'new, and longer than before\n',
  'added.txt': 'added\n',
  'deep/er/added.txt': 'deep\n',
  // A file where a folder was, and a name that has to be quoted.
  folder: 'a file now\n',
  'odd "näme"\n.txt': 'odd\n',
};

/** `work` is one commit ahead of `main`, with every kind of change. */
function prepare({ repository, git: sh }: Scratch): { from: string; to: string } {
  const put = (files: Record<string, string>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(repository, name)), { recursive: true });
      writeFileSync(join(repository, name), text);
    }
  };
  put(OLD);
  sh('add', '-A');
  sh('commit', '-q', '-m', 'chore: old');
  sh('switch', '-q', '-c', 'work');
  for (const name of ['gone.txt', 'folder']) rmSync(join(repository, name), { recursive: true });
  put(NEW);
  chmodSync(join(repository, 'run.sh'), 0o755);
  symlinkSync('added.txt', join(repository, 'link'));
  sh('add', '-A');
  sh('commit', '-q', '-m', 'feat: new');
  sh('switch', '-q', 'main');
  return { from: sh('rev-parse', 'main'), to: sh('rev-parse', 'work') };
}

const merge = (scratch: Scratch) =>
  mergeBranch(git, {
    root: scratch.repository,
    base: 'main',
    branch: 'work',
    mode: 'ff',
    subject: 'Merge work',
    trailers: {},
    identity: null,
    again: (mode) => `review --merge ${mode}`,
    isAtWork: isGitRunning,
  });

function expectMerged(scratch: Scratch, to: string): void {
  expect(scratch.git('rev-parse', 'main')).toBe(to);
  expect(scratch.git('status', '--porcelain')).toBe('');
  for (const [name, text] of Object.entries(NEW)) expect(scratch.read(name), name).toBe(text);
  expect(existsSync(join(scratch.repository, MARK))).toBe(false);
}

/** Holds every git up that writes the file `folder`, until it is ended or told to go on. */
function holdUp(scratch: Scratch): { isHeld(): boolean; free(): void } {
  const { path, repository } = scratch;
  const [at, go] = [join(path, 'at'), join(path, 'go')];
  const hold = `if [ "$1" = folder ]; then touch '${at}'; until [ -f '${go}' ] || [ ! -d '${path}' ]; do sleep 0.02; done; fi; cat\n`;
  scratch.git('config', 'filter.slow.smudge', `sh ${scratch.file('hold.sh', hold)} %f`);
  writeFileSync(join(repository, '.git/info/attributes'), '* filter=slow\n');
  return { isHeld: () => existsSync(at), free: () => void scratch.file('go', '') };
}

async function halfMerged(scratch: Scratch, to: string) {
  const { repository } = scratch;
  const { isHeld, free } = holdUp(scratch);
  writeFileSync(join(repository, MARK), `${scratch.git('rev-parse', 'main')} ${to}\n`);
  const child = spawn('git', ['merge', '-q', '--ff-only', to], { cwd: repository, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await expect.poll(isHeld, { timeout: 20_000, interval: 20 }).toBe(true);
  return { child, ended, free };
}

describe('a checkout whose git died while it was brought forward', () => {
  it('is put back, and brought forward again', async () => {
    using scratch = createScratch();
    const { from, to } = prepare(scratch);
    const { child, ended, free } = await halfMerged(scratch, to);
    child.kill('SIGKILL');
    await ended;
    free();
    expect(existsSync(join(scratch.repository, '.git/index.lock'))).toBe(true);
    expect(scratch.git('rev-parse', 'main')).toBe(from);
    expect(scratch.git('status', '--porcelain')).not.toBe('');
    await merge(scratch);
    expectMerged(scratch, to);
  });

  it('is put back at once by whoever started that git', async () => {
    using scratch = createScratch();
    const { from, to } = prepare(scratch);
    const { isHeld, free } = holdUp(scratch);
    const refused = expect(merge(scratch)).rejects.toMatchObject({ code: 'merge_conflict' });
    await expect.poll(isHeld, { timeout: 20_000, interval: 20 }).toBe(true);
    const table = openProcessTable();
    const isOurs = (pid: number): boolean =>
      table.cwd(pid) === scratch.repository && table.command(pid).includes(`--no-overwrite-ignore ${to}`);
    for (const pid of table.pids().filter(isOurs)) process.kill(pid, 'SIGINT');
    free();
    await refused;
    expect(scratch.git('rev-parse', 'main')).toBe(from);
    expect(scratch.git('status', '--porcelain')).toBe('');
    expect(existsSync(join(scratch.repository, MARK))).toBe(false);
    await merge(scratch);
    expectMerged(scratch, to);
  });

  it('is left to that git while it lives', async () => {
    using scratch = createScratch();
    const { to } = prepare(scratch);
    const { ended, free } = await halfMerged(scratch, to);
    await expect(merge(scratch)).rejects.toMatchObject({
      code: 'merge_conflict',
      message: expect.stringContaining('git is at work'),
    });
    free();
    expect(await ended).toBe(0);
    await merge(scratch);
    expectMerged(scratch, to);
  });

  it('is put back where only the branch was left to be moved', async () => {
    using scratch = createScratch();
    const { from, to } = prepare(scratch);
    scratch.git('read-tree', '-u', '-m', from, to);
    writeFileSync(join(scratch.repository, MARK), `${from} ${to}\n`);
    await merge(scratch);
    expectMerged(scratch, to);
  });

  it('however far it got, is as the branch has it, and nothing beside is touched', async () => {
    const names = [...Object.keys(NEW), 'gone.txt', 'folder/inside.txt', 'run.sh', 'link'];
    const steps = fc.array(
      fc.record({ name: fc.constantFrom(...names), how: fc.constantFrom('gone', 'part', 'whole') }),
      { maxLength: 12 },
    );
    using scratch = createScratch();
    const { from, to } = prepare(scratch);
    const { repository } = scratch;
    writeFileSync(join(repository, 'mine.txt'), 'mine\n');
    await fc.assert(
      fc.asyncProperty(steps, async (done) => {
        for (const { name, how } of done) {
          rmSync(join(repository, name), { recursive: true, force: true });
          if (how === 'gone' || !scratch.git('ls-tree', '-z', to, '--', name)) continue;
          scratch.git('restore', '--worktree', '--source', to, '--', name);
          if (how === 'part' && name !== 'link') truncateSync(join(repository, name), 2);
        }
        writeFileSync(join(repository, MARK), `${from} ${to}\n`);
        expect(await undoFastForward(git, { checkout: repository, head: from })).toEqual([]);
        expect(scratch.git('status', '--porcelain')).toBe('?? mine.txt');
        expect(scratch.git('diff', 'HEAD')).toBe('');
      }),
      { numRuns: 15 },
    );
  }, 60_000);

  it('is left alone where somebody has changed what git had written, or had yet to write', async () => {
    using scratch = createScratch();
    const { from, to } = prepare(scratch);
    const { repository } = scratch;
    scratch.git('restore', '--worktree', '--source', to, '--', 'added.txt', 'changed.txt');
    writeFileSync(join(repository, 'changed.txt'), 'a thought of mine\n');
    writeFileSync(join(repository, 'gone.txt'), 'not gone for me\n');
    writeFileSync(join(repository, MARK), `${from} ${to}\n`);
    const before = scratch.git('status', '--porcelain');
    await expect(merge(scratch)).rejects.toMatchObject({
      code: 'merge_conflict',
      message: expect.stringMatching(/since then these were changed: changed\.txt, gone\.txt\.$/),
      hint: expect.stringContaining('stash -u'),
    });
    expect(scratch.git('status', '--porcelain')).toBe(before);
    expect(scratch.read('changed.txt')).toBe('a thought of mine\n');
    scratch.git('stash', '-q', '-u');
    await merge(scratch);
    expectMerged(scratch, to);
    expect(scratch.git('show', 'stash@{0}:changed.txt')).toBe('a thought of mine');
  });

  it('is believed to be theirs where the branch has moved on', async () => {
    using scratch = createScratch();
    const { from, to } = prepare(scratch);
    scratch.git('merge', '-q', '--ff-only', to);
    writeFileSync(join(scratch.repository, 'changed.txt'), '');
    writeFileSync(join(scratch.repository, MARK), `${from} ${to}\n`);
    expect(await merge(scratch)).toMatchObject({ sha: to });
    expect(readFileSync(join(scratch.repository, 'changed.txt'), 'utf8')).toBe('');
    expect(existsSync(join(scratch.repository, MARK))).toBe(false);
  });
});

describe('a file of the checkout that git does not know', () => {
  it.each([
    ['an ignored one', '.env'],
    ['one in an ignored folder', 'dist/app.js'],
    ['an untracked one', 'notes.txt'],
    ['one that is the same', 'same.txt'],
  ])('is never overwritten: %s', async (_, name) => {
    using scratch = createScratch();
    const { repository } = scratch;
    const put = (path: string, text: string): void => {
      mkdirSync(dirname(join(repository, path)), { recursive: true });
      writeFileSync(join(repository, path), text);
    };
    put('.gitignore', '.env\ndist/\n');
    scratch.git('add', '-A');
    scratch.git('commit', '-q', '-m', 'chore: ignore');
    const before = scratch.git('rev-parse', 'main');
    scratch.git('switch', '-q', '-c', 'work');
    put('.gitignore', '');
    put(name, 'theirs\n');
    scratch.git('add', '-A');
    scratch.git('commit', '-q', '-m', 'feat: theirs');
    scratch.git('switch', '-q', 'main');
    const mine = name === 'same.txt' ? 'theirs\n' : 'the only copy\n';
    put(name, mine);
    await expect(merge(scratch)).rejects.toMatchObject({
      code: 'merge_conflict',
      message: expect.stringContaining(name),
    });
    expect(scratch.read(name)).toBe(mine);
    expect(scratch.git('rev-parse', 'main')).toBe(before);
    rmSync(join(repository, name));
    await merge(scratch);
    expect(scratch.read(name)).toBe('theirs\n');
  });
});
