/** A session of any loop that is complete goes into its base, once, or not at all. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { COMPLETE, makeScene, type Scene } from '../engine/scene.ts';

const WRITES = `echo new > new.txt; ${COMPLETE}`;
const ACTOR = { actor: 'test' };

function commitOnBase({ root, sh }: Scene, file: string, text: string): string {
  writeFileSync(join(root, file), text);
  sh(root, 'add', '-A');
  sh(root, 'commit', '-q', '-m', `mine: ${file}`);
  return sh(root, 'rev-parse', 'main');
}

const events = async (scene: Scene, session: { id: string }, type: string) =>
  (await scene.events(session)).filter((event) => event.type === type).map(({ data }) => data);

describe('merging a complete session', () => {
  it('brings a clean checkout of the base forward, says so in the row, and again is no merge', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const session = await scene.startAndRun(WRITES);
    const tip = sh(root, 'rev-parse', session.branch_name);
    const { session: after, merged, said } = await pulse.merge(session.id, ACTOR);
    expect(sh(root, 'rev-parse', 'main')).toBe(tip);
    expect(sh(root, 'status', '--porcelain')).toBe('');
    expect(merged).toMatchObject({ base: 'main', sha: tip, how: 'ff', wasThere: false });
    expect(said).toBe(`main is at ${tip.slice(0, 10)} now.`);
    const row = { merged_by: 'test', merged_how: 'ff', merged_into: 'main', merged_sha: tip };
    expect(after).toMatchObject({ ...row, status: 'complete', merged_at: expect.any(String) });

    commitOnBase(scene, 'later.txt', 'later\n');
    const again = await pulse.merge(session.id, { how: 'squash', actor: 'other' });
    expect(again.said).toBe('main has it already.');
    expect(again.session).toMatchObject(row);
    const told = { base: 'main', sha: tip, how: 'ff', actor: 'test' };
    expect(await events(scene, session, 'session.merged')).toEqual([told]);
  });

  it('makes a merge commit or a squash of a base that has moved, with what was done and how far it can be trusted', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const one = await scene.startAndRun(WRITES, { goal: 'Say something new\nin a file' });
    const mine = commitOnBase(scene, 'mine.txt', 'mine\n');
    await expect(pulse.merge(one.id, ACTOR)).rejects.toMatchObject({
      code: 'merge_conflict',
      hint: expect.stringContaining(`pulse merge ${one.id} --merge merge`),
    });
    expect(sh(root, 'rev-parse', 'main')).toBe(mine);
    await pulse.merge(one.id, { how: 'merge', ...ACTOR });
    const body = sh(root, 'log', '-1', '--format=%B', 'main');
    expect(body).toContain(`Merge ${one.branch_name}: Say something new`);
    expect(body).toMatch(/- Done\.[\s\S]*Pulse says: unverified\.[\s\S]*Pulse-Session: /);

    const two = await scene.startAndRun(`echo two > two.txt; ${COMPLETE}`);
    sh(root, 'switch', '-q', '--detach');
    await pulse.merge(two.id, { how: 'squash', ...ACTOR });
    expect(sh(root, 'log', '-1', '--format=%s', 'main')).toBe('the goal');
    expect(sh(root, 'rev-list', '--count', '--parents', '-1', 'main')).toBe('1');
  });

  it('changes nothing where the checkout is dirty or the two conflict, and says what to run', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const session = await scene.startAndRun(`echo theirs > a.txt; ${COMPLETE}`);
    writeFileSync(join(root, 'a.txt'), 'half\n');
    await expect(pulse.merge(session.id, ACTOR)).rejects.toMatchObject({
      code: 'merge_conflict',
      hint: expect.stringContaining(`stash -u, then pulse merge ${session.id} --merge ff`),
    });
    const mine = commitOnBase(scene, 'a.txt', 'mine\n');
    await expect(pulse.merge(session.id, { how: 'merge', ...ACTOR })).rejects.toMatchObject({
      code: 'merge_conflict',
      message: expect.stringContaining('conflict in a.txt'),
      hint: expect.stringContaining(`git switch main && git merge ${session.branch_name}`),
    });
    expect(sh(root, 'rev-parse', 'main')).toBe(mine);
    expect(sh(root, 'status', '--porcelain')).toBe('');
    const { session: after } = await pulse.show(session.id);
    expect(after.merged_at).toBeNull();
    expect(await events(scene, session, 'session.merged')).toEqual([]);
  });

  it('of what changed nothing says so, and writes nothing', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const session = await scene.startAndRun(COMPLETE);
    expect(session).toMatchObject({ status: 'complete', nothing_changed: true });
    expect(await events(scene, session, 'session.ended')).toMatchObject([{ nothingChanged: true }]);
    const before = sh(root, 'for-each-ref');
    const { merged, said, session: after } = await pulse.merge(session.id, ACTOR);
    expect([merged, after.merged_at]).toEqual([null, null]);
    expect(said).toContain('there is nothing to merge');
    expect(sh(root, 'for-each-ref')).toBe(before);
  });

  it('also counts as nothing changed where the work was taken back, and not where something stayed', async () => {
    const scene = await makeScene();
    const back = await scene.startAndRun(
      `if [ $PULSE_ITERATION = 1 ]; then echo x > x; echo "<signal>CONTINUE</signal>"; else rm x; ${COMPLETE}; fi`,
    );
    expect(back).toMatchObject({ total_commits: 2, nothing_changed: true });
    expect(await scene.startAndRun(WRITES)).toMatchObject({ nothing_changed: false });
  });

  it('merges a commit that a person made on the branch of one that changed nothing', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const session = await scene.startAndRun(COMPLETE);
    sh(root, 'switch', '-q', session.branch_name);
    writeFileSync(join(root, 'own.txt'), 'own\n');
    sh(root, 'add', '-A');
    sh(root, 'commit', '-q', '-m', 'own');
    sh(root, 'switch', '-q', 'main');
    await pulse.merge(session.id, ACTOR);
    expect(sh(root, 'show', 'main:own.txt')).toBe('own');
  });

  it('refuses a session that is not complete, with the command that helps', async () => {
    const scene = await makeScene();
    const blocked = await scene.startAndRun('echo x > x; echo "<signal>BLOCKED: which?</signal>"');
    await expect(scene.pulse.merge(blocked.id, ACTOR)).rejects.toMatchObject({
      code: 'invalid_transition',
      message: `${blocked.id} is blocked: only what is complete is merged.`,
      hint: `pulse resume ${blocked.id} --answer "…"`,
    });
    await scene.pulse.abort(blocked.id, ACTOR);
    await expect(scene.pulse.merge(blocked.id, ACTOR)).rejects.toMatchObject({
      hint: `git merge ${blocked.branch_name} brings in what it has.`,
    });
    await expect(scene.pulse.merge('ses_none', ACTOR)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('refuses where the branch is gone, or the session began on none', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const session = await scene.startAndRun(WRITES);
    sh(root, 'branch', '-q', '-D', session.branch_name);
    await expect(pulse.merge(session.id, ACTOR)).rejects.toMatchObject({ code: 'not_found' });
    sh(root, 'switch', '-q', '--detach');
    const detached = await scene.startAndRun(WRITES);
    await expect(pulse.merge(detached.id, ACTOR)).rejects.toMatchObject({ code: 'invalid_transition' });
  });

  it('of two at once merges one, and the other recognises it', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const session = await scene.startAndRun(WRITES);
    commitOnBase(scene, 'mine.txt', 'mine\n');
    await using other = await createPulse({ environment: scene.environment });
    const how = { how: 'squash', ...ACTOR } as const;
    const both = await Promise.all([scene.pulse.merge(session.id, how), other.merge(session.id, how)]);
    expect(both.map(({ merged }) => merged?.wasThere).toSorted()).toEqual([false, true]);
    expect(sh(root, 'rev-list', '--count', 'main')).toBe('3');
    expect(await events(scene, session, 'session.merged')).toHaveLength(1);
  });

  it('waits for a runner that still removes a large worktree', async () => {
    const removed = Promise.withResolvers<void>();
    const scene = await makeScene({
      trace: (point) => (point === 'close_worktree:before' ? removed.promise : undefined),
    });
    const session = await scene.start(WRITES);
    const running = scene.run(session);
    await scene.seen(session, 'session.ended');
    const merging = scene.pulse.merge(session.id, ACTOR);
    // A person would wait so long, and it was given up before.
    await delay(11_000);
    removed.resolve();
    expect((await merging).merged).toMatchObject({ base: 'main', wasThere: false });
    await running;
  });

  it('refuses a base that a person moves while it is merged', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const session = await scene.startAndRun(WRITES);
    const mine = commitOnBase(scene, 'mine.txt', 'mine\n');
    sh(root, 'switch', '-q', '--detach', 'HEAD~1');
    let moved = '';
    await using other = await createPulse({
      environment: scene.environment,
      onGit([command]) {
        if (command !== 'merge-tree') return;
        moved = sh(root, 'commit-tree', `${mine}^{tree}`, '-p', mine, '-m', 'quicker');
        sh(root, 'update-ref', 'refs/heads/main', moved);
      },
    });
    await expect(other.merge(session.id, { how: 'merge', ...ACTOR })).rejects.toMatchObject({
      code: 'merge_conflict',
      message: 'main moved while it was being merged.',
    });
    expect(sh(root, 'rev-parse', 'main')).toBe(moved);
  });
});
