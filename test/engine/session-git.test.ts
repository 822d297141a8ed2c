/** What agents and people do with git while a session runs, and who may run it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { COMPLETE, CONTINUE, makeScene, type Scene, until } from './scene.ts';

const IDENTITY =
  'export GIT_AUTHOR_NAME=Bot GIT_AUTHOR_EMAIL=bot@x GIT_COMMITTER_NAME=Bot GIT_COMMITTER_EMAIL=bot@x';

describe('an agent that', () => {
  it('commits itself is folded into one commit, its originals kept', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const session = await scene.startAndRun(`${IDENTITY}
      echo one > one.txt; git add -A; git commit -q -m 'my first'
      echo two > two.txt; git add -A; git commit -q -m 'my second'
      echo three > three.txt
      ${COMPLETE}`);
    expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
    expect(sh(root, 'log', '--format=%s', `main..${session.branch_name}`)).toBe('pulse: iteration 1: Done.');
    expect((await scene.pulse.show(session.id)).iterations[0]!.files_changed).toEqual([
      'one.txt',
      'three.txt',
      'two.txt',
    ]);
    const kept = `refs/pulse/agent/${session.id}/1`;
    expect(scene.refs()).toEqual([kept]);
    expect(sh(root, 'log', '--format=%s', `main..${kept}`)).toBe('my second\nmy first');
  });

  it('resets, switches and branches off still leaves exactly its files in one commit', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const session = await scene.startAndRun(`${IDENTITY}
      case $PULSE_ITERATION in
        1) echo one > one.txt; ${CONTINUE};;
        2) echo lost > lost.txt; git add -A; git commit -q -m lost; git reset -q --hard HEAD~1; echo two > two.txt; ${CONTINUE};;
        3) git checkout -q -b their-own; echo three > three.txt; git add -A; git commit -q -m mine; ${CONTINUE};;
        4) git checkout -q ${scene.head}; echo four > four.txt; ${COMPLETE};;
      esac`);
    expect(session).toMatchObject({ status: 'complete', current_iteration: 4 });
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations.map(({ files_changed }) => files_changed)).toEqual([
      ['one.txt'],
      ['two.txt'],
      ['three.txt'],
      ['four.txt', 'one.txt', 'three.txt', 'two.txt'],
    ]);
    const parents = sh(root, 'log', '--reverse', '--format=%P', `main..${session.branch_name}`).split('\n');
    expect(parents).toEqual([scene.head, ...iterations.slice(0, 3).map(({ commit_hash }) => commit_hash)]);
    expect(sh(root, 'ls-tree', '--name-only', session.branch_name)).toBe('a.txt\nfour.txt');
    expect(sh(root, 'branch', '--show-current')).toBe('main');
    expect(sh(root, 'status', '--porcelain')).toBe('');
  });

  it('changes nothing makes no commit', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(COMPLETE);
    expect(session.total_commits).toBe(0);
    expect((await scene.pulse.show(session.id)).iterations[0]).toMatchObject({
      commit_hash: null,
      files_changed: [],
    });
    expect(scene.sh(scene.root, 'rev-parse', session.branch_name)).toBe(scene.head);
  });

  it('goes round in circles is asked to think, and then stopped', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(`echo $((PULSE_ITERATION % 2)) > flip.txt; ${CONTINUE}`, {
      maxIterations: 20,
    });
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'stagnation', current_iteration: 7 });
    const { iterations } = await scene.pulse.show(session.id);
    const isDiagnostic = iterations.map(({ task_content }) => task_content.includes('# Stop and think'));
    expect(isDiagnostic).toEqual([false, false, false, false, false, true, true]);
    expect(iterations.map(({ new_tree }) => new_tree)).toEqual([1, 1, 0, 0, 0, 0, 0]);
  });

  it('leaves what its checks make out of its work', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(`echo $PULSE_ITERATION > n.txt; ls > seen.txt; ${COMPLETE}`, {
      verify: ['echo junk > report.xml; test $(cat n.txt) = 2'],
    });
    expect(session).toMatchObject({ status: 'complete', current_iteration: 2 });
    expect(scene.sh(scene.root, 'show', `${session.branch_name}:seen.txt`)).toBe('a.txt\nn.txt\nseen.txt');
    expect(scene.refs()).toEqual([]);
  });
});

describe('two processes that run the same session', () => {
  function runElsewhere(scene: Scene, id: string): ChildProcess {
    const env = { ...scene.environment };
    const child = fork(join(import.meta.dirname, 'fixtures/run.ts'), [id], { execArgv: [], env });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  }

  async function gated() {
    const scene = await makeScene();
    const go = join(scene.folder, 'go');
    const session = await scene.start(
      `echo run >> ${scene.folder}/runs; echo x >> f; touch ${go}.up; while [ ! -e ${go} ]; do sleep 0.05; done; ${COMPLETE}`,
    );
    return { scene, go, session };
  }

  it('find that only one may: the second is told, and the first goes on undisturbed', async () => {
    const { scene, go, session } = await gated();
    const first = runElsewhere(scene, session.id);
    const ended = once(first, 'message');
    const gone = once(first, 'exit');
    await until(() => existsSync(`${go}.up`));
    expect(await scene.pulse.runner(session.id)).toBe('alive');
    expect(await scene.pulse.run(session.id, new AbortController().signal)).toBe('held_elsewhere');
    expect((await scene.pulse.resume(session.id, { actor: 'test' })).next).toBe('attach');
    writeFileSync(go, '');
    expect((await ended)[0]).toEqual({ end: 'left', status: 'complete' });
    await gone;
    expect((await scene.pulse.show(session.id)).session).toMatchObject({
      total_commits: 1,
      current_iteration: 1,
    });
  });

  it('replace each other at once when the first is killed, and its agent does not survive it', async () => {
    const { scene, go, session } = await gated();
    const first = runElsewhere(scene, session.id);
    await until(() => existsSync(`${go}.up`));
    const killed = once(first, 'exit');
    first.kill('SIGKILL');
    await killed;
    expect(await scene.pulse.runner(session.id)).toBe('none');
    expect((await scene.pulse.resume(session.id, { actor: 'test' })).next).toBe('run');
    const began = performance.now();
    writeFileSync(go, '');
    const done = await scene.run(session);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(done).toMatchObject({ status: 'complete', total_commits: 1, reserved_usd: 0 });
    expect((await scene.pulse.show(session.id)).iterations).toMatchObject([
      { attempt: 2, status: 'complete' },
    ]);
    expect(scene.sh(scene.root, 'show', `${session.branch_name}:f`)).toBe('x');
  });

  it('leave what a killed one had made under the recovery ref when the session is aborted', async () => {
    const { scene, go, session } = await gated();
    const first = runElsewhere(scene, session.id);
    await until(() => existsSync(`${go}.up`));
    const killed = once(first, 'exit');
    first.kill('SIGKILL');
    await killed;
    expect((await scene.pulse.abort(session.id, { actor: 'test' })).session.status).toBe('aborted');
    expect(existsSync(session.worktree_path)).toBe(false);
    expect(scene.sh(scene.root, 'show', `refs/pulse/recovery/${session.id}/1.1:f`)).toBe('x');
  });

  it('hear of a stop from outside at once', async () => {
    const { scene, go, session } = await gated();
    const first = runElsewhere(scene, session.id);
    const ended = once(first, 'message');
    const gone = once(first, 'exit');
    await until(() => existsSync(`${go}.up`));
    await scene.pulse.pause(session.id, { actor: 'test', now: true });
    expect((await ended)[0]).toEqual({ end: 'left', status: 'paused' });
    await gone;
  });
});
