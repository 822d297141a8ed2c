/** A repository with a submodule and with LFS, through every loop: what an agent does in either is there at the end. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Git } from '../../src/git/exec.ts';
import { pushAttempt } from '../../src/git/remote.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { makeRepo } from '../git/fixture.ts';
import { idea, startResearch } from '../research-loop/lab.ts';
import { createWorkflowScene, done, plan } from '../workflow/scene.ts';

const hasLfs = spawnSync('git', ['lfs', 'version']).status === 0;

/** Its own home: filters of LFS, and submodules from folders, are the user's settings. */
function prepare(scratch: Scratch): string {
  const home = join(scratch.path, 'user');
  const env = { ...process.env, HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  mkdirSync(home);
  for (const [name, value] of Object.entries({ 'user.name': 'Ada', 'user.email': 'ada@example.org' }))
    git(home, 'config', '--global', name, value);
  git(home, 'config', '--global', 'protocol.file.allow', 'always');
  git(home, 'lfs', 'install', '--skip-repo');
  const lib = join(scratch.path, 'lib');
  git(scratch.path, 'init', '-q', '-b', 'main', lib);
  writeFileSync(join(lib, 'lib.txt'), 'lib\n');
  git(lib, 'add', '-A');
  git(lib, 'commit', '-q', '-m', 'lib');
  const root = scratch.repository;
  git(root, 'lfs', 'track', '*.bin');
  writeFileSync(join(root, 'old.bin'), 'old contents\n');
  git(root, 'submodule', '--quiet', 'add', lib, 'lib');
  git(root, 'add', '-A');
  git(root, 'commit', '-q', '-m', 'chore: a submodule and LFS');
  return home;
}

/** Changes a file of the submodule without a commit, and one that LFS stores. */
const WORK = 'echo more >> lib/lib.txt; echo new contents > new.bin; grep -q old old.bin || exit 9';

/** Both are there for whoever takes the branch over. */
function expectWhole(scratch: Scratch, home: string, branch: string): void {
  const env = { ...process.env, HOME: home };
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: scratch.repository,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  expect(git('show', `${branch}:new.bin`)).toContain('version https://git-lfs.github.com/spec/v1');
  git('switch', '-q', '-f', branch);
  git('submodule', '--quiet', 'update', '--no-fetch');
  expect(scratch.read('new.bin')).toBe('new contents\n');
  expect(scratch.read('lib/lib.txt')).toBe('lib\nmore\n');
}

describe.skipIf(!hasLfs)('a repository with a submodule and with LFS (needs git-lfs)', () => {
  async function open(): Promise<{ scratch: Scratch; home: string; pulse: Pulse }> {
    const scratch = createScratch();
    onTestFinished(() => scratch[Symbol.dispose]());
    const home = prepare(scratch);
    const pulse = await createPulse({ environment: { ...scratch.environment, HOME: home } });
    onTestFinished(() => pulse[Symbol.asyncDispose]());
    return { scratch, home, pulse };
  }

  it.for(['off', 'auto'] as const)(
    'goes through the goal loop (sandbox: %s)',
    { timeout: 60_000 },
    async (sandbox) => {
      const { scratch, home, pulse } = await open();
      const { session } = await pulse.start({
        goal: 'Go',
        path: scratch.repository,
        command: `${WORK}; echo "<signal>COMPLETE</signal>"`,
        verify: ['grep -q more lib/lib.txt', 'grep -q new new.bin'],
        sandbox,
        createdBy: 'cli',
      });
      await pulse.run(session.id, new AbortController().signal);
      const { session: ended, iterations } = await pulse.show(session.id);
      expect(ended, ended.blocked_reason ?? '').toMatchObject({
        status: 'complete',
        stop_reason: 'completed',
      });
      expect(iterations[0]!.files_changed).toEqual(['lib', 'new.bin']);
      expect(existsSync(ended.worktree_path)).toBe(false);
      const { events } = await pulse.export(session.id);
      expect(events.filter(({ type }) => type === 'submodule.kept').length).toBeGreaterThan(0);
      expectWhole(scratch, home, ended.branch_name);
    },
  );

  it('goes through the workflow', { timeout: 60_000 }, async () => {
    await using scene = await createWorkflowScene();
    const home = prepare(scene.scratch);
    scene.environment.HOME = home;
    const id = await scene.start(plan('one'), {
      scripts: { one: `${WORK}\n${done('feat: all', ['lib', 'new.bin'])}` },
    });
    const { session } = await scene.drive(id);
    expect(session.stop_reason, session.blocked_reason ?? '').toBe('approval_required');
    await scene.pulse.abort(id, { actor: 'test' });
    expectWhole(scene.scratch, home, session.branch_name);
  });

  it('goes through research', { timeout: 90_000 }, async () => {
    const { scratch, home, pulse } = await open();
    const cost = 'echo "cost: $((100 - 20 * $(wc -l < lib/lib.txt)))"; grep -q contents old.bin || exit 9';
    const env = { ...process.env, HOME: home };
    writeFileSync(join(scratch.repository, 'measure.sh'), `#!/bin/sh\n${cost}\n`, { mode: 0o755 });
    execFileSync('git', ['add', '-A'], { cwd: scratch.repository, env });
    execFileSync('git', ['commit', '-q', '-m', 'chore: measure'], { cwd: scratch.repository, env });
    const id = await startResearch(pulse, scratch, {
      content: { scope: { inScope: ['src/**', 'lib', '*.bin'] } },
      scripts: { 'exp-1': `${idea('more', 1)}\n${WORK}` },
      iterations: 1,
    });
    await pulse.run(id, new AbortController().signal);
    const { session, experiments } = await pulse.research.rows(id);
    expect(experiments.map(({ status, reason }) => [status, reason])).toEqual([['keep', expect.anything()]]);
    expectWhole(scratch, home, session.branch_name);
  });

  it('brings to a remote what pointers stand for, without hooks', async () => {
    const { scratch, home } = await open();
    const remote = join(scratch.path, 'remote.git');
    scratch.git('init', '-q', '--bare', remote);
    const commit = scratch.git('rev-parse', 'HEAD');
    const { git } = makeRepo();
    const push = { root: scratch.repository, remote, taskId: 'tsk_1', commit, since: null };
    await pushAttempt(withHome(git, home), push);
    expect(existsSync(join(remote, 'lfs/objects'))).toBe(true);
  });
});

function withHome(git: Git, home: string): Git {
  const at = (options: Parameters<Git['run']>[1]) => ({ ...options, env: { ...options.env, HOME: home } });
  return {
    ...git,
    attempt: (args, options) => git.attempt(args, at(options)),
    run: (args, options) => git.run(args, at(options)),
  };
}
