/** Files that git cannot add: they are left out and named, and all the others are committed. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitUnit } from '../../src/git/commit.ts';
import { saveLeftovers } from '../../src/git/recovery.ts';
import { isIndexBroken } from '../../src/git/unaddable.ts';
import { AGENT_REF, IDENTITY, makeSession, type Repo, type RepoOptions, TRAILERS, write } from './fixture.ts';

type Session = Repo & { worktree: string };

function start(options: RepoOptions = {}): Promise<Session> {
  return makeSession({ isKept: true, ...options });
}

function commit({ git, root, worktree, head }: Session, tree?: string) {
  return commitUnit(git, {
    root,
    worktree,
    startSha: head,
    subject: 's',
    trailers: TRAILERS,
    identity: IDENTITY,
    agentRef: AGENT_REF,
    tree,
  });
}

function leftovers({ git, worktree, head }: Session) {
  return saveLeftovers(git, { worktree, ref: 'refs/pulse/recovery/ses_1/1.1', startSha: head, message: 'm' });
}

/** What both kept, and what both name as left out. */
async function expectBoth(session: Session, { kept, leftOut }: { kept: string[]; leftOut: string[] }) {
  const saved = await leftovers(session);
  expect(saved.leftOut).toEqual(leftOut);
  const changed = session.sh(session.root, 'diff', '--name-only', session.head, saved.commit!);
  expect(changed.split('\n')).toEqual(kept);
  const made = await commit(session);
  expect(made.files).toEqual(kept);
  expect(made.leftOut ?? []).toEqual(leftOut);
}

describe('a file that git cannot add', () => {
  it('has a name that git forbids', async () => {
    const session = await start();
    write(session.worktree, { 'a.txt': 'b', 'git~1': 'x', 'sub/git~1': 'y', 'z.txt': 'z' });
    await expectBoth(session, { kept: ['a.txt', 'z.txt'], leftOut: ['git~1', 'sub/git~1'] });
  });

  it('is refused by a filter that must not fail', async () => {
    const session = await start({ files: { '.gitattributes': '*.bin filter=strict\n' } });
    session.sh(session.root, 'config', 'filter.strict.clean', 'false');
    session.sh(session.root, 'config', 'filter.strict.required', 'true');
    write(session.worktree, { 'a.txt': 'b', 'one.bin': '1', 'sub/two.bin': '2', 'z.txt': 'z' });
    await expectBoth(session, { kept: ['a.txt', 'z.txt'], leftOut: ['one.bin', 'sub/two.bin'] });
  });

  it('lies outside of a sparse checkout, and is added all the same', async () => {
    const session = await start({ files: { 'in/a': 'a', 'out/b': 'b' } });
    session.sh(session.worktree, 'sparse-checkout', 'set', 'in');
    write(session.worktree, { 'in/c': 'c', 'new/d': 'd', 'out/e': 'e' });
    await expectBoth(session, { kept: ['in/c', 'new/d', 'out/e'], leftOut: [] });
  });

  it.skipIf(process.getuid?.() === 0)('may not be read, nor may a folder be opened', async () => {
    const session = await start();
    write(session.worktree, { 'a.txt': 'b', 'closed/x': 'x', 'secret.txt': 's' });
    chmodSync(join(session.worktree, 'secret.txt'), 0);
    chmodSync(join(session.worktree, 'closed'), 0);
    await expectBoth(session, { kept: ['a.txt'], leftOut: ['closed', 'secret.txt'] });
    chmodSync(join(session.worktree, 'closed'), 0o755);
  });

  it('is a submodule whose repository is gone', async () => {
    const library = await start({ files: { 'lib.txt': 'l' } });
    const session = await start();
    const { root, worktree, sh } = session;
    sh(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.root, 'lib');
    sh(root, 'commit', '-q', '-m', 'lib');
    const head = sh(root, 'rev-parse', 'HEAD');
    sh(worktree, 'checkout', '-q', '--detach', head);
    mkdirSync(join(worktree, 'lib'), { recursive: true });
    writeFileSync(join(worktree, 'lib', '.git'), 'gitdir: /nowhere\n');
    write(worktree, { 'a.txt': 'b' });
    await expectBoth({ ...session, head }, { kept: ['a.txt'], leftOut: ['lib'] });
  });

  it('is none of those that a broken index or a nested repository stop', async () => {
    const session = await start();
    write(session.worktree, { 'a.txt': 'b', 'git~1': 'x', 'nested/n.txt': 'n' });
    session.sh(join(session.worktree, 'nested'), 'init', '-q');
    const gitDir = session.sh(session.worktree, 'rev-parse', '--git-dir');
    writeFileSync(join(gitDir, 'index'), 'not an index');
    await expectBoth(session, { kept: ['a.txt', 'nested/n.txt'], leftOut: ['git~1'] });
  });

  it('is not what a full or locked repository says', async () => {
    const session = await start();
    write(session.worktree, { 'a.txt': 'b' });
    const objects = join(session.root, '.git', 'objects');
    rmSync(objects, { recursive: true });
    writeFileSync(objects, '');
    await expect(commit(session)).rejects.toHaveProperty('code', 'git_failed');
  });
});

describe('what git says of an index', () => {
  const of = (stderr: string) => ({ code: 128, stdout: Buffer.alloc(0), stderr });

  it.each([
    'error: bad signature 0x6e6f7420\nfatal: index file corrupt\n',
    'fatal: .git/index: index file smaller than expected\n',
    'error: bad index file sha1 signature\n',
  ])('that is broken is known: %j', (said) => {
    expect(isIndexBroken(of(said))).toBe(true);
  });

  it.each([
    'error: open("secret"): Permission denied\nerror: unable to index file \'secret\'\n',
    "error: unable to index file 'a/index file corrupt'\n",
  ])('of a file is not said of the index: %j', (said) => {
    expect(isIndexBroken(of(said))).toBe(false);
  });
});

describe('a tree that was judged', () => {
  it('becomes the index without forgetting what is known of the files', async () => {
    const session = await start({ files: { 'a.txt': 'a', 'b.txt': 'b' } });
    const { worktree, sh } = session;
    write(worktree, { 'a.txt': 'changed' });
    sh(worktree, 'add', '-A');
    await commit(session, sh(worktree, 'write-tree'));
    expect(sh(worktree, 'diff-files', '--name-only')).toBe('');
  });
});
