/** What a person does with a session's branch while it runs: nothing of theirs is lost, and the session goes on. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { headRef } from '../../src/git/session-head.ts';
import { write } from '../git/fixture.ts';
import { COMPLETE, CONTINUE, makeScene, type Scene, until } from './scene.ts';

/** An agent that waits in each iteration until it is let go. */
async function gated(scene: Scene, script: string, verify: string[] = []) {
  const gate = (name: string): string => join(scene.folder, name);
  const wait = `n=$PULSE_ITERATION; touch ${gate('up')}-$n; while [ ! -e ${gate('go')}-$n ]; do sleep 0.05; done`;
  const session = await scene.start(`${wait}; ${script}`, { verify });
  const running = scene.run(session);
  return {
    session,
    running,
    up: (iteration: number) => until(() => existsSync(`${gate('up')}-${iteration}`)),
    go: (iteration: number) => writeFileSync(`${gate('go')}-${iteration}`, ''),
  };
}

const TWICE = `echo $n > n.txt; if [ $n = 2 ]; then ${COMPLETE}; else ${CONTINUE}; fi`;

describe('a person who', () => {
  it('looks at the branch is not in the way: the session goes on, and says that the branch lags', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const { session, running, up, go } = await gated(scene, TWICE);
    await up(1);
    sh(root, 'switch', '-q', session.branch_name);
    go(1);
    await up(2);
    const head = headRef(session.id);
    expect(sh(root, 'show', `${head}:n.txt`)).toBe('1');
    expect((await scene.pulse.show(session.id)).session.branch_lags_at).toBe(scene.head);
    const { data } = await scene.seen(session, 'branch.lagged');
    expect(data).toMatchObject({ branch: session.branch_name, checkedOutIn: root, ref: head });
    expect(sh(root, 'status', '--porcelain')).toBe('');
    sh(root, 'switch', '-q', 'main');
    go(2);
    expect(await running).toMatchObject({ status: 'complete', total_commits: 2, branch_lags_at: null });
    expect(sh(root, 'show', `${session.branch_name}:n.txt`)).toBe('2');
    await scene.seen(session, 'branch.followed');
    expect(scene.refs()).toEqual([]);
  });

  it('still looks at the branch when the session ends finds the work at its head', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const { session, running, up, go } = await gated(scene, `echo x > f; ${COMPLETE}`, ['test -e f']);
    await up(1);
    sh(root, 'switch', '-q', session.branch_name);
    go(1);
    expect(await running).toMatchObject({ status: 'complete', branch_lags_at: scene.head });
    expect(scene.refs()).toEqual([headRef(session.id)]);
    expect(sh(root, 'show', `${headRef(session.id)}:f`)).toBe('x');
    expect((await scene.pulse.verify(session.id)).verdict).toBe('fresh');
  });

  it('commits on the branch finds the work on top of it', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const { session, running, up, go } = await gated(scene, TWICE);
    await up(1);
    const theirs = commitOn(scene, session.branch_name, { 'theirs.txt': 't' });
    go(1);
    await up(2);
    expect(sh(root, 'rev-parse', `${session.branch_name}~1`)).toBe(theirs);
    go(2);
    expect(await running).toMatchObject({ status: 'complete', current_iteration: 2, total_commits: 2 });
    expect(sh(root, 'ls-tree', '--name-only', session.branch_name)).toBe('a.txt\nn.txt\ntheirs.txt');
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations.map(({ attempt, files_changed }) => [attempt, files_changed])).toEqual([
      [1, ['n.txt']],
      [1, ['n.txt']],
    ]);
    expect((await scene.seen(session, 'branch.adopted')).data.at).toBe(theirs);
    expect(scene.refs()).toEqual([]);
  });

  it('commits on the branch they have checked out keeps their checkout as it is', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const { session, running, up, go } = await gated(scene, TWICE);
    await up(1);
    sh(root, 'switch', '-q', session.branch_name);
    write(root, { 'theirs.txt': 't' });
    sh(root, 'add', '-A');
    sh(root, 'commit', '-q', '-m', 'theirs');
    go(1);
    await up(2);
    expect(sh(root, 'ls-tree', '--name-only', headRef(session.id))).toBe('a.txt\nn.txt\ntheirs.txt');
    expect(sh(root, 'status', '--porcelain')).toBe('');
    sh(root, 'switch', '-q', 'main');
    go(2);
    expect(await running).toMatchObject({ status: 'complete', branch_lags_at: null });
    expect(sh(root, 'log', '--format=%s', `main..${session.branch_name}`).split('\n')).toEqual([
      'pulse: iteration 2: Done.',
      'pulse: iteration 1: Step 1.',
      'theirs',
    ]);
  });

  it('commits while the work is verified has it verified again on top, without the agent', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const runs = join(scene.folder, 'runs');
    const script = `echo run >> ${runs}; echo x > f; ${COMPLETE}`;
    const seen = join(scene.folder, 'seen');
    const { session, running, up, go } = await gated(scene, script, [`ls >> ${seen}; test -e f`]);
    await up(1);
    commitOn(scene, session.branch_name, { 'theirs.txt': 't' });
    go(1);
    expect(await running).toMatchObject({ status: 'complete', total_commits: 1, current_iteration: 1 });
    expect(readFileSync(runs, 'utf8')).toBe('run\n');
    // On the base, on the claim, and on the claim on top of theirs.
    expect(readFileSync(seen, 'utf8')).toBe('a.txt\na.txt\nf\na.txt\nf\ntheirs.txt\n');
    expect(sh(root, 'ls-tree', '--name-only', session.branch_name)).toBe('a.txt\nf\ntheirs.txt');
    expect((await scene.pulse.verify(session.id)).verdict).toBe('fresh');
  });

  it('commits what conflicts has the work done again on top, and the first kept', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const { session, running, up, go } = await gated(scene, `echo mine >> a.txt; ${COMPLETE}`);
    await up(1);
    const theirs = commitOn(scene, session.branch_name, { 'a.txt': 'theirs\n' });
    go(1);
    expect(await running).toMatchObject({ status: 'complete', total_commits: 1, current_iteration: 1 });
    expect(sh(root, 'rev-parse', `${session.branch_name}~1`)).toBe(theirs);
    expect(sh(root, 'show', `${session.branch_name}:a.txt`)).toBe('theirs\nmine');
    const ref = `refs/pulse/recovery/${session.id}/1.1`;
    expect(scene.refs()).toContain(ref);
    expect(sh(root, 'show', `${ref}:a.txt`)).toBe('a\nmine');
    const [iteration] = (await scene.pulse.show(session.id)).iterations;
    expect(iteration).toMatchObject({ attempt: 2, start_sha: theirs });
    expect(iteration!.task_content).toContain(ref);
  });

  it('moves the branch elsewhere, or deletes it, keeps it as they made it', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const { session, running, up, go } = await gated(scene, TWICE);
    await up(1);
    go(1);
    await up(2);
    sh(root, 'branch', '-f', session.branch_name, 'main');
    go(2);
    expect(await running).toMatchObject({ status: 'complete', total_commits: 2 });
    expect(sh(root, 'rev-parse', session.branch_name)).toBe(scene.head);
    expect(sh(root, 'show', `${headRef(session.id)}:n.txt`)).toBe('2');
  });
});

describe('a branch', () => {
  it('belongs to one unfinished session of the project', async () => {
    const scene = await makeScene();
    const first = await scene.start(COMPLETE, { branch: 'shared' });
    await expect(scene.start(COMPLETE, { branch: 'shared' })).rejects.toMatchObject({
      code: 'branch_exists',
      message: expect.stringContaining(first.id),
    });
    await scene.pulse.abort(first.id, { actor: 'test' });
    await scene.start(COMPLETE, { branch: 'shared' });
  });
});

/** As from another checkout: the person's own stays where it is. */
function commitOn({ root, folder, sh }: Scene, branch: string, files: Record<string, string>): string {
  const checkout = join(folder, `theirs-${Object.keys(files)[0]}`);
  sh(root, 'worktree', 'add', '-q', '--detach', checkout, branch);
  write(checkout, files);
  sh(checkout, 'add', '-A');
  sh(checkout, 'commit', '-q', '-m', 'theirs');
  const made = sh(checkout, 'rev-parse', 'HEAD');
  sh(root, 'update-ref', `refs/heads/${branch}`, made);
  return made;
}
