import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalsOf } from '../../../src/tools/work/shell-guard.ts';
import { createWorkScene, type WorkScene } from './scene.ts';

/** Not below /tmp, where anybody may write. */
let scene: WorkScene;
beforeAll(() => {
  scene = createWorkScene({ files: { 'src/a.ts': 'a\n' }, base: '/var/tmp' });
  mkdirSync(join(scene.root, 'sub'));
  symlinkSync('/etc', join(scene.root, 'etc'));
});
afterAll(() => scene[Symbol.asyncDispose]());

const facts = { branches: new Set(['main', 'feature/x']), isOnBranch: false };
function refusals(script: string, more: Partial<Parameters<typeof refusalsOf>[1]> = {}): string[] {
  const environment = { HOME: '/home/someone', PATH: '/usr/bin' };
  return refusalsOf(script, { root: scene.root, cwd: scene.root, environment, facts, ...more });
}

describe('the guard of the shell', () => {
  it('refuses a push, however it is wrapped', () => {
    const push = fc.constantFrom(
      'git push',
      'git push origin main --force',
      'git -c a.b=c -C sub push -f',
      '/usr/bin/git --no-pager push',
      "g'it' pu\\sh",
      "git $'pu\\x73h'",
      'git lfs push',
      'git submodule foreach git push',
      "git rebase -x 'git push' HEAD~1",
    );
    const wrap = fc.constantFrom<(inner: string) => string>(
      (inner) => inner,
      (inner) => `cd src && ${inner} | cat`,
      (inner) => `A=1 env B=2 ${inner}`,
      (inner) => `timeout -k 5 10 nice -n 3 ${inner}`,
      (inner) => `echo "$(${inner})"`,
      (inner) => `if true; then ${inner}; fi`,
      (inner) => `(${inner}) &`,
      (inner) => `bash -lc ${quote(inner)}`,
      (inner) => `eval ${quote(inner)}`,
      (inner) => `sh <<'END'\n${inner}\nEND`,
      (inner) => `find . -name x -exec sh -c ${quote(inner)} \\;`,
      (inner) => `echo a | xargs -n 1 ${inner}`,
    );
    fc.assert(
      fc.property(push, wrap, wrap, (command, inner, outer) => {
        // A here-document inside a quoted script is itself quoted: fine in one level only.
        expect(refusals(outer(inner(command))), outer(inner(command))).not.toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    'git reset --hard HEAD~1',
    'git status && git diff > changes.patch',
    'git commit -am "git push --force to main; rm -rf /"',
    'echo git push',
    'grep -rn "git push" src',
    "git log --grep='push'",
    'git checkout -- src',
    'git checkout HEAD~1 -- src/a.ts',
    'git checkout -b try-this',
    'git switch --detach main',
    'git stash list',
    'git config --get user.name',
    'git config user.name',
    'git branch -vv',
    'git fetch origin',
    'git -C sub status',
    'npm test 2>&1 | tee out.log',
    'rm -rf build node_modules && mkdir -p a/b && touch a/b/c',
    'cp /etc/hosts ./hosts',
    'cat /etc/passwd > copy 2>/dev/null',
    'echo x > /tmp/somewhere/x',
    'cd sub && echo x > ../here',
    'rm -rf "$BUILD_DIR"',
    'node -e "console.log(1)" # git push',
    "cat <<'E'\ngit push\nE",
  ])('lets pass: %s', (script) => {
    expect(refusals(script)).toEqual([]);
  });

  it.each([
    'git branch -D main',
    'git branch -f main HEAD',
    'git tag -d v1',
    'git checkout main',
    'git switch feature/x',
    'git checkout -B main',
    'git switch -C main',
    'git update-ref refs/heads/main HEAD',
    'git stash',
    'git stash pop',
    'git worktree remove x',
    'git config user.name Me',
    'git config --global core.pager cat',
    'git remote set-url origin x',
    'git fetch origin main:main',
    'git symbolic-ref HEAD refs/heads/main',
    'git filter-branch --all',
    'git reflog expire --all',
    'git gc',
    'git -c alias.x=push x',
    'git -C /home/someone/project commit -m x',
    'git --git-dir=/home/someone/project/.git log',
  ])('refuses what reaches the user’s own checkout: %s', (script) => {
    expect(refusals(script)).toHaveLength(1);
  });

  it('refuses a hard reset only where HEAD is on a branch', () => {
    const onBranch = { facts: { ...facts, isOnBranch: true } };
    expect(refusals('git reset --hard HEAD~1', onBranch)).toHaveLength(1);
    expect(refusals('git reset HEAD~1', onBranch)).toEqual([]);
  });

  it('refuses to write outside the worktree, by redirection or by program', () => {
    const target = fc.constantFrom(
      '/etc/x',
      '~/.bashrc',
      '$HOME/x',
      `"\${HOME}"/x`,
      '../x',
      'sub/../../x',
      'etc/x',
      '.git/config',
      'sub/../.git',
    );
    const write = fc.constantFrom<(path: string) => string>(
      (path) => `echo x > ${path}`,
      (path) => `echo x >>${path}`,
      (path) => `make &> ${path}`,
      (path) => `rm -rf ${path}`,
      (path) => `cp src/a.ts ${path}`,
      (path) => `mv ${path} here`,
      (path) => `echo x | tee -a ${path}`,
      (path) => `sudo touch ${path}`,
      (path) => `dd if=/dev/zero of=${path}`,
      (path) => `find ${path} -name x -delete`,
      (path) => `ls; (chmod 777 ${path})`,
    );
    fc.assert(
      fc.property(target, write, (path, make) => {
        expect(refusals(make(path)), make(path)).not.toEqual([]);
      }),
      { numRuns: 300 },
    );
    expect(refusals('cd .. && rm -rf worktree')).not.toEqual([]);
    expect(refusals('cd / && rm -rf etc')).not.toEqual([]);
    expect(refusals('rm -rf / ; git push')).toHaveLength(2);
    // Where that is cannot be read; what is absolute can.
    expect(refusals('cd "$SOMEWHERE" && rm -rf ../x')).toEqual([]);
    expect(refusals('cd "$SOMEWHERE" && rm -rf /etc/x')).toHaveLength(1);
  });

  it('refuses to remove the worktree’s own parents, also below the temporary folder', () => {
    expect(refusals(`rm -rf ${join(scene.root, '..')}`)).toHaveLength(1);
    expect(refusals('rm -rf /tmp')).toHaveLength(1);
    const environment = { TMPDIR: '/var/tmp' };
    expect(refusals('rm -rf ..', { environment })).toHaveLength(1);
    expect(refusals('rm -rf ../outside', { environment })).toEqual([]);
  });

  it('has an answer to whatever it is given', () => {
    const part = fc.constantFrom(
      'git',
      'push',
      'rm',
      '-rf',
      '/',
      '~',
      '..',
      '$(',
      ')',
      '"',
      "'",
      '`',
      '>',
      '<<E\n',
      ';',
      'cd',
      'sh',
      '-c',
      'eval',
      ' ',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 25 }), (parts) => {
        expect(Array.isArray(refusals(parts.join(' ')))).toBe(true);
      }),
      { numRuns: 1000 },
    );
    expect(refusals(`rm ${'a/'.repeat(40_000)}`)).toEqual([]);
    expect(refusals(`rm /etc/${'a/'.repeat(4000)}`)).toHaveLength(1);
    expect(refusals(`${'eval '.repeat(10_000)}git push`)).not.toEqual([]);
  });

  it('stands before the tool: a refused command does not run', async () => {
    scene.git('add', '-A');
    scene.git('commit', '-q', '-m', 'first');
    const bare = join(scene.outside, 'bare.git');
    execFileSync('git', ['init', '-q', '--bare', bare]);
    scene.git('remote', 'add', 'origin', bare);
    const reply = await scene.call('shell', { command: 'touch ran && git push origin main' });
    expect(reply).toMatchObject({ ok: false, reasons: [expect.stringContaining('does not push')] });
    expect(scene.git('status', '--porcelain')).toBe('');
    // Here HEAD is on a branch.
    expect(await scene.call('shell', { command: 'git reset --hard' })).toMatchObject({ ok: false });
    expect(await scene.call('shell', { command: 'git checkout main' })).toMatchObject({ ok: false });
    scene.git('checkout', '-q', '--detach');
    writeFileSync(join(scene.root, 'src/a.ts'), 'changed');
    expect(await scene.call('shell', { command: 'git reset -q --hard' })).toMatchObject({ ok: true });
    expect(scene.read('src/a.ts')).toBe('a\n');
  });
});

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
