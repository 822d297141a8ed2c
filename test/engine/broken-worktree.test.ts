/** Agents that break the checkout they work in, and files that git cannot add: no session ends over them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPLETE, CONTINUE, makeScene, type Scene } from './scene.ts';

/** Does it in the first attempt only. */
function once(scene: Scene, script: string): string {
  const mark = join(scene.folder, 'done-once');
  return `echo work > work.txt; if [ ! -e ${mark} ]; then touch ${mark}; ${script}; fi; ${COMPLETE}`;
}

describe('an agent that', () => {
  it.each([
    ['deletes its .git', 'rm .git'],
    ['makes its worktree a repository of its own', 'rm .git; git init -q; git add -A'],
    ['deletes its worktree', 'rm -rf "$PWD"'],
    ['has its worktree removed by git', 'git worktree remove -f -f "$PWD"'],
  ])('%s is a crashed attempt, done again', async (_, script) => {
    const scene = await makeScene();
    const session = await scene.startAndRun(once(scene, script));
    expect(session).toMatchObject({ status: 'complete', current_iteration: 1, total_commits: 1 });
    expect((await scene.pulse.show(session.id)).iterations[0]!.attempt).toBe(2);
    expect(scene.sh(scene.root, 'show', `${session.branch_name}:work.txt`)).toBe('work');
    const retried = await scene.seen(session, 'iteration.retried');
    expect(retried.data).toMatchObject({ failureClass: 'crashed' });
    expect(retried.data.reason).toContain('broke its own checkout');
    expect(existsSync(session.worktree_path)).toBe(false);
  });

  it('takes its link away and is stopped then leaves its files to whoever looks for them', async () => {
    const scene = await makeScene();
    const up = join(scene.folder, 'up');
    const session = await scene.start(`echo work > work.txt; rm .git; touch ${up}; sleep 60`);
    const running = scene.run(session);
    await expect.poll(() => existsSync(up), { timeout: 20_000 }).toBe(true);
    await scene.pulse.pause(session.id, { actor: 'test', now: true });
    expect(await running).toMatchObject({ status: 'paused' });
    await scene.pulse.abort(session.id, { actor: 'test' });
    const [ref] = scene.refs('refs/pulse/recovery/');
    expect(scene.sh(scene.root, 'show', `${ref}:work.txt`)).toBe('work');
    expect(existsSync(session.worktree_path)).toBe(false);
  });

  it('has checks that take the link away is told that they failed, and goes on', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(`echo $PULSE_ITERATION > n.txt; ${COMPLETE}`, {
      verify: ['rm .git; test $(cat n.txt) = 2'],
    });
    expect(session).toMatchObject({ status: 'complete', current_iteration: 2, total_commits: 2 });
  });
});

describe('a file that git cannot add', () => {
  it('is named in the result and in an event, and the session goes on without it', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(
      `echo $PULSE_ITERATION > n.txt; echo x > git~1; [ $PULSE_ITERATION = 2 ] && { ${COMPLETE}; } || { ${CONTINUE}; }`,
    );
    expect(session).toMatchObject({ status: 'complete', current_iteration: 2, total_commits: 2 });
    const omitted = (await scene.events(session)).filter(({ type }) => type === 'files.omitted');
    expect(omitted.map(({ iteration, data }) => [iteration, data.paths, data.from]).slice(0, 2)).toEqual([
      [1, ['git~1'], null],
      [2, ['git~1'], null],
    ]);
    expect(scene.sh(scene.root, 'ls-tree', '--name-only', session.branch_name)).toBe('a.txt\nn.txt');
    expect(existsSync(session.worktree_path)).toBe(false);
  });

  it('holds up neither a pause nor a resume nor an abort', async () => {
    const scene = await makeScene();
    const up = join(scene.folder, 'up');
    const session = await scene.start(
      `echo x > git~1; echo work > work.txt; echo up >> ${up}; sleep 60; ${COMPLETE}`,
    );
    const starts = () => (existsSync(up) ? readFileSync(up, 'utf8').length / 3 : 0);
    const first = scene.run(session);
    await expect.poll(starts, { timeout: 20_000 }).toBe(1);
    await scene.pulse.pause(session.id, { actor: 'test', now: true });
    expect(await first).toMatchObject({ status: 'paused' });
    await scene.pulse.resume(session.id, { actor: 'test' });
    const second = scene.run(session);
    await expect.poll(starts, { timeout: 20_000 }).toBe(2);
    await scene.pulse.abort(session.id, { actor: 'test' });
    expect(await second).toMatchObject({ status: 'aborted' });
    expect(existsSync(session.worktree_path)).toBe(false);
    for (const ref of scene.refs('refs/pulse/recovery/'))
      expect(scene.sh(scene.root, 'show', `${ref}:work.txt`)).toBe('work');
    const events = (await scene.events(session)).filter(({ type }) => type === 'files.omitted');
    expect(events.map(({ data }) => data.paths)).toContainEqual(['git~1']);
  });
});
