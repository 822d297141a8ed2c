/** Work in submodules that was kept beside the repository goes when nobody needs it, and not before. */
import { existsSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { collectSubmodules } from '../../src/git/gc-submodules.ts';
import { keepSubmodules } from '../../src/git/submodules.ts';
import { ensureWorktree } from '../../src/git/worktree.ts';
import { makeRepo, write } from './fixture.ts';

const FILE = ['-c', 'protocol.file.allow=always'];
const DAY_MS = 24 * 60 * 60 * 1000;

/** A repository with the submodule `lib`; `isInitialised`: the user's own checkout has it too. */
async function makeKept({ isInitialised = true } = {}) {
  const lib = makeRepo({ files: { 'lib.txt': 'l' } });
  const origin = makeRepo();
  origin.sh(origin.root, ...FILE, 'submodule', '--quiet', 'add', lib.root, 'lib');
  origin.sh(origin.root, 'commit', '-q', '-m', 'lib');
  const repo = isInitialised ? origin : makeRepo();
  const { root, sh, git, folder } = repo;
  if (!isInitialised) {
    rmSync(root, { recursive: true });
    sh(folder, 'clone', '-q', origin.root, root);
  }
  const worktree = join(folder, 'worktrees', 'ses_1');
  await ensureWorktree(git, { root, path: worktree, sha: sh(root, 'rev-parse', 'HEAD') });
  sh(worktree, ...FILE, 'submodule', '--quiet', 'update', '--init');
  /** An attempt's commit in the submodule, and the commit of the repository that names it. */
  const work = async (name: string) => {
    write(worktree, { [`lib/${name.replace('/', '-')}`]: name });
    const [kept] = await keepSubmodules(git, { root, worktree, name, identity: null, message: name });
    sh(worktree, 'add', 'lib');
    sh(worktree, 'commit', '-q', '-m', name);
    return { ...kept!, unit: sh(worktree, 'rev-parse', 'HEAD') };
  };
  const collect = (days: number) => collectSubmodules(git, { root, nowMs: Date.now() + days * DAY_MS });
  const refsIn = (repository: string) =>
    sh(repository, 'for-each-ref', '--format=%(refname)', 'refs/pulse').split('\n').filter(Boolean);
  const forget = () => sh(worktree, 'checkout', '-q', '--detach', 'HEAD~1');
  return { ...repo, worktree, work, collect, refsIn, forget };
}

describe('what was kept of submodules', () => {
  it('costs no git process where there is none', async () => {
    const { git, root, counted } = makeRepo();
    expect(await counted(() => collectSubmodules(git, { root, nowMs: Date.now() }))).toEqual([[], 0]);
  });

  it('stays for 30 days, and goes once no commit of the repository names it', async () => {
    const { work, collect, refsIn, forget, sh, root } = await makeKept();
    const { repository, ref, unit } = await work('ses_1/1.1');
    sh(root, 'branch', 'theirs', unit);
    expect(repository).toBe(join(root, '.git/modules/lib'));
    expect(await collect(365)).toEqual([]);
    expect(refsIn(repository)).toContain(ref);
    // The branch and the worktree were the last to name it.
    sh(root, 'branch', '-q', '-D', 'theirs');
    forget();
    expect(await collect(29)).toEqual([]);
    expect(await collect(31)).toEqual(['ses_1/1.1']);
    expect(refsIn(repository)).toEqual([]);
  });

  it('goes where another ref has it: a newer attempt’s, or one of the user’s', async () => {
    const { work, collect, refsIn, sh, root } = await makeKept();
    const first = await work('ses_1/1.1');
    const second = await work('ses_1/2.1');
    sh(root, 'branch', 'theirs', second.unit);
    expect(await collect(31)).toEqual(['ses_1/1.1']);
    expect(refsIn(first.repository)).toEqual([second.ref, `${second.ref}-heads/main`]);
    sh(first.repository, 'branch', 'taken', second.commit);
    expect(await collect(31)).toEqual(['ses_1/2.1']);
    expect(sh(first.repository, 'rev-parse', 'taken')).toBe(second.commit);
  });

  it('is treated in the same way where the user’s checkout of the submodule is gone', async () => {
    const { work, collect, forget, sh, root } = await makeKept();
    const { unit, repository, commit } = await work('ses_1/1.1');
    sh(root, 'branch', 'theirs', unit);
    rmSync(join(root, 'lib'), { recursive: true });
    expect(await collect(31)).toEqual([]);
    const place = ['--git-dir', repository, '--work-tree', root];
    expect(sh(root, ...place, 'for-each-ref', '--format=%(objectname)', 'refs/pulse')).toContain(commit);
    sh(root, 'branch', '-q', '-D', 'theirs');
    forget();
    expect(await collect(31)).toEqual(['ses_1/1.1']);
  });

  it('leaves no repository of Pulse’s own behind', async () => {
    const { work, collect, forget, root } = await makeKept({ isInitialised: false });
    const { repository } = await work('ses_1/1.1');
    forget();
    const folder = join(root, '.git/pulse-submodules');
    expect(repository).toBe(join(folder, 'lib/kept.git'));
    expect(await collect(0.5)).toEqual([]);
    expect(existsSync(repository)).toBe(true);
    const now = new Date();
    utimesSync(repository, now, now);
    expect(await collect(31)).toEqual(['ses_1/1.1']);
    expect(existsSync(folder)).toBe(false);
  });
});
