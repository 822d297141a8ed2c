import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commitUnit, findUnitCommit } from '../../src/git/commit.ts';
import { worktreeHead } from '../../src/git/git-dir.ts';
import { subjectLine } from '../../src/git/message.ts';
import { resetWorktree } from '../../src/git/recovery.ts';
import {
  AGENT_REF,
  anyText,
  IDENTITY,
  makeSession as makeAnySession,
  type Repo,
  type RepoOptions,
  TRAILERS,
  write,
} from './fixture.ts';

type Session = Repo & { worktree: string };

function commit(session: Session, extra: Partial<Parameters<typeof commitUnit>[1]> = {}) {
  return commitUnit(session.git, {
    root: session.root,
    worktree: session.worktree,
    startSha: session.head,
    subject: 'pulse: iteration 1: work',
    trailers: TRAILERS,
    identity: IDENTITY,
    agentRef: AGENT_REF,
    ...extra,
  });
}

/** The guarantees that hold whatever the agent did. */
async function expectUnit(session: Session, result: Awaited<ReturnType<typeof commitUnit>>, files: string[]) {
  const { sh, worktree, head, git } = session;
  expect(result.files).toEqual(files);
  expect(sh(worktree, 'rev-list', '--parents', '-1', result.commit!)).toBe(`${result.commit} ${head}`);
  expect(sh(worktree, 'rev-parse', `${result.commit}^{tree}`)).toBe(result.tree);
  expect(readFileSync(join(sh(worktree, 'rev-parse', '--git-dir'), 'HEAD'), 'utf8').trim()).toBe(
    result.commit,
  );
  expect(sh(worktree, 'status', '--porcelain')).toBe('');
  expect(await worktreeHead(git, worktree)).toBe(result.commit);
}

describe.each([true, false])('commitUnit (processes that stay: %s)', (isKept) => {
  const makeSession = (options: RepoOptions = {}) => makeAnySession({ ...options, isKept });

  it('commits changed, new, renamed and deleted files in two processes beside those that stay', async () => {
    const session = await makeSession({
      files: { 'a.txt': 'a\n', 'old.txt': 'same\n', 'gone.txt': 'x', '.gitignore': '*.log\n' },
    });
    write(session.worktree, {
      'a.txt': 'b\n',
      'new/file.txt': 'n',
      'x.log': 'ignored',
      '.pulse/run.json': '{}',
      '.context/c': '',
    });
    session.sh(session.worktree, 'mv', 'old.txt', 'moved.txt');
    rmSync(join(session.worktree, 'gone.txt'));
    const [result] = await session.counted(() => commit(session));
    const commands = () =>
      session.calls.map((args) => args.find((arg) => !arg.startsWith('-') && !arg.includes('=')));
    const others = ['diff-tree', 'update-ref'];
    expect(commands()).toEqual(['add', 'write-tree', ...others]);
    rmSync(join(session.worktree, '.pulse'), { recursive: true });
    rmSync(join(session.worktree, '.context'), { recursive: true });
    await expectUnit(session, result, ['a.txt', 'gone.txt', 'moved.txt', 'new/file.txt', 'old.txt']);
    expect(session.sh(session.root, 'for-each-ref', 'refs/pulse')).toBe('');
    write(session.worktree, { 'a.txt': 'c\n' });
    await session.counted(() => commit(session, { startSha: result.commit! }));
    expect(commands()).toEqual(['add', 'write-tree', ...(isKept ? [] : others)]);
  });

  it('makes none where nothing changed, unless an empty one is asked for', async () => {
    const session = await makeSession();
    const [result, count] = await session.counted(() => commit(session));
    expect(result).toEqual({
      commit: null,
      tree: session.sh(session.root, 'rev-parse', 'HEAD^{tree}'),
      files: [],
    });
    expect(count).toBe(2);
    await expectUnit(session, await commit(session, { allowEmpty: true }), []);
  });

  it('writes author, one subject line and trailers that git reads', async () => {
    const session = await makeSession();
    write(session.worktree, { 'b.txt': '' });
    const body = '# A heading\n\n--- a divider\nKey: value\n\n---\n';
    const result = await commit(session, {
      subject: '  two\nlines ',
      body,
      trailers: { ...TRAILERS, 'Pulse-Bead': 'x\ny' },
    });
    const show = (format: string) =>
      session.sh(session.root, 'show', '-s', `--format=${format}`, result.commit!);
    expect(show('%an <%ae> %cn <%ce>')).toBe('Ada <ada@example.org> Ada <ada@example.org>');
    expect(show('%s')).toBe('two lines');
    expect(show('%B')).toContain('# A heading');
    const message = join(session.folder, 'message');
    writeFileSync(message, show('%B'));
    expect(session.sh(session.root, 'interpret-trailers', '--parse', message)).toBe(
      'Pulse-Session: ses_1\nPulse-Iteration: 1\nPulse-Bead: x y',
    );
  });

  it('works with no identity, failing hooks, signing on and odd user settings', async () => {
    const session = await makeSession({ identity: false });
    const { root, sh, worktree } = session;
    for (const hook of [
      'pre-commit',
      'commit-msg',
      'post-commit',
      'prepare-commit-msg',
      'post-checkout',
      'reference-transaction',
    ]) {
      write(root, { [`.git/hooks/${hook}`]: '#!/bin/sh\ntouch "$(dirname "$0")/ran"\nexit 1\n' });
      chmodSync(join(root, '.git/hooks', hook), 0o755);
    }
    for (const [key, value] of Object.entries({
      'commit.gpgSign': 'true',
      'gpg.program': '/bin/false',
      'user.useConfigOnly': 'true',
      'color.ui': 'always',
      'core.safecrlf': 'true',
      'core.autocrlf': 'true',
      'log.showSignature': 'true',
      'commit.cleanup': 'scissors',
      'i18n.commitEncoding': 'latin1',
      'status.showUntrackedFiles': 'no',
      'diff.renames': 'copies',
    })) {
      sh(root, 'config', key, value);
    }
    write(worktree, { 'lf.txt': 'one\ntwo\n', 'crlf.txt': 'one\r\ntwo\r\n' });
    const result = await commit(session, { identity: null, subject: 'grün' });
    expect(result.files).toEqual(['crlf.txt', 'lf.txt']);
    expect(
      sh(
        root,
        '-c',
        'i18n.logOutputEncoding=utf8',
        'show',
        '-s',
        '--no-show-signature',
        '--format=%s|%an <%ae>',
        result.commit!,
      ),
    ).toBe('grün|Pulse <pulse@localhost>');
    expect(sh(root, 'cat-file', 'blob', `${result.commit}:crlf.txt`)).toBe('one\ntwo');
    await resetWorktree(session.git, { worktree, sha: session.head });
    expect(existsSync(join(root, '.git/hooks/ran'))).toBe(false);
  });

  it('obeys .gitattributes', async () => {
    const session = await makeSession({ files: { '.gitattributes': '*.txt text eol=crlf\n*.bin -text\n' } });
    write(session.worktree, { 'a.txt': 'x\r\n', 'b.bin': 'x\r\n' });
    const result = await commit(session);
    await expectUnit(session, result, ['a.txt', 'b.bin']);
    expect(session.sh(session.root, 'cat-file', '-s', `${result.commit}:a.txt`)).toBe('2');
    expect(session.sh(session.root, 'cat-file', '-s', `${result.commit}:b.bin`)).toBe('3');
  });

  it('leaves the user’s checkout byte for byte as it was', async () => {
    const session = await makeSession();
    write(session.root, { 'a.txt': 'my own edit', 'mine.txt': 'untracked' });
    const look = () => [
      statSync(join(session.root, '.git/index')).mtimeMs,
      readFileSync(join(session.root, '.git/index')).toString('hex'),
      readFileSync(join(session.root, '.git/HEAD'), 'utf8'),
      session.sh(session.root, 'rev-parse', 'main'),
      readdirSync(session.root).map((name) => [name, statSync(join(session.root, name)).mtimeMs]),
    ];
    const before = look();
    write(session.worktree, { 'a.txt': 'the agent’s' });
    await commit(session);
    await resetWorktree(session.git, { worktree: session.worktree, sha: session.head });
    expect(look()).toEqual(before);
  });

  it('carries any file name through', async () => {
    const session = await makeSession();
    const part = fc.constantFrom(
      'a',
      ' ',
      '\n',
      '"',
      "'",
      '\\',
      '-',
      'ü',
      '日',
      '*',
      '[x]',
      ':(',
      '\t',
      '#',
      '!',
      '\x01',
    );
    const name = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 5 }), async (names) => {
        for (const file of names) write(session.worktree, { [`${file}`]: 'x', [`dir/${file}`]: file });
        const expected = names.flatMap((file) => [file, `dir/${file}`]).sort();
        const result = await commit(session);
        expect(result.files).toEqual(expected);
        expect(
          (
            await findUnitCommit(session.git, {
              worktree: session.worktree,
              startSha: session.head,
              trailers: TRAILERS,
            })
          )?.files,
        ).toEqual(expected);
        await resetWorktree(session.git, { worktree: session.worktree, sha: session.head });
      }),
      { numRuns: 20 },
    );
  });

  it('shows a name that is not UTF-8 in git’s quoted form', async () => {
    const session = await makeSession();
    writeFileSync(Buffer.concat([Buffer.from(`${session.worktree}/caf`), Buffer.from([0xe9])]), 'x');
    expect((await commit(session)).files).toEqual(['"caf\\351"']);
  });

  it('cuts a subject to one line of at most a hundred characters that is never empty', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const line = subjectLine(text);
        expect([...line].length).toBeLessThanOrEqual(100);
        expect(line.trim()).not.toBe('');
        expect(line).not.toMatch(/[\r\n\0]/);
      }),
    );
  });

  it('works in a sha256 repository', async () => {
    const session = await makeSession({ init: ['--object-format=sha256'] });
    write(session.worktree, { 'b.txt': '', 'nested/f': 'x' });
    session.sh(join(session.worktree, 'nested'), 'init', '-q');
    const result = await commit(session);
    expect(result.commit).toHaveLength(64);
    await expectUnit(session, result, ['b.txt', 'nested/f']);
  });

  it('removes a stale index.lock of its own worktree', async () => {
    const session = await makeSession();
    write(session.worktree, { 'b.txt': '' });
    const gitDir = session.sh(session.worktree, 'rev-parse', '--git-dir');
    writeFileSync(join(gitDir, 'index.lock'), '');
    writeFileSync(join(gitDir, 'HEAD.lock'), '');
    await expectUnit(session, await commit(session), ['b.txt']);
  });

  it('keeps protected and excluded paths as they were at the start, even where the agent staged them', async () => {
    const session = await makeSession({ files: { '.context/kept.md': 'old', 'a.txt': 'a' } });
    write(session.worktree, {
      '.context/kept.md': 'new',
      '.pulse/secret': 's',
      'vendor/big': 'x',
      'b.txt': 'b',
    });
    session.sh(session.worktree, 'add', '-A', '-f');
    const result = await commit(session, { exclude: ['vendor'] });
    expect(result.files).toEqual(['b.txt']);
    expect(session.sh(session.root, 'ls-tree', '-r', '--name-only', result.commit!)).toBe(
      '.context/kept.md\na.txt\nb.txt',
    );
    expect(session.sh(session.root, 'cat-file', 'blob', `${result.commit}:.context/kept.md`)).toBe('old');
  });
});

describe('findUnitCommit', () => {
  const makeSession = makeAnySession;
  const find = ({ git, worktree, head }: Session, trailers: Record<string, string> = TRAILERS) =>
    findUnitCommit(git, { worktree, startSha: head, trailers });

  it('costs nothing before the commit and finds the same result after it', async () => {
    const session = await makeSession();
    expect(await session.counted(() => find(session))).toEqual([null, 0]);
    write(session.worktree, { 'b b.txt': '', 'ü.txt': '' });
    const made = await commit(session, { body: 'A body.' });
    expect(await session.counted(() => find(session))).toEqual([made, 1]);
    expect(await find(session, { ...TRAILERS, 'Pulse-Iteration': '2' })).toBeNull();
  });

  it('finds an empty commit too', async () => {
    const session = await makeSession();
    const made = await commit(session, { allowEmpty: true });
    expect(await find(session)).toEqual(made);
  });

  it('does not take an agent’s own commits for it', async () => {
    const session = await makeSession();
    mkdirSync(join(session.worktree, 'd'));
    session.sh(session.worktree, 'commit', '-q', '--allow-empty', '-m', 'mine');
    expect(await find(session)).toBeNull();
    session.sh(
      session.worktree,
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'pulse: x\n\nPulse-Session: ses_1\nPulse-Iteration: 1',
    );
    expect(await find(session)).toBeNull();
  });
});
