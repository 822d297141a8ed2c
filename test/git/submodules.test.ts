/** What an agent does in submodules outlives the worktree that they are in. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitUnit } from '../../src/git/commit.ts';
import { resetWorktree } from '../../src/git/recovery.ts';
import { keepSubmodules } from '../../src/git/submodules.ts';
import { ensureWorktree, removeWorktree } from '../../src/git/worktree.ts';
import { AGENT_REF, IDENTITY, makeRepo, TRAILERS, write } from './fixture.ts';

const FILE = ['-c', 'protocol.file.allow=always'];
const NAME = 'ses_1/1.1';
const REF = `refs/pulse/submodules/${NAME}`;

/** `lib` with `lib/inner` in it; `isInitialised`: the user's own checkout has them too. */
async function makeNested({ isInitialised = true } = {}) {
  const inner = makeRepo({ files: { 'inner.txt': 'i' } });
  const lib = makeRepo({ files: { 'lib.txt': 'l' } });
  lib.sh(lib.root, ...FILE, 'submodule', '--quiet', 'add', inner.root, 'inner');
  lib.sh(lib.root, 'commit', '-q', '-m', 'inner');
  const origin = makeRepo();
  origin.sh(origin.root, ...FILE, 'submodule', '--quiet', 'add', '--name', 'the lib', lib.root, 'lib');
  origin.sh(origin.root, 'commit', '-q', '-m', 'lib');
  const repo = isInitialised ? origin : makeRepo();
  if (!isInitialised) {
    rmSync(repo.root, { recursive: true });
    repo.sh(repo.folder, 'clone', '-q', origin.root, repo.root);
  }
  const { root, sh, git, folder } = repo;
  if (isInitialised) sh(root, ...FILE, 'submodule', '--quiet', 'update', '--init', '--recursive');
  const head = sh(root, 'rev-parse', 'HEAD');
  const worktree = join(folder, 'worktrees', 'ses_1');
  await ensureWorktree(git, { root, path: worktree, sha: head });
  sh(worktree, ...FILE, 'submodule', '--quiet', 'update', '--init', '--recursive');
  const keep = (message: string | null = 'work') =>
    keepSubmodules(git, { root, worktree, name: NAME, identity: IDENTITY, message });
  return { ...repo, head, worktree, keep };
}

function commitIn(sh: (cwd: string, ...args: string[]) => string, cwd: string, file: string): string {
  write(cwd, { [file]: file });
  sh(cwd, 'add', '-A');
  sh(cwd, 'commit', '-q', '-m', `add ${file}`);
  return sh(cwd, 'rev-parse', 'HEAD');
}

describe('work in submodules', () => {
  it('costs nothing where there are none', async () => {
    const { git, root, head, folder, counted } = makeRepo();
    const worktree = join(folder, 'worktrees', 'ses_1');
    await ensureWorktree(git, { root, path: worktree, sha: head });
    const request = { root, worktree, name: NAME, identity: null, message: 'm' };
    expect(await counted(() => keepSubmodules(git, request))).toEqual([[], 0]);
  });

  it('is committed from the inside out, and kept in the user’s own copies of the submodules', async () => {
    const { git, root, head, worktree, keep, sh } = await makeNested();
    expect(await keep()).toEqual([]);
    const [libHead, innerHead] = ['lib', 'lib/inner'].map((name) =>
      sh(join(worktree, name), 'rev-parse', 'HEAD'),
    );
    write(worktree, { 'lib/inner/new.txt': 'n', 'lib/lib.txt': 'changed' });
    const kept = await keep();
    const parents = kept.map(({ repository, commit }) => sh(repository, 'rev-parse', `${commit}^@`));
    expect(parents).toEqual([innerHead, libHead]);
    expect(kept.map(({ path }) => path)).toEqual(['lib/inner', 'lib']);
    expect(kept.map(({ repository }) => repository)).toEqual([
      join(root, '.git/modules/the lib/modules/inner'),
      join(root, '.git/modules/the lib'),
    ]);
    const unit = await commitUnit(git, {
      root,
      worktree,
      startSha: head,
      subject: 's',
      trailers: TRAILERS,
      identity: IDENTITY,
      agentRef: AGENT_REF,
    });
    expect(unit.files).toEqual(['lib']);
    await removeWorktree(git, { root, path: worktree });
    expect(existsSync(worktree)).toBe(false);
    // As a person who takes the work over would.
    sh(root, 'checkout', '-q', '--detach', unit.commit!);
    sh(root, 'submodule', '--quiet', 'update', '--recursive', '--no-fetch');
    expect(sh(join(root, 'lib/inner'), 'show', 'HEAD:new.txt')).toBe('n');
    expect(sh(join(root, 'lib'), 'show', 'HEAD:lib.txt')).toBe('changed');
    expect(sh(join(root, 'lib'), 'log', '-1', '--format=%an <%ae>')).toBe('Ada <ada@example.org>');
  });

  it('is kept with its other branches, in a repository of Pulse’s own where the user has none', async () => {
    const { root, worktree, keep, sh } = await makeNested({ isInitialised: false });
    const lib = join(worktree, 'lib');
    sh(lib, 'switch', '-q', '-c', 'side');
    const side = commitIn(sh, lib, 'side.txt');
    sh(lib, 'switch', '-q', '--detach', 'HEAD~1');
    const main = commitIn(sh, lib, 'main.txt');
    const [kept] = await keep(null);
    expect(kept).toMatchObject({ path: 'lib', commit: main, ref: REF });
    expect(kept!.repository).toContain(join(root, '.git/pulse-submodules'));
    expect(sh(kept!.repository, 'rev-parse', REF, `${REF}-heads/side`)).toBe(`${main}\n${side}`);
    expect(await keep(null)).toEqual([kept]);
  });

  it('is gone from a worktree that begins anew', async () => {
    const { git, head, worktree, keep, sh } = await makeNested();
    commitIn(sh, join(worktree, 'lib/inner'), 'mine.txt');
    write(worktree, { 'lib/left.txt': 'x' });
    await keep();
    await resetWorktree(git, { worktree, sha: head });
    expect(sh(worktree, 'status', '--porcelain')).toBe('');
    expect(existsSync(join(worktree, 'lib/left.txt'))).toBe(false);
    expect(existsSync(join(worktree, 'lib/inner/mine.txt'))).toBe(false);
  });

  it('is said not to be kept where it cannot be', async () => {
    const { root, worktree, keep, sh } = await makeNested();
    commitIn(sh, join(worktree, 'lib'), 'mine.txt');
    const refs = join(root, '.git/modules/the lib/refs/pulse');
    writeFileSync(refs, 'in the way');
    await expect(keep()).rejects.toHaveProperty('code', 'git_failed');
  });
});
