import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPLETE, makeScene, type Scene } from '../engine/scene.ts';
import { write } from '../git/fixture.ts';

describe('checking a session’s evidence again', () => {
  async function completed(verify = ['test -f made.txt', 'test ! -e FLAG']) {
    const scene = await makeScene();
    const commands = verify.map((command) => command.replace('FLAG', join(scene.folder, 'flag')));
    const session = await scene.startAndRun(`echo made > made.txt; ${COMPLETE}`, { verify: commands });
    expect(session.status).toBe('complete');
    return { scene, session };
  }

  function commitOn(scene: Scene, branch: string, file: string): void {
    const { root, sh } = scene;
    sh(root, 'switch', '-q', branch);
    writeFileSync(join(root, file), 'x');
    sh(root, 'add', '-A');
    sh(root, 'commit', '-q', '-m', 'more');
    sh(root, 'switch', '-q', 'main');
  }

  it('says fresh where the tree is the same and everything passes again', async () => {
    const { scene, session } = await completed();
    const before = scene.sh(scene.root, 'status', '--porcelain', '--branch');
    const report = await scene.pulse.verify(session.id);
    expect(report).toMatchObject({
      verdict: 'fresh',
      tree: scene.sh(scene.root, 'rev-parse', `${session.branch_name}^{tree}`),
    });
    expect(report.checks.map(({ verdict }) => verdict)).toEqual(['fresh', 'fresh']);
    expect(scene.sh(scene.root, 'status', '--porcelain', '--branch')).toBe(before);
    expect(scene.sh(scene.root, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(readdirSync(join(session.worktree_path, '..'))).toEqual([]);
  });

  it('says false where the tree is the same and a check fails now', async () => {
    const { scene, session } = await completed();
    writeFileSync(join(scene.folder, 'flag'), '');
    const report = await scene.pulse.verify(session.id);
    expect(report.verdict).toBe('false');
    expect(report.checks.map(({ verdict, again }) => [verdict, again.passed])).toEqual([
      ['fresh', true],
      ['false', false],
    ]);
  });

  it('says fresh of a failure that fails again as it did, and false once it fails otherwise', async () => {
    const scene = await makeScene();
    const flag = join(scene.folder, 'flag');
    const session = await scene.startAndRun(`echo made > made.txt; ${COMPLETE}`, {
      verify: [`test -e ${flag} && exit 3; exit 9`],
      maxIterations: 3,
    });
    expect(session.status).toBe('blocked');
    const report = await scene.pulse.verify(session.id);
    expect(report).toMatchObject({ verdict: 'fresh', checks: [{ again: { passed: false, exit: 9 } }] });
    writeFileSync(flag, '');
    expect((await scene.pulse.verify(session.id)).verdict).toBe('false');
  });

  it('says stale where the branch has moved on', async () => {
    const { scene, session } = await completed();
    commitOn(scene, session.branch_name, 'later.txt');
    expect((await scene.pulse.verify(session.id)).verdict).toBe('stale');
  });

  it('stays fresh where only evidence and Pulse’s own folders were added', async () => {
    const { scene, session } = await completed();
    const { root, sh } = scene;
    sh(root, 'switch', '-q', session.branch_name);
    write(root, { 'history/1/verification/record.json': '{}', '.context/slice.json': '{}' });
    sh(root, 'add', '-A', '-f');
    sh(root, 'commit', '-q', '-m', 'evidence');
    sh(root, 'switch', '-q', 'main');
    expect((await scene.pulse.verify(session.id)).verdict).toBe('fresh');
  });

  it('says that there is nothing to check without evidence, or without the branch', async () => {
    const scene = await makeScene();
    const unverified = await scene.startAndRun(COMPLETE);
    await expect(scene.pulse.verify(unverified.id)).rejects.toMatchObject({ code: 'not_found' });
    const verified = await scene.startAndRun(COMPLETE, { verify: ['true'] });
    scene.sh(scene.root, 'branch', '-D', verified.branch_name);
    await expect(scene.pulse.verify(verified.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('gives no verdict when it is called off', async () => {
    const { scene, session } = await completed(['true', 'sleep 0.5']);
    await expect(scene.pulse.verify(session.id, { signal: AbortSignal.abort() })).rejects.toThrow();
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 250);
    await expect(scene.pulse.verify(session.id, { signal: abort.signal })).rejects.toThrow();
    expect(scene.sh(scene.root, 'worktree', 'list').split('\n')).toHaveLength(1);
  });
});
